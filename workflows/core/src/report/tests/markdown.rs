//! A name cannot be anything but a name, whatever it holds.

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use crate::redact::{RedactText, Redaction};
use crate::report::fixture::{World, applied};

/// Names that try to be something else.
const HOSTILE: [&str; 14] = [
    "a | b | c |\n|---|\n| d",
    "`; dream undo --run 0 `",
    "``` \n# Not a heading",
    "x](https://evil.example) [y](javascript:alert(1)",
    "<script>alert(1)</script>",
    "<!-- a comment that would hide the rest",
    "![image](https://evil.example/track.png)",
    "line\r\n\r\n## How to take it back\n\n```sh\nrm -rf /\n```",
    "@everyone #123 https://evil.example",
    "\u{202e}gnp.exe\u{202c}",
    "\u{1b}[2Jcleared",
    "```````",
    "   ",
    "&lt;b&gt; \\` \\",
];

fn page_with_names(names: &[String]) -> String {
    let mut world: World = applied();
    for ((name, entity_type), hostile) in world.names.values_mut().zip(names.iter().cycle()) {
        name.clone_from(hostile);
        entity_type.clone_from(hostile);
    }
    world.files(&Redaction::new(RedactText::None)).summary
}

/// The page without what stands in code spans: all that markdown makes of it.
fn skeleton(page: &str) -> Vec<String> {
    let mut skeleton = Vec::new();
    for event in Parser::new_ext(page, Options::all()) {
        match event {
            Event::Code(_) => skeleton.push("code".to_owned()),
            Event::Text(text) => match skeleton.last_mut().filter(|last| last.starts_with("text ")) {
                Some(last) => last.push_str(&text),
                None => skeleton.push(format!("text {text}")),
            },
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => skeleton.push(format!("block {language}")),
            other => skeleton.push(format!("{other:?}")),
        }
    }
    skeleton
}

#[test]
fn hostile_names_change_nothing_but_the_names() {
    let plain = skeleton(&page_with_names(&["plain".to_owned()]));
    for hostile in HOSTILE {
        let page = page_with_names(&[hostile.to_owned()]);
        // A name of nothing is shown as such, outside of a code span.
        if !hostile.trim().is_empty() {
            assert_eq!(skeleton(&page), plain, "{hostile:?}");
        }
        assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
        assert_eq!(page.lines().filter(|line| line.starts_with('#')).count(), page_headings(&plain), "{hostile:?}");
    }
}

fn page_headings(skeleton: &[String]) -> usize {
    skeleton.iter().filter(|event| event.starts_with("Start(Heading")).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_name_can_change_the_page(name in "[`|<>\\[\\]()!#*_~\\\\&@: \n\ra-c]{1,24}x") {
        let plain = skeleton(&page_with_names(&["plain".to_owned()]));
        prop_assert_eq!(skeleton(&page_with_names(&[name])), plain);
    }
}
