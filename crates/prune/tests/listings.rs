//! Listings: what was asked for stays, with what gives it meaning, and the rest goes.

use std::fmt::Write;

use tamis_prune::{Cut, EngineRequest, PruneLimits, prune};
use tamis_text::TextKind;

/// Which lines stay at a threshold, with markers of the contract's size.
fn kept_at(text: &str, goal: &str, threshold: f32) -> Vec<bool> {
    let limits = PruneLimits { threshold, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 };
    let marker_bytes = &|_: &Cut| 100;
    let request =
        EngineRequest { text, goal, kind: TextKind::detect(text), limits, marker_bytes, shown: &[] };
    let verdict = prune(&request, &|| false).expect("nothing interrupts");
    let mut kept = vec![true; text.split('\n').count()];
    for cut in &verdict.cuts {
        kept[cut.first_line - 1..cut.last_line].fill(false);
    }
    kept
}

/// Checks that every line for which `is_wanted` holds stays, and that at least this share of the bytes goes.
fn check(name: &str, text: &str, goal: &str, is_wanted: impl Fn(&str) -> bool, least_cut: f64) {
    let kept = kept_at(text, goal, tamis_prune::DEFAULT_THRESHOLD);
    let mut cut = 0;
    for (line, kept) in text.split('\n').zip(&kept) {
        assert!(*kept || !is_wanted(line), "{name}, {goal:?}: {line:?} went");
        cut += if *kept { 0 } else { line.len() + 1 };
    }
    let share = cut as f64 / text.len() as f64;
    assert!(share >= least_cut, "{name}, {goal:?}: only {share:.2} went");
}

/// Results of a search for two names, in one form.
fn results(form: &str) -> String {
    let mut text = String::new();
    for file in 0..12 {
        if form == "grouped" {
            let _ = writeln!(text, "src/part_{file}/handler.rs");
        }
        for line in 1..=8 {
            let name = if (file + line) % 4 == 0 { "parse_header" } else { "write_footer" };
            let number = line * 7;
            let content = format!("    let value = {name}(input, &mut state_{line})?;");
            let path = format!("src/part_{file}/handler.rs");
            let _ = match form {
                "grouped" => writeln!(text, "{number}:{content}"),
                "one file" => writeln!(text, "{}:{content}", file * 100 + number),
                "column" => writeln!(text, "{path}:{number}:17:{content}"),
                "unnumbered" => writeln!(text, "{path}:{content}"),
                "null" => writeln!(text, "{path}\0{number}:{content}"),
                "context" => {
                    writeln!(text, "{path}-{}-    // before\n{path}:{number}:{content}\n--", number - 1)
                }
                _ => writeln!(text, "{path}:{number}:{content}"),
            };
        }
        if form == "grouped" {
            text.push('\n');
        }
    }
    text
}

#[test]
fn every_result_with_the_name_stays() {
    for form in ["plain", "grouped", "one file", "column", "unnumbered", "null", "context"] {
        let text = results(form);
        for goal in [
            "Rename parse_header in all the places where it is used",
            "list every use of `parse_header`",
            "I have to replace parse_header() everywhere",
            "how many callers does parse_header have",
            "Remplace chaque appel de parse_header",
            "I am going to change the signature of parse_header; show me who calls it",
        ] {
            check(form, &text, goal, |line| line.contains("parse_header"), 0.3);
        }
        for goal in
            ["Rename every parse_header and write_footer", "Review these results", "all of them, please", ""]
        {
            check(
                form,
                &text,
                goal,
                |line| line.contains("parse_header") || line.contains("write_footer"),
                0.0,
            );
        }
        // What must not be there is named, so nothing is selected.
        check(form, &text, "list all lines without parse_header", |line| line.contains("write_footer"), 0.0);
        // The search was for something else than the goal mentions.
        check(form, &text, "which `state_3` values are lost?", |line| line.contains("state_3"), 0.0);
    }
}

/// How something works is explained in few places, whatever else a search for another word has found.
#[test]
fn a_question_how_something_works_does_not_ask_for_every_result() {
    let mut text = String::new();
    for index in 0..40 {
        let topic = if index == 17 { "cache" } else { "widget" };
        for step in 0..12 {
            let number = index * 14 + step;
            let _ =
                writeln!(text, "module.py:{number}:    value = {topic}_step_{index}_{step}(request, value)");
        }
    }
    for goal in ["how does cache_step_17_3 fill the cache", "why is cache_step_17_3 called so late"] {
        check("value", &text, goal, |line| line.contains("cache_step_17_3("), 0.5);
    }
    check("value", &text, "list all the results with value", |line| !line.is_empty(), 0.0);
}

