//! As much of the wire format as a fake server needs: messages in chunks, and the values in them.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A value in a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
    /// A time or a place, which the fake never looks into.
    Structure(u8, Vec<Value>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Value {
    pub(crate) fn map<const N: usize>(fields: [(&str, Value); N]) -> Self {
        Self::Map(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    pub(crate) fn texts(texts: &[&str]) -> Self {
        Self::List(texts.iter().map(|text| (*text).into()).collect())
    }

    /// What a map has under a name.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        let Self::Map(fields) = self else { return None };
        fields.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }
}

/// Reads a message: its tag and its fields. None where the client hung up.
pub(crate) async fn read(stream: &mut TcpStream) -> Option<(u8, Vec<Value>)> {
    let mut bytes = Vec::new();
    loop {
        let size = usize::from(stream.read_u16().await.ok()?);
        if size == 0 && !bytes.is_empty() {
            break;
        }
        let from = bytes.len();
        bytes.resize(from + size, 0);
        stream.read_exact(&mut bytes[from..]).await.ok()?;
    }
    match (Reader { bytes: &bytes }).value() {
        Value::Structure(tag, fields) => Some((tag, fields)),
        other => panic!("a message is a structure, not {other:?}"),
    }
}

/// Writes a message of one field.
pub(crate) async fn write(stream: &mut TcpStream, tag: u8, field: &Value) {
    let mut bytes = vec![0xB1, tag];
    put(&mut bytes, field);
    let mut message = Vec::new();
    for chunk in bytes.chunks(usize::from(u16::MAX)) {
        message.extend(u16::try_from(chunk.len()).unwrap().to_be_bytes());
        message.extend(chunk);
    }
    message.extend([0, 0]);
    // A client that hung up shows at the next read.
    let _ = stream.write_all(&message).await;
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.bytes.split_first_chunk().expect("a whole message");
        self.bytes = rest;
        *taken
    }

    fn size(&mut self, bytes: u8) -> usize {
        match bytes {
            0 => usize::from(u8::from_be_bytes(self.take())),
            1 => usize::from(u16::from_be_bytes(self.take())),
            _ => usize::try_from(u32::from_be_bytes(self.take())).unwrap(),
        }
    }

    fn value(&mut self) -> Value {
        let [marker] = self.take();
        let low = usize::from(marker & 0x0F);
        match marker {
            0xC0 => Value::Null,
            0xC1 => Value::Float(f64::from_be_bytes(self.take())),
            0xC2 | 0xC3 => Value::Bool(marker == 0xC3),
            0xC8 => Value::Int(i8::from_be_bytes(self.take()).into()),
            0xC9 => Value::Int(i16::from_be_bytes(self.take()).into()),
            0xCA => Value::Int(i32::from_be_bytes(self.take()).into()),
            0xCB => Value::Int(i64::from_be_bytes(self.take())),
            0x80..=0x8F => self.text(low),
            0xD0..=0xD2 => {
                let size = self.size(marker - 0xD0);
                self.text(size)
            }
            0x90..=0x9F => self.list(low),
            0xD4..=0xD6 => {
                let size = self.size(marker - 0xD4);
                self.list(size)
            }
            0xA0..=0xAF => self.map(low),
            0xD8..=0xDA => {
                let size = self.size(marker - 0xD8);
                self.map(size)
            }
            0xB0..=0xBF => {
                let [tag] = self.take();
                Value::Structure(tag, (0..low).map(|_| self.value()).collect())
            }
            0x00..=0x7F | 0xF0..=0xFF => Value::Int(i64::from(marker.cast_signed())),
            other => panic!("the fake knows no marker {other:#x}"),
        }
    }

    fn text(&mut self, size: usize) -> Value {
        let (text, rest) = self.bytes.split_at(size);
        self.bytes = rest;
        Value::Text(String::from_utf8(text.to_vec()).unwrap())
    }

    fn list(&mut self, size: usize) -> Value {
        Value::List((0..size).map(|_| self.value()).collect())
    }

    fn map(&mut self, size: usize) -> Value {
        let field = |_| match self.value() {
            Value::Text(name) => (name, self.value()),
            other => panic!("a name is a text, not {other:?}"),
        };
        Value::Map((0..size).map(field).collect())
    }
}

fn put(bytes: &mut Vec<u8>, value: &Value) {
    let size = |bytes: &mut Vec<u8>, marker: u8, size: usize| {
        bytes.push(marker);
        bytes.extend(u16::try_from(size).expect("the fake says little").to_be_bytes());
    };
    match value {
        Value::Null => bytes.push(0xC0),
        Value::Bool(truth) => bytes.push(0xC2 + u8::from(*truth)),
        Value::Int(number) => {
            bytes.push(0xCB);
            bytes.extend(number.to_be_bytes());
        }
        Value::Float(number) => {
            bytes.push(0xC1);
            bytes.extend(number.to_be_bytes());
        }
        Value::Text(text) => {
            size(bytes, 0xD1, text.len());
            bytes.extend(text.as_bytes());
        }
        Value::List(items) => {
            size(bytes, 0xD5, items.len());
            items.iter().for_each(|item| put(bytes, item));
        }
        Value::Map(fields) => {
            size(bytes, 0xD9, fields.len());
            for (name, value) in fields {
                put(bytes, &name.as_str().into());
                put(bytes, value);
            }
        }
        Value::Structure(..) => panic!("the fake answers no structures"),
    }
}
