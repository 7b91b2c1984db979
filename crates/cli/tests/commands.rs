//! The commands as a person meets them: what goes to stdout, what to stderr, and the exit codes.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{Fixture, finish, module};
use serde_json::json;

#[test]
fn prune_writes_the_text_to_stdout_and_the_rest_to_stderr() {
    let fixture = Fixture::new();
    let text = module();
    let ran = fixture.run(&["prune", "--goal", "how does cache_17 fill the cache"], text.as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.len() < text.len());
    assert_eq!(
        ran.stdout.matches("restore: recover_text or tamis recover prn_").count(),
        1,
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("\n[tamis cut ") && !ran.stdout.contains("PRUNÉ"), "{}", ran.stdout);
    assert!(ran.stdout.contains("cache_step_17_3"));
    assert!(ran.stderr.starts_with("kept "), "{}", ran.stderr);

    // The command that the summary offers restores the first cut.
    let offered = ran.stderr.split('`').nth(1).unwrap();
    let arguments: Vec<_> = offered.split(' ').skip(1).collect();
    let recovered = fixture.run(&arguments, b"");
    assert_eq!(recovered.code, Some(0), "{}", recovered.stderr);
    let (first, last) = arguments[2].split_once('-').unwrap();
    let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
    let lines: Vec<_> = text.split('\n').collect();
    assert_eq!(recovered.stdout, format!("{}\n", lines[first - 1..last].join("\n")));
    assert_eq!(fixture.run(&["recover", arguments[1]], b"").stdout, text, "without lines, the whole text");
    let count = text.lines().count();
    let beyond = fixture.run(&["recover", arguments[1], "9000"], b"");
    assert_eq!(beyond.stderr, format!("error: the text has no line 9000\n\nhint: it has {count} lines\n"));
    assert_eq!(fixture.run(&["recover", arguments[1], "-n"], b"").stdout.lines().count(), count);
    let numbered = fixture.run(&["recover", arguments[1], "2", "1", "--numbers"], b"");
    assert_eq!(numbered.stdout, "2│ import sys\n1│ import os\n");

    let path = fixture.work().join("module.py");
    std::fs::write(&path, &text).unwrap();
    let from_file = fixture.run(&["prune", "--goal", "how does cache_17 fill the cache", "module.py"], b"");
    assert_eq!(from_file.stdout, ran.stdout);
    let bounded = fixture.run(
        &["prune", "-g", "cache_17", "--max-prune-ratio", "0.1", "--kind", "code", "--json", "module.py"],
        b"",
    );
    assert!(bounded.json()["stats"]["pruned_ratio"].as_f64().unwrap() <= 0.1);

    let shown = fixture.run(&["data", "show", "--json"], b"").json();
    assert_eq!(shown["savings"]["calls"], 3);
    assert_eq!(shown["savings"]["recoveries"], 4);
    assert_eq!(shown["recovery"]["originals"], 1, "the same text is kept once");
}