#[test]
fn a_result_keeps_the_file_that_it_is_grouped_under() {
    let text = results("grouped").replacen(
        "write_footer(input, &mut state_2)",
        "seal_envelope(input, &mut state_2)",
        1,
    );
    let kept = kept_at(&text, "rename every seal_envelope", 0.5);
    let line = text.split('\n').position(|line| line.contains("seal_envelope")).expect("one result");
    assert!(kept[line] && kept[0], "{:?}", &kept[..12]);
}

const FILES: [&str; 4] = ["src/reader.rs", "src/writer.rs", "docs/guide.md", "Makefile"];

/// A diff of four files, in one form.
fn diff(form: &str) -> String {
    let mut text = String::new();
    if form == "mail" {
        text.push_str(
            "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\nDate: Mon, 1 Jun 2026 10:00:00 +0200\nSubject: [PATCH] Change it\n\nWhy it changed.\n---\n",
        );
    }
    for (number, file) in FILES.iter().enumerate() {
        let _ = match form {
            "plain" => writeln!(text, "--- old/{file}\t2026-06-01\n+++ new/{file}\t2026-06-02"),
            "combined" => writeln!(text, "diff --cc {file}\nindex 111,222..333\n--- a/{file}\n+++ b/{file}"),
            _ => writeln!(
                text,
                "diff --git a/{file} b/{file}\nindex 1111111..2222222 100644\n--- a/{file}\n+++ b/{file}"
            ),
        };
        for hunk in 0..4 {
            let start = 10 + hunk * 40;
            let _ = match form {
                "combined" => writeln!(text, "@@@ -{start},4 -{start},4 +{start},5 @@@ fn part()"),
                _ => writeln!(text, "@@ -{start},5 +{start},6 @@ fn part_{hunk}()"),
            };
            let context = |text: &mut String, step: usize| {
                let pad = if form == "combined" { "  " } else { " " };
                let _ = writeln!(text, "{pad}    unchanged_step({number}, {hunk}, {step});");
            };
            context(&mut text, 1);
            context(&mut text, 2);
            let _ = match form {
                "combined" => writeln!(
                    text,
                    "- -   old_{number}_{hunk}();\n+     new_{number}_{hunk}();\n ++   more_{number}_{hunk}();"
                ),
                "words" => writeln!(text, "    [-old_{number}_{hunk}();-]{{+new_{number}_{hunk}();+}}"),
                _ => writeln!(
                    text,
                    "-    old_{number}_{hunk}();\n+    new_{number}_{hunk}();\n+    more_{number}_{hunk}();"
                ),
            };
            context(&mut text, 3);
            context(&mut text, 4);
        }
    }
    text
}

fn is_change(line: &str) -> bool {
    ["old_", "new_", "more_", "@@"].iter().any(|part| line.contains(part)) || line.starts_with("diff ")
}

#[test]
fn every_changed_line_stays_in_a_review() {
    for form in ["git", "plain", "combined", "words", "mail"] {
        let text = diff(form);
        for goal in [
            "Review this change",
            "Please check this diff for mistakes",
            "Write a commit message for this diff",
            "what does this patch do?",
            "is this correct?",
            "Relis cette modification",
            "Was hat sich geändert?",
            "",
        ] {
            check(form, &text, goal, is_change, 0.0);
        }
    }
}

#[test]
fn a_question_about_one_file_of_a_diff_selects_it() {
    for form in ["git", "plain", "combined", "words", "mail"] {
        let text = diff(form);
        for (number, file) in FILES.iter().enumerate() {
            let name = file.rsplit('/').next().expect("a name");
            for goal in [
                format!("What changed in {name}?"),
                format!("explain the part in `{file}`"),
                format!("did {name} change"),
            ] {
                let of_file = |line: &str| is_change(line) && line.contains(&format!("_{number}_"));
                check(form, &text, &goal, of_file, 0.4);
            }
        }
        let goal = "Review everything, especially writer.rs";
        check(form, &text, goal, is_change, 0.0);
    }
}

