//! What is in no file, what only seems to be, and what is said about either.

use serde_json::Value;
use tamis_codebase::StopSignal;
use tamis_research::{ResearchRequest, Role};

use crate::fixture::{Fixture, asking, texts};

fn ask(fixture: &Fixture, question: &str, role: Role) -> Value {
    let request = ResearchRequest { role: Some(role), ..asking(question) };
    let report = fixture.researcher().research(&request, &StopSignal::never(), &|_| ()).unwrap();
    serde_json::to_value(&report).unwrap()[role.key()]["value"].clone()
}

#[test]
fn a_byte_order_mark_hides_no_word() {
    let fixture = Fixture::new();
    for (path, text) in [
        ("settings.ini", "\u{feff}retry_limit=3\r\n"),
        ("src/widget.py", "\u{feff}class PyWidget:\n    pass\n"),
        ("widget.sh", "\u{feff}sh_widget() {\n  echo 1\n}\n"),
        ("src/widget.ts", "\u{feff}export class TsWidget {}\n"),
        ("widget.md", "\u{feff}# MdWidget\n"),
    ] {
        fixture.write(path, text);
    }
    for (word, place) in [
        ("retry_limit", "settings.ini"),
        ("PyWidget", "src/widget.py"),
        ("sh_widget", "widget.sh"),
        ("TsWidget", "src/widget.ts"),
        ("MdWidget", "widget.md"),
    ] {
        let found = ask(&fixture, word, Role::Locator);
        assert!(texts(&found["references"])[0].starts_with(place), "{found}");
        assert!(!found["notes"].to_string().contains("Not in any file"), "{found}");
    }
    for word in ["PyWidget", "sh_widget", "TsWidget"] {
        let found = ask(&fixture, word, Role::Analyzer);
        assert!(!found["summary"].as_str().unwrap().contains("not found"), "{found}");
    }
}

#[test]
fn each_role_names_the_word_that_it_did_not_find_and_the_files_that_it_did_not_search() {
    let fixture = Fixture::new();
    fixture.write("data.bin", "\0\0\0zqxwv");
    for word in ["zqxwv", "what is zqxwv", "`zqxwv`", "ZqxWv", "zqxwv qvzzj"] {
        for role in [Role::Locator, Role::Patterns, Role::Analyzer] {
            let found = ask(&fixture, word, role);
            let said = format!("{} {}", found["summary"], found["notes"]).to_lowercase();
            assert!(said.contains("zqxwv"), "{word} {role:?}: {found}");
            assert!(said.contains("data.bin (binary)"), "{word} {role:?}: {found}");
            assert!(said.contains("not found"), "{word} {role:?}: {found}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn files_whose_names_are_not_utf_8_are_named_where_nothing_is_found() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let fixture = Fixture::new();
    let name = OsStr::from_bytes(b"caf\xe9.py");
    std::fs::write(fixture.code().join(name), "def zqxwv(): pass\n").unwrap();
    std::fs::create_dir(fixture.code().join(OsStr::from_bytes(b"d\xe9p\xf4t"))).unwrap();
    for role in [Role::Locator, Role::Patterns, Role::Analyzer] {
        let found = ask(&fixture, "zqxwv", role);
        let notes = found["notes"].as_str().unwrap();
        assert!(notes.contains("caf\u{fffd}.py (name is not UTF-8)"), "{role:?}: {notes}");
        assert!(notes.contains("d\u{fffd}p\u{fffd}t/ (name is not UTF-8)"), "{role:?}: {notes}");
    }
}

#[test]
fn there_are_two_examples_where_there_are_two_places() {
    for (paths, references) in [(&["a.py"][..], 1), (&["a.py", "b.py"], 2), (&["a.py", "tests/test_a.py"], 2)]
    {
        let fixture = Fixture::new();
        for path in paths {
            fixture.write(path, "import app\n\n\n@app.before_zqxwv\ndef load():\n    return 1\n");
        }
        let found = ask(&fixture, "before_zqxwv", Role::Patterns);
        assert_eq!(texts(&found["references"]).len(), references, "{found}");
        let notes = found["notes"].as_str().unwrap_or_default();
        assert_eq!(notes.contains("Only one example was found."), references == 1, "{found}");
    }
    let fixture = Fixture::new();
    let calls: String = (0..8).map(|n| format!("def f{n}():\n    x = 1\n    run_zqxwv(x)\n\n\n")).collect();
    fixture.write("a.py", &calls);
    let found = ask(&fixture, "run_zqxwv", Role::Patterns);
    assert_eq!(texts(&found["references"]).len(), 2, "{found}");
    assert!(found["key_findings"][0].as_str().unwrap().contains("and 6 more like it"), "{found}");
}
