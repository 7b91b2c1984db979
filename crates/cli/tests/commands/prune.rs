//! `prune` and `recover`.

use std::fs;

use serde_json::json;

use super::common::{Fixture, finish, module, prune_id};

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
    // Only the first marker has the id, so the others are looked for in recent prunes.
    let later = fixture.run(&["recover", markers[1]], b"");
    assert_eq!((later.stdout, later.code), (cut(markers[1]) + "\n", Some(0)), "{}", later.stderr);
    assert!(later.stderr.contains("these lines were cut in prn_"), "{}", later.stderr);
    let whole = fixture.run(&["recover", "-"], pruned.stdout.as_bytes());
    assert_eq!(whole.stdout, expected.join("\n") + "\n", "{}", whole.stderr);
    // The whole note that follows a prune.
    let noted = fixture.run(&["recover", pruned.stderr.lines().last().unwrap()], b"");
    assert_eq!(noted.stdout, cut(markers[0]) + "\n", "{}", noted.stderr);
    let id = prune_id(&pruned.stdout);
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

/// Lines of another text would be wrong without a sign of it.
#[test]
fn a_marker_without_an_id_restores_lines_of_the_text_that_it_cut() {
    let fixture = Fixture::new();
    let text = module();
    let pruned = fixture.run(&["prune", "--goal", "how does cache_17 fill the cache"], text.as_bytes());
    let id = prune_id(&pruned.stdout);
    let marker = pruned.stdout.lines().rfind(|line| line.starts_with("[tamis ")).unwrap();
    let lines = marker.trim_start_matches("[tamis ").split([':', ']']).next().unwrap();
    let expected = fixture.run(&["recover", id, lines], b"").stdout;
    assert_eq!(fixture.run(&["recover", id, marker], b"").stdout, expected, "an id and a marker");

    let log: String = (0..400).map(|number| format!("worker {number} is idle\n")).collect();
    let log = format!("{log}error: the disk is full\n");
    fixture.run(&["prune", "--goal", "why is the disk full"], log.as_bytes());
    let recovered = fixture.run(&["recover", marker], b"");
    assert_eq!(recovered.stdout, expected, "the latest prune did not cut these lines: {}", recovered.stderr);
    assert!(recovered.stderr.contains(id), "{}", recovered.stderr);

    let unknown = fixture.run(&["recover", "[tamis 2-3]"], b"");
    assert_eq!((unknown.stdout.as_str(), unknown.code), ("", Some(1)), "{}", unknown.stderr);
    assert_eq!(
        unknown.stderr,
        "error: no recent prune has a marker for 2-3\n\nhint: the first marker of the text has the prune id; \
         `tamis recover ID 2-3` restores the lines\n"
    );

    // The same lines are cut in a second text of the same form.
    let other = text.replace("cache", "store");
    let second = fixture.run(&["prune", "--goal", "how does store_17 fill the store"], other.as_bytes());
    assert!(second.stdout.contains(marker), "{}", second.stdout);
    let ambiguous = fixture.run(&["recover", marker], b"");
    assert_eq!((ambiguous.stdout.as_str(), ambiguous.code), ("", Some(1)));
    let hint = format!(
        "hint: `tamis recover {} {lines}` or `tamis recover {id} {lines}`; `tamis recover --list` shows their goals",
        prune_id(&second.stdout)
    );
    assert_eq!(ambiguous.stderr, format!("error: a marker for {lines} may be of 2 texts\n\n{hint}\n"));
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

/// Input without end is passed on as it comes, not held in memory.
#[cfg(target_os = "linux")]
#[test]
fn a_text_too_large_to_prune_is_passed_through() {
    use std::io::{Read, Write};
    use std::process::Stdio;

    const MEBIBYTES: usize = 400;
    let fixture = Fixture::new();
    let mut prune = fixture.tamis(&["prune", "--goal", "x"]);
    prune.env("TAMIS_MAX_BYTES", "67108864");
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
fn without_a_home_the_text_passes_through_with_a_warning() {
    let fixture = Fixture::new();
    let text = module();
    for home in [None, Some("/etc/passwd")] {
        let mut command = fixture.tamis(&["prune", "--goal", "how does cache_17 fill the cache"]);
        for variable in ["HOME", "TAMIS_DATA_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TAMIS_CONFIG"] {
            command.env_remove(variable);
        }
        if let Some(home) = home {
            command.env("HOME", home);
        }
        let ran = finish(&mut command, text.as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), text.as_str()), "{home:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("nothing"), "{home:?}: {}", ran.stderr);
    }
}

#[test]
fn errors_and_empty_texts_are_explained() {
    let fixture = Fixture::new();
    fs::write(fixture.work().join("empty"), "").unwrap();
    fs::write(fixture.work().join("binary"), b"\x7fELF\0\xff\x00\n").unwrap();
    let goal = ["prune", "-g", "why"];
    let rows: [(&[&str], i32, &str); 8] = [
        (&[&goal[..], &["nofile.log"]].concat(), 1, "`ls '.'` lists the files there"),
        (&["read", "none/at/all.log"], 1, "`ls '.'` lists the files there"),
        (&["prune", "empty"], 2, "tamis prune --goal \"why does the build fail\""),
        (&["read", "empty"], 0, "`empty` is empty"),
        (&["read", "-q", "why", "empty"], 0, "`empty` is empty"),
        (&[&goal[..], &["empty"]].concat(), 0, "`empty` is empty"),
        (&["read", "-q", "why", "binary"], 0, "warning: binary, so nothing is cut"),
        (&[&goal[..], &["binary"]].concat(), 0, "warning: binary, so nothing is cut"),
    ];
    for (arguments, code, message) in rows {
        // The binary file arrives byte for byte, so stdout is not always text.
        let ran = fixture.tamis(arguments).output().unwrap();
        let stderr = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
    }
}

#[test]
fn only_a_higher_threshold_is_advised() {
    let fixture = Fixture::new();
    let text = "the build failed because of a missing header\n".repeat(60);
    fs::write(fixture.work().join("text"), text).unwrap();
    for (threshold, advice) in
        [("0", ", or --threshold 0.7\n"), ("0.7", ", or --threshold 0.9\n"), ("1", "--goal\n")]
    {
        let arguments =
            ["prune", "-g", "the build failed because of a missing header", "--max-prune-ratio", "0"];
        let ran = fixture.run(&[&arguments[..], &["--threshold", threshold, "text"]].concat(), b"");
        assert!(ran.stderr.contains("nothing was cut; try a more specific --goal"), "{}", ran.stderr);
        assert!(ran.stderr.ends_with(advice), "{threshold}: {}", ran.stderr);
    }
}
