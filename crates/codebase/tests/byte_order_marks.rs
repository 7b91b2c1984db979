//! A byte order mark at the start of a file is no part of its text.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use tamis_codebase::{Policy, RootedPath, Roots, StopSignal, scan};

#[test]
fn a_byte_order_mark_is_not_read() {
    for (written, read) in [
        ("\u{feff}class A:\n", "class A:\n"),
        ("\u{feff}", ""),
        ("class A:\n", "class A:\n"),
        ("a\u{feff}b\n", "a\u{feff}b\n"),
        ("\u{feff}\u{feff}a", "\u{feff}a"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.py"), written).unwrap();
        let roots = Roots::open(&[folder.path().to_owned()], Policy::standard()).unwrap();
        let place = RootedPath { root: 0, path: "a.py".to_owned() };
        assert_eq!(roots.read_text(&place, 1000).unwrap(), read);
        let texts = scan(&roots, &StopSignal::never(), Vec::new, |texts: &mut Vec<String>, _, bytes| {
            texts.push(String::from_utf8_lossy(bytes).into_owned());
        });
        assert_eq!(texts.unwrap().concat().concat(), read);
    }
}
