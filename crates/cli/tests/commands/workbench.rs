//! `read`, `grep` and `bash`.

use std::process::{Command, Stdio};

use serde_json::json;

use super::common::{FAMILY, Fixture, all_end, family, finish, module, prune_id};

/// Agents get the errors of `read` as the contract spells them; people get ours.
#[test]
fn errors_of_read_are_in_our_own_words() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.work().join("folder")).unwrap();
    std::fs::write(fixture.work().join("folder/huge"), "").unwrap();
    std::fs::File::create(fixture.work().join("huge")).unwrap().set_len(1 << 40).unwrap();
    for (path, error) in [
        (
            "flder/hug",
            "error: cannot read `flder/hug`\n  because: No such file or directory (os error 2)\n\nhint: did you mean `folder/huge`?\n",
        ),
        (
            "missing",
            "error: cannot read `missing`\n  because: No such file or directory (os error 2)\n\nhint: `ls '.'` lists the files there\n",
        ),
        (
            "folder",
            "error: cannot read `folder`\n  because: Is a directory (os error 21)\n\nhint: `tamis grep PATTERN folder` searches its files\n",
        ),
        (
            "/dev/zero",
            "error: cannot read `/dev/zero`\n  because: it is a character device, not a file\n\nhint: `ls -ld /dev/zero` shows what is there\n",
        ),
        (
            "huge",
            "error: cannot read `huge`: it is larger than 64.0 MiB\n\nhint: `tamis bash -- head -c 1M huge` reads a part of it\n",
        ),
    ] {
        let ran = fixture.run(&["read", path], b"");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), error));
    }
    let answer = fixture.run(&["call", "read", r#"{"file_path": "missing"}"#], b"");
    assert!(
        answer.stdout.starts_with("Error reading file: ENOENT: no such file or directory, open '"),
        "{}",
        answer.stdout
    );
}

#[test]
fn read_grep_and_bash_answer_a_question() {
    let fixture = Fixture::new();
    std::fs::write(fixture.work().join("module.py"), module()).unwrap();
    std::fs::write(fixture.work().join("odd.bin"), b"caf\xe9").unwrap();
    std::fs::write(fixture.work().join("odd"), "one\ntwo\n").unwrap();
    std::fs::write(fixture.work().join("odd:2"), "a file of this name\n").unwrap();
    std::fs::write(fixture.work().join("lines.txt"), "one\ntwo\nthree\n").unwrap();
    let question = ["-q", "how does cache_17 fill the cache"];
    for (command, needed) in [
        (&["read", "module.py"][..], "cache_step_17_3"),
        (&["grep", "value", "."], "def cache_17"),
        (&["bash", "--", "cat module.py; exit 3"], "cache_step_17_3"),
    ] {
        let whole = fixture.run(command, b"");
        let pruned = fixture.run(&[&command[..1], &question, &command[1..]].concat(), b"");
        assert_eq!(pruned.code, whole.code, "{command:?}: {}", pruned.stderr);
        assert!(pruned.stdout.len() < whole.stdout.len() / 2, "{command:?}");
        assert!(pruned.stdout.contains(needed) && pruned.stdout.contains("[tamis cut "), "{command:?}");
        assert!(pruned.stderr.starts_with("kept "), "{}", pruned.stderr);
        // Cuts can be recovered.
        let id = prune_id(&pruned.stdout);
        let recovered = fixture.run(&["recover", id], b"").stdout;
        assert!(recovered.starts_with(&whole.stdout), "{command:?}");
    }
    assert_eq!(fixture.run(&["read", "module.py"], b"").stdout, module());
    assert_eq!(fixture.tamis(&["read", "odd.bin"]).output().unwrap().stdout, b"caf\xe9");
    let odd = fixture.tamis(&["read", "odd.bin", "-q", "x"]).output().unwrap();
    assert_eq!(odd.stdout, b"caf\xe9", "better whole than wrong");
    for command in
        [&["bash", "-q", "x", "--", "cat odd.bin"][..], &["grep", "-q", "x", "--", "caf", "odd.txt"]]
    {
        std::fs::write(fixture.work().join("odd.txt"), b"caf\xe9 au lait\n").unwrap();
        let kept = fixture.tamis(command).env("LC_ALL", "C").output().unwrap();
        let said = String::from_utf8_lossy(&kept.stderr).into_owned();
        assert!(kept.stdout.windows(4).any(|bytes| bytes == b"caf\xe9"), "{command:?}: {said}");
        assert!(said.contains("not UTF-8"), "{command:?}: {said}");
    }
    // They end as what they run does.
    for (command, code, stdout) in [
        (&["bash", "--", "exit 7"][..], 7, ""),
        (&["bash", "-q", "x", "--", "exit 7"], 7, "\n[exit code: 7]\n"),
        (&["bash", "-q", "x", "--", "kill -9 $$"], 137, "\n[ended by signal 9]\n"),
        (&["bash", "-q", "x", "true"], 0, ""),
        (&["bash", "echo", "two", "words"], 0, "two words\n"),
        (&["bash", "-q", "x", "echo", "two", "words"], 0, "two words\n"),
        (&["bash", "--", "sh", "-c", "exit 4"], 4, ""),
        (
            &["bash", "-q", "x", "--", "printf", "%s|", "a b", "c'd", "", "$HOME", "*"],
            0,
            "a b|c'd||$HOME|*|\n",
        ),
        (&["bash", "echo one; echo two"], 0, "one\ntwo\n"),
        (&["grep", "nothing-like-it", "module.py"], 1, ""),
        (&["grep", "nothing-like-it", "module.py", "-q", "x"], 1, ""),
        (&["grep", "x", "missing", "-q", "x"], 2, ""),
        (&["grep", "x", "module.py", "-q", ""], 2, ""),
        (&["read", "module.py", "-q", ""], 2, ""),
        (&["prune", "module.py", "-g", ""], 2, ""),
        (&["read", "lines.txt:2-3"], 0, "two\nthree\n"),
        (&["read", "lines.txt:2"], 0, "two\n"),
        (&["read", "lines.txt:3-9", "-n"], 0, "3│ three\n"),
        (&["read", "lines.txt", "-n"], 0, "1│ one\n2│ two\n3│ three\n"),
        (&["read", "lines.txt:3,1"], 0, "three\none\n"),
        (&["read", "lines.txt:4"], 1, ""),
        (&["read", "lines.txt:7-6"], 1, ""),
        (&["read", "odd:2"], 0, "a file of this name\n"),
    ] {
        let ran = fixture.run(command, b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), stdout), "{command:?}: {}", ran.stderr);
    }
    let mut elsewhere = fixture.tamis(&["read", "odd:2", "line.txt"]);
    let ran = finish(elsewhere.current_dir("/").env("TAMIS_WORKBENCH_DIR", fixture.work()), b"");
    assert_eq!(ran.stdout, "==> odd:2 <==\na file of this name\n", "{}", ran.stderr);
    assert!(ran.stderr.ends_with("hint: did you mean `lines.txt`?\n"), "{}", ran.stderr);
    for command in [&["bash", "cat"][..], &["bash", "-q", "x", "cat"]] {
        assert_eq!(fixture.run(command, b"from stdin").stdout.trim_end(), "from stdin", "{command:?}");
    }
}

