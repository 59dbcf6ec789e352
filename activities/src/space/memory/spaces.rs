//! Spaces and their keys.
//!
//! **Invariant:** a key is told once, when it is made; what is kept of it is its SHA-256. It is looked up by the first bytes of
//! that, and the whole is compared in constant time, whether or not there is a key to compare it with.

use dream_core::failure::{Code, Failure};
use dream_core::id::{NamespaceId, hex};
use dream_core::realm::space::fact::DreamMode;
use dream_core::realm::space::zone::Zone;
use dream_ports::Store;
use dream_ports::space::{KeyHash, KeyId, NewSpace, SpacePatch, SpaceRecord};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use super::{NAME_CHARACTERS_MAX, invalid, line};
use crate::failure::{ResultExt, defect};

/// What every key begins with, so that it is recognised where it does not belong.
const KEY_PREFIX: &str = "dream_";

/// Bytes of chance in a key.
const KEY_BYTES: usize = 32;

/// Bytes of the hash of a key under which it is found.
const KEY_ID_BYTES: usize = size_of::<KeyId>();

/// A space that was made, with its key. The key is told here and never again.
#[derive(Clone, Serialize)]
pub struct Created {
    /// The space.
    #[serde(flatten)]
    pub space: SpaceRecord,
    /// Its key.
    pub key: String,
}

impl std::fmt::Debug for Created {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Created").field("space", &self.space.id).finish_non_exhaustive()
    }
}

fn key_hash(key: &str) -> KeyHash {
    Sha256::digest(key.trim().as_bytes()).into()
}

fn new_key() -> Result<String, Failure> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(|_| Failure::new(Code::Defect, "the system has no chance to give"))?;
    Ok(format!("{KEY_PREFIX}{}", hex(&bytes)))
}

fn zone_of(name: &str) -> Result<String, Failure> {
    Zone::named(name.trim()).map_err(|_| invalid("time_zone", "a name of the IANA database, as Europe/Vienna"))?;
    Ok(name.trim().to_owned())
}

/// Makes a space.
pub async fn create_space(store: &dyn Store, name: &str, zone: &str, mode: DreamMode) -> Result<Created, Failure> {
    let key = new_key()?;
    let space = NewSpace {
        id: NamespaceId(Uuid::now_v7()),
        name: line("name", name, NAME_CHARACTERS_MAX)?,
        zone: zone_of(zone)?,
        mode,
        key_hash: key_hash(&key),
    };
    store.create_space(&space).await.or_fail()?;
    Ok(Created { space: store.space(space.id).await.or_fail()?, key })
}

/// Changes what a space is called, where it is, or whose model consolidates it.
pub async fn change_space(store: &dyn Store, space: NamespaceId, patch: SpacePatch) -> Result<SpaceRecord, Failure> {
    let patch = SpacePatch {
        name: patch.name.map(|name| line("name", &name, NAME_CHARACTERS_MAX)).transpose()?,
        zone: patch.zone.map(|zone| zone_of(&zone)).transpose()?,
        mode: patch.mode,
    };
    store.change_space(space, &patch).await.or_fail()?;
    store.space(space).await.or_fail()
}

/// Gives a space another key, and tells it.
pub async fn add_key(store: &dyn Store, space: NamespaceId) -> Result<String, Failure> {
    let key = new_key()?;
    store.space(space).await.or_fail()?;
    store.add_space_key(space, &key_hash(&key)).await.or_fail()?;
    Ok(key)
}

/// The space that a key opens, if it opens one.
pub async fn space_of_key(store: &dyn Store, key: &str) -> Result<Option<NamespaceId>, Failure> {
    let hash = key_hash(key);
    let id = KeyId::try_from(&hash[..KEY_ID_BYTES]).map_err(|_| defect("the id of a key"))?;
    let mut found = store.keys_under(id).await.or_fail()?;
    let is_known = !found.is_empty();
    if !is_known {
        // Who has no key is answered as slowly as who has one.
        found.push(([0; 32], NamespaceId(Uuid::nil())));
    }
    let mut space = None;
    for (kept, of) in found {
        if bool::from(kept.ct_eq(&hash)) && is_known {
            space = Some(of);
        }
    }
    Ok(space)
}