/// A history of forty commits, newest first, in one form.
fn history(form: &str) -> String {
    const SUBJECTS: [&str; 8] = [
        "Close idle connections after a minute",
        "Count retries in the metrics",
        "Read settings from a folder",
        "Rename the worker pool",
        "Drop support for the old protocol",
        "Speed up the tokenizer",
        "Document the upload limits",
        "Check certificates before the handshake",
    ];
    let mut text = String::new();
    for number in 0..40usize {
        let hash = format!("{:040x}", 0x9abc_def0_1234_5678_u128 * (number as u128 + 3) * 0x1_0000_0001);
        let subject = format!("{} ({number})", SUBJECTS[number % 8]);
        let day = 28 - number / 2;
        let body =
            "It was wrong for a long time, and nobody saw it because the tests did not look at it at all.";
        let _ = match form {
            "oneline" => writeln!(text, "{} {subject}", &hash[28..38]),
            "graph" => writeln!(text, "* {} {subject}\n|\\", &hash[28..38]),
            "graph of heads" => {
                writeln!(
                    text,
                    "* commit {hash}\n| Author: A <a@b.c>\n| Date:   Mon Jun {day} 10:00:00 2026 +0200\n| \n|     {subject}\n|     \n|     {body}\n| "
                )
            }
            "stat" => writeln!(
                text,
                "commit {hash}\nAuthor: A <a@b.c>\nDate:   2026-06-{day:02} 10:00:00 +0200\n\n    {subject}\n\n src/a_{number}.rs | 12 ++++++------\n 1 file changed, 6 insertions(+), 6 deletions(-)\n"
            ),
            "fuller" => writeln!(
                text,
                "commit {hash}\nAuthor:     A <a@b.c>\nAuthorDate: Mon Jun {day} 10:00:00 2026 +0200\nCommit:     B <b@b.c>\nCommitDate: Mon Jun {day} 11:00:00 2026 +0200\n\n    {subject}\n    \n    {body}\n"
            ),
            "short" => writeln!(text, "commit {hash}\nAuthor: A <a@b.c>\n\n    {subject}\n"),
            "dated" => writeln!(text, "2026-06-{day:02} {} {subject}", &hash[28..38]),
            _ => writeln!(
                text,
                "commit {hash}\nAuthor: A <a@b.c>\nDate:   Mon Jun {day} 10:00:00 2026 +0200\n\n    {subject}\n    \n    {body}\n    {body}\n"
            ),
        };
    }
    text
}

#[test]
fn the_latest_or_one_commit_is_selected() {
    for form in ["default", "oneline", "graph", "graph of heads", "stat", "fuller", "short", "dated"] {
        let text = history(form);
        let is_among = |line: &str, numbers: &[usize]| {
            numbers.iter().any(|number| line.ends_with(&format!(" ({number})")))
        };
        for goal in [
            "What changed most recently?",
            "show me the latest five commits",
            "what was done last",
            "les derniers commits",
        ] {
            check(form, &text, goal, |line| is_among(line, &[0, 1, 2, 3, 4]), 0.5);
        }
        let goal = "When was this done, and in which commit: Drop support for the old protocol (12)";
        check(form, &text, goal, |line| is_among(line, &[12]), 0.5);
        for goal in [
            "summarise all commits",
            "what was done last week?",
            "list every change since the last release",
            "",
        ] {
            check(form, &text, goal, |line| line.contains("Speed up") || line.contains("Rename the"), 0.0);
        }
    }
    // The oldest commit comes first.
    let whole = history("default");
    let mut reversed: Vec<_> =
        whole.split("commit ").skip(1).map(|commit| format!("commit {commit}")).collect();
    reversed.reverse();
    let text = reversed.concat();
    check(
        "reversed",
        &text,
        "what are the two latest commits",
        |line| line.ends_with(" (0)") || line.ends_with(" (1)"),
        0.5,
    );
}

#[test]
fn a_selected_commit_keeps_its_date_and_hash() {
    let text = history("default");
    let kept = kept_at(
        &text,
        "when were the upload limits documented? commit: Document the upload limits (14)",
        0.5,
    );
    let lines: Vec<&str> = text.split('\n').collect();
    let subject = lines.iter().position(|line| line.ends_with("limits (14)")).expect("the commit");
    assert!(kept[subject - 4..=subject].iter().all(|kept| *kept));
    assert!(lines[subject - 4].starts_with("commit ") && lines[subject - 2].starts_with("Date:"));
}

