//! What goes to stdout and stderr: errors, control characters, closed pipes, limits on input.

use super::common::{Fixture, finish};

#[test]
fn errors_say_what_happened_why_and_what_to_do() {
    let fixture = Fixture::new();
    let said = |arguments: &[&str], code: i32| {
        let ran = fixture.run(arguments, b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments:?} said {}", ran.stderr);
        ran.stderr
    };
    assert_eq!(
        said(&["recover", "prn_none", "1-2"], 1),
        "error: no original is stored for `prn_none`: the id is unknown or has expired\n\n\
         hint: read the source again, or prune it again for a new id\n"
    );
    assert_eq!(
        said(&["prune", "--goal", "x", "nothing.txt"], 1),
        "error: cannot read `nothing.txt`\n  because: No such file or directory (os error 2)\n\n\
         hint: `ls '.'` lists the files there\n"
    );
    assert_eq!(
        said(&["call", "nothing"], 2),
        "error: Unknown tool: nothing (-32602)\n\nhint: `tamis tools` lists the tools\n"
    );
    assert_eq!(
        said(&["mcp", "--tools", "prune,none"], 2),
        "error: unknown tool or toolset `none`\n\n\
         hint: the toolsets are: default, prune, workbench, trace, research, agents, all; `tamis tools` lists the tools\n"
    );
    assert_eq!(
        said(&["recover", "-"], 2),
        "error: nothing was pasted: no prune id and no marker\n\n\
         hint: pipe a pruned text or a marker to `tamis recover -`\n"
    );
    assert!(said(&["call", "health", "{"], 2).starts_with("error: invalid JSON input: "));
    assert!(said(&["prune", "--goal", "x", "--threshold", "2"], 2).contains("a number from 0 to 1"));
    assert!(said(&["recover", "prn_none", "x-y"], 2).contains("120-154"));
    assert!(said(&["prune"], 2).contains("--goal"));
    assert!(said(&["data", "purge"], 2).contains("hint: add `--yes` to erase; cuts"));
    assert!(said(&["data", "purge", "--research"], 2).contains("hint: add `--yes` to erase; indexes"));
    assert!(said(&["data", "purge", "--older-than", "soon"], 2).contains("12h or 7d"));
}

#[test]
fn names_of_files_cannot_control_the_terminal() {
    let fixture = Fixture::new();
    let odd = fixture.work().join("\u{1b}]0;title\u{7}\u{202e}");
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join(".tamis.toml"), "[research]\nroots = [\".\"]\ndeny = [\"x\"]\n[no]\nsuch = 1\n")
        .unwrap();
    for arguments in [
        &["config", "--explain"][..],
        &["config"],
        &["config", "--json"],
        &["config", "get", "research.roots"],
    ] {
        let ran = finish(fixture.tamis(arguments).current_dir(&odd), b"");
        let shown = ran.stdout + &ran.stderr;
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{arguments:?}: {shown:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let fixture = Fixture::new();
    let path = fixture.work().join("long.txt");
    std::fs::write(&path, "a line of text\n".repeat(100_000)).unwrap();
    let mut child = fixture
        .tamis(&["prune", "--goal", "x", "--threshold", "0", "long.txt"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr)), (Some(0), "".into()));
}

#[test]
fn commands_that_need_their_input_as_a_whole_limit_it() {
    let fixture = Fixture::new();
    let large = vec![b' '; (64 << 20) + 1];
    for arguments in [
        &["call", "prune_text", "-"][..],
        &["run", "--provider", "claude"],
        &["prune", "--json", "--goal", "x"],
    ] {
        let ran = fixture.run(arguments, &large);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("64 MiB"), "{arguments:?}: {}", ran.stderr);
    }
}