#[test]
fn ctrl_c_ends_the_command_that_a_question_waits_for() {
    let fixture = Fixture::new();
    let mut child = fixture.tamis(&["bash", "-q", "x", "--", FAMILY]).spawn().unwrap();
    let pids = family(&fixture.work());
    let interrupt = format!("kill -s INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    all_end(&pids);
}

#[test]
fn ctrl_c_keeps_what_a_command_has_written() {
    let fixture = Fixture::new();
    let command = format!("echo partial; {FAMILY}");
    let mut tamis = fixture.tamis(&["bash", "-q", "what was written", "--", &command]);
    let child = tamis.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pids = family(&fixture.work());
    let interrupt = format!("kill -s INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "partial\n");
    all_end(&pids);
}

#[test]
fn a_command_that_never_stops_writing_is_ended_and_a_note_says_so() {
    let fixture = Fixture::new();
    // What is no text is printed as it is, which takes no time.
    let mut tamis = fixture.tamis(&["bash", "-q", "x", "--", "exec yes $(printf '\\377')"]);
    let child = tamis.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let ended = child.wait_with_output().unwrap();
    let note = "[output limit: the command wrote more than 256 MiB and was ended; redirect its output to a file and read a \
                part of it]\nwarning: not UTF-8, so nothing is cut\n";
    assert_eq!(String::from_utf8_lossy(&ended.stderr), note);
    let whole = fixture.run(&["bash", "-q", "x", "--", "echo all"], b"");
    assert!(whole.stdout == "all\n" && !whole.stderr.contains("output limit"), "{}", whole.stderr);
}

#[test]
fn the_workbench_redacts_secrets_if_configured() {
    let fixture = Fixture::new();
    let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6");
    std::fs::write(fixture.work().join("config.txt"), format!("region = north\ntoken = {token}\n")).unwrap();
    for (call, input) in [
        ("read", json!({"file_path": "config.txt"})),
        ("read", json!({"file_path": "config.txt", "context_focus_question": "which token is used?"})),
        ("bash", json!({"command": "cat config.txt"})),
        ("grep", json!({"pattern": "token", "path": "config.txt"})),
    ] {
        let mut command = fixture.tamis(&["call", call, &input.to_string()]);
        assert!(finish(&mut command, b"").stdout.contains(&token), "{input}");
        let ran = finish(command.env("TAMIS_REDACT", "1"), b"");
        assert!(
            ran.stdout.contains("[redacted:github-token]") && !ran.stdout.contains(&token),
            "{}",
            ran.stdout
        );
    }
}
