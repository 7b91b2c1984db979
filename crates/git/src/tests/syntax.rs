//! Configuration files are read as git reads them, whatever stands in them.

use proptest::prelude::*;

use super::support::World;
use crate::config::{ConfigEntry, parse, render};

/// What git makes of a file: its entries, as it prints them with NULs.
fn as_git_reads_it(world: &World, bytes: &[u8]) -> Option<Vec<(String, Option<Vec<u8>>)>> {
    world.write("file", bytes);
    let output = std::process::Command::new("git")
        .args(["config", "--file"])
        .arg(world.path("file"))
        .args(["--list", "--null", "--no-includes"])
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", world.path("home"))
        .output()
        .unwrap();
    output.status.success().then(|| {
        let entries = output.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        entries
            .map(|entry| match entry.iter().position(|byte| *byte == b'\n') {
                Some(at) => {
                    (String::from_utf8_lossy(&entry[..at]).into_owned(), Some(entry[at + 1..].to_vec()))
                }
                None => (String::from_utf8_lossy(entry).into_owned(), None),
            })
            .collect()
    })
}

fn ours(entries: &[ConfigEntry]) -> Vec<(String, Option<Vec<u8>>)> {
    entries.iter().map(|entry| (entry.key(), entry.value.clone())).collect()
}

fn check(world: &World, bytes: &[u8]) {
    let parsed = parse(bytes);
    match as_git_reads_it(world, bytes) {
        Some(entries) => {
            let parsed =
                parsed.unwrap_or_else(|line| panic!("line {line} of {}", String::from_utf8_lossy(bytes)));
            assert_eq!(ours(&parsed), entries, "{}", String::from_utf8_lossy(bytes));
            // What is written is read alike, by us and by git.
            let written = render(&parsed);
            let in_sections = |key: &str| key.contains('.');
            let entries: Vec<_> = entries.into_iter().filter(|(key, _)| in_sections(key)).collect();
            assert_eq!(
                parse(&written).map(|again| ours(&again)).as_ref(),
                Ok(&entries),
                "{}",
                String::from_utf8_lossy(&written)
            );
            assert_eq!(
                as_git_reads_it(world, &written),
                Some(entries),
                "{}",
                String::from_utf8_lossy(&written)
            );
        }
        None => assert!(parsed.is_err(), "git refuses {:?}: {parsed:?}", String::from_utf8_lossy(bytes)),
    }
}

#[test]
fn odd_files_are_read_as_git_reads_them() {
    let world = World::new();
    for text in [
        "",
        "[a]b=c",
        "[a]\n\tb",
        "[a]\nb = c d  # e\n; f\n",
        "[a \"b\"]\nc = \"d # e\" ; f\n",
        "[a.b]\nc=d\n[a.B \"x.y\"]\nC=D\n",
        "[A \"b\\\"c\\\\d\"]\nE=f\n",
        "[a]\nb = c\\\nd\n",
        "[a]\nb = \\t\\b\\n\\\\\\\"\n",
        "[a]\nb = c\\\n",
        "[a]\nb = c\\",
        "[a]\r\nb = c\r\n",
        "[a]\nb = \"c\r\"\n",
        "[a]\nb = c\rd\n",
        "[a]\nb =   \n",
        "[a]\nb = \"\" \"x\"  \n",
        "\u{feff}[a]\nb=c\n",
        "b = c\n",
        "[a]\n1b = c\n",
        "[a]\nb = \"c\n",
        "[a]\nb = \\x\n",
        "[a\n]b=c\n",
        "[a \"b]\nc=d\n",
        "[a \"b\"x]\nc=d\n",
        "[a b]\nc=d\n",
        "[]\nb=c\n",
        "[a]b=c[d]e=f\n",
        "[a] b = c\n[d] ; x\ne\n",
        "[a \"\"]\nb=c\n",
        "[a]\nb\u{b}= c\n",
        "[a]\nb = \u{b}c\u{c}\n",
        "[a]\n\tb-1 = c\n",
        "[a-1.b-2]\n\tc=d\n",
        "#",
        "[a]\n#\n;\n",
    ] {
        check(&world, text.as_bytes());
    }
    check(&world, b"[a \"\xff\"]\nb = \xfe\n");
    assert!(parse(b"[a]\nb = c\0d\n").is_err(), "git would end the value there");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_file_is_read_as_git_reads_it(parts in prop::collection::vec(
        prop::sample::select(vec!["[a]", "[a \"b\"]", "[a.b]", "\n", "\r\n", "\r", "c", " = ", "=", "\"", "\\", "\\\n", "\\n", "\\\"", "#", ";", " ", "\t", "x y", "d-1", "[", "]", ".", "é"]),
        0..14,
    )) {
        let world = World::new();
        check(&world, parts.concat().as_bytes());
    }
}