/// A list of files, in one form.
fn files(form: &str) -> String {
    let mut text = if form == "tree" { "project\n".to_owned() } else { String::new() };
    for folder in 0..12 {
        let _ = match form {
            "ls -lR" => writeln!(text, "project/part_{folder}:\ntotal 48"),
            "ls -R" => writeln!(text, "project/part_{folder}:"),
            "tree" => writeln!(text, "├── part_{folder}"),
            _ => Ok(()),
        };
        for file in 0..10 {
            let name = format!("module_{folder}_{file}.txt");
            let _ = match form {
                "ls -lR" => writeln!(text, "-rw-r--r-- 1 root root {} Jul 27 21:54 {name}", 1000 + file),
                "ls -R" => writeln!(text, "{name}"),
                "tree" => writeln!(text, "│   ├── {name}"),
                "du" => writeln!(text, "{}\tproject/part_{folder}/{name}", 4 * file + 4),
                "find -ls" => writeln!(
                    text,
                    "  {folder}{file}    4 -rw-r--r--   1 root     root          {file} Jul 27 21:54 project/part_{folder}/{name}"
                ),
                "status" => writeln!(text, " M project/part_{folder}/{name}"),
                _ => writeln!(text, "project/part_{folder}/{name}"),
            };
        }
        if form.starts_with("ls") {
            text.push('\n');
        }
    }
    text
}

#[test]
fn one_file_is_found_with_its_folder() {
    for form in ["ls -lR", "ls -R", "tree", "find", "find -ls", "du", "status"] {
        let text = files(form);
        for goal in [
            "find the file module_7_3.txt",
            "In which folder is module_7_3.txt?",
            "where does `module_7_3.txt` live",
            "Où est module_7_3.txt ?",
        ] {
            check(
                form,
                &text,
                goal,
                |line| {
                    line.contains("module_7_3.txt") || line.ends_with("part_7:") || line.ends_with("part_7")
                },
                0.7,
            );
        }
        for goal in [
            "give me an overview of the project",
            "list all files",
            "which files are larger than 1 KB?",
            "everything but module_7_3.txt",
        ] {
            check(form, &text, goal, |line| line.contains("module_"), 0.0);
        }
    }
}

/// Findings of a linter, in one form.
fn findings(form: &str) -> String {
    let mut text = String::new();
    for number in 0..60 {
        let (rule, word, message) = match number % 3 {
            0 => ("F401", "no-unused-vars", "`os` imported but unused"),
            1 => ("E711", "eqeqeq", "Comparison to `None` should be `cond is None`"),
            _ => ("PLR2004", "no-magic-numbers", "Magic value used in comparison"),
        };
        let path = format!("src/module_{}.py", number / 5);
        let line = number * 3 + 1;
        let _ = match form {
            "ruff" => writeln!(text, "{path}:{line}:5: {rule} {message}"),
            "pylint" => writeln!(text, "{path}:{line}:0: {rule}: {message} ({word})"),
            "gcc" => writeln!(
                text,
                "{path}:{line}:5: warning: {message} [-W{word}]\n  {line} |     some_source(code);\n      |     ^~~~~~~~~~~"
            ),
            "tsc" => writeln!(text, "{path}({line},5): error TS{}: {message} {rule}", 2300 + number % 3),
            "mypy" => writeln!(text, "{path}:{line}: error: {message}  [{word}] {rule}"),
            "rustc" => writeln!(
                text,
                "warning: {message} {rule}\n --> {path}:{line}:5\n  |\n{line} |     some_source(code);\n  |     ^^^^^^^^^^^\n  |\n  = note: `#[warn({word})]` on by default\n"
            ),
            "eslint" => {
                let head = if number % 5 == 0 { format!("\n/home/me/{path}\n") } else { String::new() };
                writeln!(text, "{head}  {line}:5  warning  {message} {rule}  {word}")
            }
            "eslint in part" => writeln!(text, "  {line}:5  warning  {message} {rule}  {word}"),
            "flutter" => writeln!(text, "   info • {message} {rule} • {path}:{line}:5 • {word}"),
            "dart" => writeln!(text, "warning - {path}:{line}:5 - {message} {rule} - {word}"),
            _ => Ok(()),
        };
    }
    text
}