/// What is pasted from a pruned text restores what it stands for.
#[test]
fn recover_takes_markers_and_lists_of_lines_and_lists_recent_prunes() {
    let fixture = Fixture::new();
    let text = module();
    let lines: Vec<_> = text.split('\n').collect();
    let goal = "how does cache_17 fill the cache";
    let pruned = fixture.run(&["prune", "--goal", goal], text.as_bytes());
    let markers: Vec<_> = pruned.stdout.lines().filter(|line| line.starts_with("[tamis ")).collect();
    let cut = |marker: &str| {
        let range = marker.trim_start_matches("[tamis ").trim_start_matches("cut ");
        let range = range.split([':', ']']).next().unwrap();
        let (first, last) = range.split_once('-').unwrap();
        lines[first.parse::<usize>().unwrap() - 1..last.parse::<usize>().unwrap()].join("\n")
    };
    let recovered = fixture.run(&["recover", markers[0]], b"");
    assert_eq!((recovered.stdout, recovered.code), (cut(markers[0]) + "\n", Some(0)), "{}", recovered.stderr);
    let all = fixture.run(&["recover", "-"], markers.join("\n").as_bytes());
    let expected: Vec<_> = markers.iter().map(|marker| cut(marker)).collect();
    assert_eq!(all.stdout, expected.join("\n") + "\n", "{}", all.stderr);
    // Only the first marker has the id, so the others are those of the latest prune.
    let later = fixture.run(&["recover", markers[1]], b"");
    assert_eq!((later.stdout, later.code), (cut(markers[1]) + "\n", Some(0)), "{}", later.stderr);
    assert!(later.stderr.contains("from the latest prune, prn_"), "{}", later.stderr);
    let whole = fixture.run(&["recover", "-"], pruned.stdout.as_bytes());
    assert_eq!(whole.stdout, expected.join("\n") + "\n", "{}", whole.stderr);
    // The whole note that follows a prune.
    let noted = fixture.run(&["recover", pruned.stderr.lines().last().unwrap()], b"");
    assert_eq!(noted.stdout, cut(markers[0]) + "\n", "{}", noted.stderr);
    let id = common::prune_id(&pruned.stdout);
    assert_eq!(fixture.run(&["recover", &id[..10]], b"").stdout, text, "the beginning of the id is enough");
    let some = fixture.run(&["recover", id, "1-2,6", "--numbers"], b"");
    assert_eq!(some.stdout, format!("1│ import os\n2│ import sys\n6│ {}\n", lines[5]), "{}", some.stderr);

    fixture.run(&["prune", "--goal", "another goal entirely"], b"nothing to cut\n");
    let listed = fixture.run(&["recover", "--list"], b"");
    let shown: Vec<_> = listed.stdout.lines().collect();
    assert_eq!(shown.len(), 2, "{}", listed.stdout);
    assert!(
        shown[0].starts_with("TIME") && shown[1].contains(id) && shown[1].ends_with(goal),
        "{}",
        listed.stdout
    );
    let listed = fixture.run(&["recover", "--list", "--json"], b"").json();
    assert_eq!(
        (&listed[0]["prune_id"], &listed[0]["goal"], &listed[0]["tool"]),
        (&json!(id), &json!(goal), &json!("prune"))
    );
    assert_eq!(fixture.run(&["recover"], b"").code, Some(2));
    fixture.run(&["data", "purge", "--recovery", "--yes"], b"");
    assert_eq!(fixture.run(&["recover", "--list"], b"").stdout, "");
}

