//! Whatever the files contain, every reference exists.

use proptest::prelude::*;

use super::{ask, repository};
use crate::{ResearchLimits, Role};

/// Pieces that files are put together from, so that something is found in what is otherwise noise.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(b"def load_users(a):\n    return parse_all(a)\n".to_vec()),
        Just(b"class Users(Base):\r\n    def load_users(self):\r\n".to_vec()),
        Just(b"fn load_users() {\n    Users::new(".to_vec()),
        Just(b"load_users(".to_vec()),
        Just(b"@load_users\n".to_vec()),
        Just(b"\"\"\"".to_vec()),
        Just(b"/* ".to_vec()),
        Just(b"# Users load\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(vec![b'x'; 5000]),
        proptest::collection::vec(any::<u8>(), 0..40),
        "[ -~\n\t\u{e9}]{0,60}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Whatever files contain: nothing panics, and every reference is a file that has that line.
    #[test]
    fn every_reference_exists(
        contents in proptest::collection::vec(proptest::collection::vec(piece(), 0..8), 1..5),
        question in prop_oneof![
            Just("how does load_users work in Users.load_users?".to_owned()),
            Just("examples of loading users".to_owned()),
            "\\PC{0,40}",
        ],
    ) {
        let names = ["a.py", "src/b.rs", "n.md", "tests/c", "d.rb"];
        let contents: Vec<Vec<u8>> = contents.into_iter().map(|pieces| pieces.concat()).collect();
        let files: Vec<(&str, &[u8])> = names.iter().copied().zip(contents.iter().map(Vec::as_slice)).collect();
        let folder = repository(&files);
        let best: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        for role in [Role::Analyzer, Role::Patterns, Role::Thoughts] {
            let finding = ask(role, folder.path(), &question, &best, ResearchLimits::SAMPLE);
            let again = ask(role, folder.path(), &question, &best, ResearchLimits::SAMPLE);
            prop_assert_eq!(&finding, &again);
            prop_assert!(finding.references.len() <= 12 && finding.key_findings.len() <= 8);
            for reference in &finding.references {
                let (path, line) = reference.split();
                let content = std::fs::read(folder.path().join(path)).unwrap();
                let lines = content.split(|&byte| byte == b'\n').count();
                prop_assert!(line.is_none_or(|line| line <= lines), "{} in {:?}", reference, content);
            }
        }
    }
}