const FINDINGS: [&str; 10] =
    ["ruff", "pylint", "gcc", "tsc", "mypy", "rustc", "eslint", "eslint in part", "flutter", "dart"];

/// What an agent says about its task does not say which entries of a listing it is about to read.
#[test]
fn an_overheard_goal_keeps_every_match_and_finding() {
    let goals = [
        "Let me read the whole output. lint.txt Task: clean up the imports of the settings page",
        "Now check what uses it. parse_header Task: make the parser faster",
    ];
    let is_finding =
        |line: &str| ["imported but", "Comparison to", "Magic value"].iter().any(|part| line.contains(part));
    for goal in goals {
        for form in FINDINGS {
            check(form, &findings(form), goal, is_finding, 0.0);
        }
        for form in ["plain", "grouped", "column", "context"] {
            check(form, &results(form), goal, |line| line.contains("let value"), 0.0);
        }
    }
}

#[test]
fn all_findings_of_a_rule_stay() {
    for form in FINDINGS {
        let text = findings(form);
        let is_head = |line: &str| line.contains("imported but unused");
        if form == "gcc" {
            check(form, &text, "fix all -Wno-unused-vars warnings", is_head, 0.3);
        } else {
            // The contract protects lines with the word `error`.
            let least = if matches!(form, "tsc" | "mypy") { 0.0 } else { 0.3 };
            check(form, &text, "Fix all the F401 findings", is_head, least);
        }
        check(form, &text, "how many places import something that is unused?", is_head, 0.0);
        for goal in ["fix every finding", "review the findings", "list all of them"] {
            check(
                form,
                &text,
                goal,
                |line| {
                    ["imported but", "Comparison to", "Magic value"].iter().any(|part| line.contains(part))
                },
                0.0,
            );
        }
    }
}

#[test]
fn a_row_keeps_its_column_names() {
    let mut table =
        "NAMESPACE     NAME                  READY   STATUS             RESTARTS   AGE\n".to_owned();
    for number in 0..40 {
        let status = if number == 17 { "CrashLoopBackOff" } else { "Running" };
        let _ =
            writeln!(table, "kube-system   worker-{number:<14} 1/1     {status:<18} {number}          3d");
    }
    check(
        "kubectl",
        &table,
        "is worker-23 running?",
        |line| line.contains("worker-23 ") || line.contains("RESTARTS"),
        0.6,
    );
    for goal in ["which pods are not running?", "list all pods", "why is the service slow?", ""] {
        check("kubectl", &table, goal, |line| line.contains("worker-") || line.contains("RESTARTS"), 0.0);
    }
}

#[test]
fn parts_of_a_mixture_are_read_each_in_its_form() {
    let text = format!(
        "$ git grep -n -e parse_header -e write_footer\n{}\n$ ls -lR project\n{}\n$ git log\n{}",
        results("plain"),
        files("ls -lR"),
        history("default")
    );
    check("mixture", &text, "rename parse_header everywhere", |line| line.contains("parse_header"), 0.05);
    check(
        "mixture",
        &text,
        "find the file module_7_3.txt",
        |line| line.contains("module_7_3") || line.ends_with("part_7:"),
        0.2,
    );
    check(
        "mixture",
        &text,
        "summarise all of this",
        |line| line.contains("module_") || line.contains("_header") || line.starts_with("commit "),
        0.0,
    );
}

#[test]
fn a_higher_threshold_keeps_no_more_of_a_listing() {
    let texts = [results("context"), diff("git"), history("stat"), files("tree"), findings("gcc")];
    for text in &texts {
        for goal in [
            "rename parse_header",
            "review all",
            "module_7_3.txt",
            "latest three",
            "Let me look. Task: fix F401",
        ] {
            let mut before: Option<Vec<bool>> = None;
            for threshold in [0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9, 0.98, 1.0] {
                let kept = kept_at(text, goal, threshold);
                if let Some(before) = &before {
                    assert!(
                        before.iter().zip(&kept).all(|(before, kept)| *before || !kept),
                        "{goal:?} {threshold}"
                    );
                }
                before = Some(kept);
            }
        }
    }
}