#[test]
fn prune_and_read_take_several_files_and_stdin() {
    let fixture = Fixture::new();
    let write = |name: &str, text: &str| std::fs::write(fixture.work().join(name), text).unwrap();
    write("module.py", &module());
    write("short.txt", "one\ntwo\n");
    let read = fixture.run(&["read", "short.txt", "-"], b"from stdin\n");
    assert_eq!(read.stdout, "==> short.txt <==\none\ntwo\n\n==> - <==\nfrom stdin\n");
    assert_eq!(fixture.run(&["read", "-"], b"from stdin\n").stdout, "from stdin\n");
    let goal = "how does cache_17 fill the cache";
    for arguments in [&["prune", "-g", goal, "module.py", "-"][..], &["read", "-q", goal, "module.py", "-"]] {
        let ran = fixture.run(arguments, b"from stdin\n");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.starts_with("==> module.py <==\nimport os\n"), "{}", ran.stdout);
        assert!(
            ran.stdout.contains("[tamis cut ") && ran.stdout.ends_with("==> - <==\nfrom stdin\n"),
            "{}",
            ran.stdout
        );
        let summaries: Vec<_> = ran.stderr.lines().collect();
        assert_eq!(summaries.len(), 3, "a short text needs no advice: {}", ran.stderr);
        assert!(summaries[0].starts_with("module.py: kept "), "{}", ran.stderr);
        assert!(summaries[2].starts_with("-: kept 1 of 1 lines, "), "{}", ran.stderr);
        let answers = fixture.run(&[arguments, &["--json"]].concat(), b"from stdin\n").json();
        assert_eq!(answers.as_array().unwrap().len(), 2);
        assert_eq!(
            (&answers[0]["path"], &answers[1]["pruned_text"]),
            (&json!("module.py"), &json!("from stdin\n"))
        );
    }
    let whole = fixture.run(&["read", "-q", goal, "--threshold", "0", "module.py", "module.py"], b"");
    assert_eq!(whole.stderr.matches("nothing was cut; try a more").count(), 1, "{}", whole.stderr);
    // What can be read is printed; the rest is an error.
    for command in [&["read"][..], &["prune", "-g", goal]] {
        let ran = fixture.run(&[command, &["missing", "short.txt"]].concat(), b"");
        assert_eq!(ran.code, Some(1));
        assert!(ran.stdout.ends_with("==> short.txt <==\none\ntwo\n"), "{}", ran.stdout);
        assert!(
            ran.stderr.contains("error: cannot read `missing`\n  because: No such file"),
            "{}",
            ran.stderr
        );
    }
}

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
        ("missing", "error: cannot read `missing`\n  because: No such file or directory (os error 2)\n"),
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
fn data_show_counts_in_the_singular_too() {
    let fixture = Fixture::new();
    fixture.run(&["prune", "--goal", "how does cache_17 fill the cache"], module().as_bytes());
    let shown = fixture.run(&["data", "show"], b"").stdout;
    for words in ["1 file, ", "1 row, ", " in 1 call; 0 tokens recovered later"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn a_command_builds_only_the_services_it_uses() {
    let fixture = Fixture::new();
    let mut command = fixture.tamis(&["prune", "--goal", "x"]);
    // Building research would warn about its folders, and building agents would read the identity.
    command.env("TAMIS_ROOTS", "/nowhere").env("TAMIS_IDENTITY", "/nowhere");
    let ran = finish(&mut command, b"some text\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "some text\n"));
    assert!(!ran.stderr.contains("research"), "{}", ran.stderr);
}

#[test]
fn text_that_is_not_utf_8_passes_unchanged() {
    let fixture = Fixture::new();
    let path = fixture.work().join("odd.txt");
    std::fs::write(&path, b"caf\xe9\n").unwrap();
    let output = fixture.tamis(&["prune", "--goal", "x", "odd.txt"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"caf\xe9\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("not UTF-8"));
}

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
        "error: cannot read `nothing.txt`\n  because: No such file or directory (os error 2)\n"
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
        let id = common::prune_id(&pruned.stdout);
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
    let mut child = fixture.tamis(&["bash", "-q", "x", "--", common::FAMILY]).spawn().unwrap();
    let pids = common::family(&fixture.work());
    let interrupt = format!("kill -s INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    common::all_end(&pids);
}

#[test]
fn a_taken_port_is_explained() {
    let fixture = Fixture::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = fixture.run(&["serve", "--port", &port], b"");
    assert_eq!(ran.code, Some(1));
    let lines: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(lines[0], format!("error: cannot listen on `127.0.0.1:{port}`"));
    assert!(lines[1].starts_with("  because: "), "{}", ran.stderr);
    assert_eq!(
        lines[3],
        "hint: another tamis may be running there; `tamis serve --port 0` picks a free port"
    );
}

#[test]
fn a_configuration_that_cannot_be_used_is_shown_with_its_flaw() {
    let fixture = Fixture::new();
    let mut command = fixture.tamis(&["config", "--explain"]);
    command.env("MCP_SERVER_PORT", "abc");
    let ran = finish(&mut command, b"");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stdout.contains("http.port = 3001"), "{}", ran.stdout);
    assert_eq!(
        ran.stderr,
        "error: invalid value `abc` for `http.port` from MCP_SERVER_PORT: must be a port, 0 to 65535\n"
    );
    for filter in ["inof", "tamis=loud"] {
        let mut command = fixture.tamis(&["data", "show"]);
        command.env("TAMIS_LOG", filter);
        let ran = finish(&mut command, b"");
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("hint: the levels are"), "{}", ran.stderr);
    }
}

#[test]
fn the_network_gets_in_with_a_token_only() {
    let fixture = Fixture::new();
    let refused = fixture.run(&["serve", "--host", "0.0.0.0", "--port", "0"], b"");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("hint: create and print a token with `tamis token`"),
        "{}",
        refused.stderr
    );
    let token = fixture.run(&["token"], b"").stdout;
    assert_eq!(token.trim().len(), 48);
    assert_eq!(fixture.run(&["token"], b"").stdout, token, "made once");
    let server = common::Server::start(fixture.tamis(&["serve", "--host", "0.0.0.0", "--port", "0"]));
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], server.address().port()));
    assert_eq!(common::http(address, "GET", "/health", &[], b"").0, 401);
    let bearer = format!("Bearer {}", token.trim());
    assert_eq!(common::http(address, "GET", "/health", &[("Authorization", &bearer)], b"").0, 200);
}

#[test]
fn config_explains_where_each_value_comes_from() {
    let fixture = Fixture::new();
    std::fs::write(fixture.work().join(".tamis.toml"), "[prune]\nmax_input_chars = 10\n[http]\nport = 1\n")
        .unwrap();
    let mut command = fixture.tamis(&["config", "--json"]);
    command.env("MCP_PRUNER_PRUNE_ID_TTL_S", "60").env("TAMIS_TOKEN", "0123456789abcdef");
    let shown = finish(&mut command, b"").json();
    let of = |name: &str| {
        let settings = shown["settings"].as_array().unwrap();
        let setting = settings.iter().find(|setting| setting["name"] == name).unwrap();
        (setting["value"].clone(), setting["source"].as_str().unwrap().to_owned())
    };
    assert_eq!(of("recovery.ttl_s"), (json!("60"), "MCP_PRUNER_PRUNE_ID_TTL_S".to_owned()));
    assert_eq!(of("http.token"), (json!("(set)"), "TAMIS_TOKEN".to_owned()));
    assert_eq!(of("http.port"), (json!("3001"), "default".to_owned()));
    assert_eq!(of("prune.max_input_chars").0, "10");
    assert_eq!(shown["remarks"].as_array().unwrap().len(), 1);
    let mut command = fixture.tamis(&["config", "--explain"]);
    command.env("TAMIS_TOKEN", "0123456789abcdef");
    let explained = finish(&mut command, b"");
    assert!(explained.stdout.contains("http.token = (set)"), "{}", explained.stdout);
    assert!(explained.stdout.contains("set by TAMIS_HTTP_PORT or MCP_SERVER_PORT"), "{}", explained.stdout);
    assert!(!explained.stdout.contains("0123456789abcdef"));
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
fn config_sets_gets_and_finds_the_file() {
    let fixture = Fixture::new();
    let path = fixture.folder.path().join("home/.config/tamis/config.toml");
    let said = fixture.run(&["config", "path"], b"");
    assert_eq!((said.code, said.stdout.trim()), (Some(0), path.to_str().unwrap()));
    assert_eq!(fixture.run(&["config", "set", "http.port", "4001"], b"").code, Some(0));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[http]\nport = 4001\n");
    assert_eq!(fixture.run(&["config", "get", "http.port"], b"").stdout, "4001\n");
    assert_eq!(fixture.run(&["config", "set", "github.token", "s3cret"], b"").code, Some(0));
    let secret = fixture.run(&["config", "get", "github.token", "--json"], b"");
    assert_eq!(secret.json()["value"], "(set)");
    assert!(!format!("{}{}", secret.stdout, secret.stderr).contains("s3cret"));
    let overridden =
        finish(fixture.tamis(&["config", "set", "http.port", "4002"]).env("TAMIS_HTTP_PORT", "5"), b"");
    assert!(overridden.stderr.contains("TAMIS_HTTP_PORT overrides it here"), "{}", overridden.stderr);
    let unset = finish(fixture.tamis(&["config", "unset", "http.port"]).env("TAMIS_HTTP_PORT", "5"), b"");
    assert!(unset.stderr.contains("TAMIS_HTTP_PORT still sets it here"), "{}", unset.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[http]\n\n[github]\ntoken = \"s3cret\"\n");
    for (arguments, code, error) in [
        (
            &["config", "unset", "http.port"][..],
            1,
            "error: `http.port` is not set in your configuration file\n\nhint: ",
        ),
        (&["config", "unset", "http.prot"], 2, "error: unknown setting `http.prot`\n\nhint: "),
        (&["config", "get", "http.prot"][..], 2, "error: unknown setting `http.prot`\n\nhint: "),
        (&["config", "get", "http.token"], 1, "error: `http.token` is not set\n\nhint: "),
        (&["config", "set", "http.prot", "1"], 2, "error: unknown setting `http.prot`\n\nhint: "),
        (
            &["config", "set", "http.port", "x"],
            2,
            "error: invalid value `x` for `http.port` from the command line",
        ),
    ] {
        let ran = fixture.run(arguments, b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(error), "{}", ran.stderr);
    }
}

#[test]
fn purge_erases_what_it_says() {
    let fixture = Fixture::new();
    fixture.run(&["prune", "--goal", "x"], b"some text\n");
    let kept = fixture.run(&["data", "purge", "--older-than", "1d", "--yes"], b"");
    assert_eq!(kept.stderr, "erased 0 originals (0 bytes) and 0 ledger rows\n");
    assert_eq!(fixture.run(&["data", "purge", "--yes"], b"").code, Some(0));
    let shown = fixture.run(&["data", "show", "--json"], b"").json();
    assert_eq!((&shown["recovery"]["originals"], &shown["ledger"]["rows"]), (&json!(0), &json!(0)));
    assert_eq!(shown["problems"], json!([]));
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

#[test]
fn an_invalid_value_in_a_project_is_shown_without_secrets() {
    let fixture = Fixture::new();
    let project = "[limits]\nmaxTokens = \"http://me:tr0ub4dor@host/\"\n";
    std::fs::write(fixture.work().join(".tamis.toml"), project).unwrap();
    for arguments in [&["config"][..], &["config", "--json"], &["data", "show"]] {
        let ran = fixture.run(arguments, b"");
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        assert!(shown.contains("for `limits.maxTokens` from") && !shown.contains("tr0ub4dor"), "{shown}");
    }
}

/// Input without end is passed on as it comes, not held in memory.
#[cfg(target_os = "linux")]
#[test]
fn a_text_too_large_to_prune_is_passed_through() {
    use std::io::{Read, Write};
    use std::process::Stdio;

    const MEBIBYTES: usize = 400;
    let fixture = Fixture::new();
    let mut prune = fixture.tamis(&["prune", "--goal", "x"]);
    prune.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut prune = prune.spawn().unwrap();
    let (mut input, mut output) = (prune.stdin.take().unwrap(), prune.stdout.take().unwrap());
    let block: Vec<u8> = (0..1 << 20).map(|byte| if byte % 64 == 0 { b'\n' } else { b'x' }).collect();
    let expected = block.clone();
    let reader = std::thread::spawn(move || {
        let mut read = vec![0; expected.len()];
        for block in 1..MEBIBYTES {
            output.read_exact(&mut read).unwrap();
            assert!(read == expected, "block {block}");
        }
        // Half a line may be waiting for its end.
        let most = expected.len() - 64;
        output.read_exact(&mut read[..most]).unwrap();
        assert!(read[..most] == expected[..most]);
        output
    });
    for _ in 0..MEBIBYTES {
        input.write_all(&block).unwrap();
    }
    // It has come out before the input ends.
    let mut output = reader.join().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", prune.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 250 << 10, "{peak} KiB");
    drop(input);
    let mut last = Vec::new();
    output.read_to_end(&mut last).unwrap();
    assert!(last == block[block.len() - 64..]);
    let ended = prune.wait_with_output().unwrap();
    let notes = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success() && notes.starts_with("warning: input_too_large"), "{notes}");
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
