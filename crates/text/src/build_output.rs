//! Recognises the output of builds and test runners, line by line.
//!
//! Such output quotes source code. When the kind of a text is detected, lines that only a tool writes must therefore
//! outweigh the quoted source.

/// Prefixes of lines that only a build or a test runner writes.
#[rustfmt::skip]
const SIGNATURES: &[&str] = &[
    "test result: ", "collecting ... ", "platform linux -- Python", "platform darwin -- Python", "platform win32 -- Python",
    "npm ERR!", "npm error ", "error: could not compile", "error: aborting due to", "make: ***", "ninja: ", "FAILED (failures=",
    "Test Files  ", "Test Suites: ", "BUILD FAILURE", "BUILD FAILED", "BUILD SUCCESSFUL", "[INFO] BUILD ", "ELIFECYCLE",
    "Traceback (most recent call last):", "--- FAIL: ", "=== RUN ", "collect2: error",
    "CMake Error", "-- The C compiler", "-- Configuring done", "The following tests FAILED",
];

/// Prefixes of lines that builds and test runners write often, and other texts rarely.
#[rustfmt::skip]
const STARTS: &[&str] = &[
    "Compiling ", "Checking ", "Downloading ", "Downloaded ", "Finished ", "Running ", "Building ", "Linking ", "Updating ", "Locking ",
    "Collecting ", "Installing ", "Doc-tests ", "failures:", "successes:", "passed", "PASSED", "FAILED", "SKIPPED", "ERROR ", "PASS ", "FAIL ",
    "✓ ", "✔ ", "✗ ", "✖ ", "× ", "❯ ", "√ ", "ok ", "not ok ", "gcc ", "cc ", "c++ ", "g++ ", "clang ", "ar ", "ranlib ", "ld ", "rm -f ",
    "CC ", "LD ", "AR ", "E   ", "> ", "--> ", "::: ", "= note:", "= help:", "note:", "help:", "Entering directory", "Leaving directory",
    "Start ", "stack backtrace:", "note: run with", "Requirement already satisfied", "Using cached ", "Attempting uninstall:", "Created wheel for ",
    "Stored in directory: ", "checking for ", "checking whether ", "checking how ", "checking if ", "configure: ", "config.status: ", "# Subtest: ",
    "Selecting previously unselected ", "Preparing to unpack ", "Processing triggers ", "Reading package lists", "Adding system ",
    "TASK [", "PLAY [", "changed: [", "skipping: [", "fatal: [",
    "debug1: ", "debug2: ", "debug3: ",
];

/// Suffixes of summary lines of test runners. Suffixes of lines about one test are in `GOOD_ENDS` and `BAD_ENDS`.
const OTHER_ENDS: &[&str] = &[" failing", " pending", "***Failed"];

/// Prefixes of lines about a test that passed or was skipped, or a step that began.
#[rustfmt::skip]
const GOOD_STARTS: &[&str] = &[
    "✓ ", "✔ ", "√ ", "ok ", "--- PASS", "--- SKIP", "=== RUN", "=== PAUSE", "=== CONT", "=== NAME", "Compiling ", "Checking ",
    "Downloading ", "Downloaded ", "Collecting ", "Installing ", "Building ", "Fresh ", "ok\t", "?   \t", "Requirement already satisfied",
    "# Subtest: ", "[ RUN      ]", "[       OK ]", "[  PASSED  ]", "(pass) ", "(skip) ", "[INFO] Running ",
];

/// Suffixes of lines about a test that passed or was skipped.
const GOOD_ENDS: &[&str] = &[
    " ... ok",
    " ... ignored",
    " ... skipped",
    " ... SKIPPED",
    " PASSED",
    " SKIPPED",
    " XFAIL",
    " passing",
    " Passed",
];

/// Prefixes of lines about a test that failed, or that show where and why, as pytest does.
const BAD_STARTS: &[&str] = &[
    "✗ ", "✖ ", "× ", "✕ ", "X ", "● ", "not ok ", "--- FAIL", "FAIL: ", "FAIL ", "FAIL\t", "FAILED ",
    "ERROR: ", "ERROR ", "E   ", ">   ",
];

/// Suffixes of lines about a test that failed.
const BAD_ENDS: &[&str] = &[" ... FAILED", " ... FAIL", " ... ERROR", " FAILED", " ERROR"];

/// The result of a test or a build step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// It passed, began or was skipped.
    Passed,
    Failed,
}

/// The result that the line reports, if it reports one.
pub fn step_outcome(line: &str) -> Option<StepOutcome> {
    let line = line.trim();
    let begins = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    let verdict = before_duration(before_share(line));
    let ends = |ends: &[&str]| ends.iter().any(|end| verdict.ends_with(end));
    if begins(BAD_STARTS) || ends(BAD_ENDS) || line.contains("***Failed") {
        Some(StepOutcome::Failed)
    } else if begins(GOOD_STARTS)
        || ends(GOOD_ENDS)
        || is_pass(line)
        || is_timed_pass(line)
        || is_pass_of_platform(line)
        || is_tap_plan(line)
    {
        Some(StepOutcome::Passed)
    } else {
        None
    }
}

/// `PASS src/a.test.js`, `PASSED tests/a.py`, and not `PASSWORD …`.
fn is_pass(line: &str) -> bool {
    line.strip_prefix("PASS")
        .map(|rest| rest.strip_prefix("ED").unwrap_or(rest))
        .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
}

/// `3/9 Test #3: name ....   Passed    0.01 sec`, as CTest writes it.
fn is_timed_pass(line: &str) -> bool {
    line.ends_with(" sec") && line.contains(" Passed ")
}

/// Forms of the test runners of Bazel, .NET, Swift, Maven and Flutter.
fn is_pass_of_platform(line: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // `//shop:cart_test   PASSED in 0.3s`
    let of_bazel = line.starts_with("//") && line.contains(" PASSED in ");
    // `Passed Shop.CartTests.Adds [12 ms]`
    let of_dotnet = (line.starts_with("Passed ") || line.starts_with("Skipped "))
        && line.ends_with("s]")
        && line.split(' ').nth(1).is_some_and(|name| name.contains('.'));
    // `Test Case '-[Shop.CartTests testAdds]' passed (0.001 seconds).`
    let of_swift = (line.starts_with("Test Case '") || line.starts_with("Test Suite '"))
        && (line.contains("' passed (") || line.contains("' passed at ") || line.contains("' started"));
    // `[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in shop.CartTest`
    let of_maven = line.starts_with("[INFO] Tests run: ")
        && line.contains("Failures: 0, Errors: 0")
        && line.contains("Time elapsed");
    // `00:05 +12: test/cart_test.dart: adds`, and `+12 -1` where one failed.
    let of_flutter = || {
        let (time, rest) = line.split_once(" +")?;
        let (minutes, seconds) = time.split_once(':')?;
        let (passed, name) = rest.split_once(": ")?;
        let is_passed = is_number(minutes) && is_number(seconds) && is_number(passed.split(" ~").next()?);
        Some(is_passed && name.contains(".dart") && !name.ends_with("[E]"))
    };
    // `CartTest#test_adds = 0.00 s = .`
    let of_minitest = line.ends_with(" s = .") && line.contains("#test_");
    of_bazel || of_dotnet || of_swift || of_maven || of_minitest || of_flutter().unwrap_or(false)
}

/// `1..12`: how many results follow.
fn is_tap_plan(line: &str) -> bool {
    line.strip_prefix("1..")
        .is_some_and(|count| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The results that lines report. What a runner says about a test that passed, such as how long it took, is part of its result.
pub fn step_outcomes(lines: &[&str]) -> Vec<Option<StepOutcome>> {
    let mut outcomes: Vec<Option<StepOutcome>> = lines.iter().map(|line| step_outcome(line)).collect();
    for at in 0..lines.len() {
        if outcomes[at] != Some(StepOutcome::Passed) || !lines[at].trim_start().starts_with("ok ") {
            continue;
        }
        let details = lines[at + 1..].iter().take(MOST_DETAILS);
        let end = details
            .clone()
            .position(|line| line.trim() == "...")
            .filter(|_| details.clone().next().is_some_and(|line| line.trim() == "---"));
        if let Some(end) = end
            && !outcomes[at + 1..=at + 1 + end].contains(&Some(StepOutcome::Failed))
        {
            outcomes[at + 1..=at + 1 + end].fill(Some(StepOutcome::Passed));
        }
    }
    outcomes
}

/// Lines between `---` and `...` behind a result of the Test Anything Protocol.
const MOST_DETAILS: usize = 40;

/// Whether the line is a separator, such as `=====`, or a title between two of them.
pub fn is_separator_line(line: &str) -> bool {
    let line = line.trim();
    ["====", "____", "----", "⎯⎯⎯⎯", "━━━━", "────", "****", "####"].iter().any(|mark| line.starts_with(mark))
}

/// Whether only a build or a test runner writes such a line.
pub(crate) fn is_signature(trimmed: &str) -> bool {
    SIGNATURES.iter().any(|start| trimmed.starts_with(start))
        || is_rule(trimmed)
        || (trimmed.starts_with("running ") && trimmed.ends_with(" tests"))
        || (trimmed.starts_with("Ran ") && trimmed.contains(" tests in "))
        || (trimmed.starts_with("collected ") && trimmed.contains(" item"))
        || (trimmed.starts_with("> ") && trimmed.contains('@') && trimmed.split(' ').count() == 3)
        || is_share_built(trimmed)
}

/// Whether builds and test runners often write such a line.
pub(crate) fn is_tool_line(trimmed: &str) -> bool {
    STARTS.iter().any(|start| trimmed.starts_with(start))
        || ends_with_verdict(trimmed)
        || is_quoted_source(trimmed)
        || is_shell_of_make(trimmed)
        || is_statement_of_mysql(trimmed)
        || is_step_of_apt(trimmed)
}

/// `===== FAILURES =====`, `______ test_name ______`.
fn is_rule(line: &str) -> bool {
    let ruled = |mark: &str| {
        line.len() > 24 && line.starts_with(mark) && line.ends_with(&mark[..3]) && line.contains(' ')
    };
    ruled("=====") || ruled("_____")
}

/// `[ 42%] Building C object …`, as CMake writes it.
fn is_share_built(line: &str) -> bool {
    line.strip_prefix('[')
        .and_then(|rest| rest.split_once("%] "))
        .is_some_and(|(share, _)| share.len() <= 3 && share.trim().bytes().all(|byte| byte.is_ascii_digit()))
}

/// `tests/test_x.py::test_y PASSED [ 12%]`, `test a::b ... ok`.
fn ends_with_verdict(line: &str) -> bool {
    let line = before_share(line);
    [GOOD_ENDS, BAD_ENDS, OTHER_ENDS].iter().any(|ends| ends.iter().any(|end| line.ends_with(end)))
}

/// The line without pytest's progress at its end: ` [ 12%]`.
fn before_share(line: &str) -> &str {
    match line.rsplit_once(" [") {
        Some((before, share)) if share.ends_with("%]") => before.trim_end(),
        _ => line,
    }
}

/// The line without the time that a test took, at its end: ` (12ms)`, ` (0.01s)`, ` [0.1ms]`.
fn before_duration(line: &str) -> &str {
    let is_duration = |text: &str| {
        let end = text.trim_end_matches([')', ']']);
        end.len() < text.len()
            && end.ends_with('s')
            && end.starts_with(|first: char| first.is_ascii_digit())
            && end.len() <= 12
    };
    match line.rsplit_once(['(', '[']) {
        Some((before, duration)) if before.ends_with(' ') && is_duration(duration) => before.trim_end(),
        _ => line,
    }
}

/// `12 |     let x = 1;` and `   |     ^^^^`, as compilers quote source.
pub fn is_quoted_source(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.trim_start().starts_with("| ")
        || line.starts_with("| ") && line.contains('^')
}

/// `make[2]: Entering directory`, `libtool: compile:`.
fn is_shell_of_make(line: &str) -> bool {
    ["make[", "libtool: ", "ninja: "].iter().any(|start| line.starts_with(start))
}

/// `Get:1 http://…`, `Unpacking libc6:amd64 (2.36-9) ...`
fn is_step_of_apt(line: &str) -> bool {
    let behind = |starts: [&str; 3]| starts.iter().find_map(|start| line.strip_prefix(start));
    behind(["Get:", "Hit:", "Ign:"])
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        || behind(["Unpacking ", "Setting up ", "Removing "])
            .is_some_and(|rest| rest.contains(" (") && rest.ends_with("..."))
}

/// `17 Query\tselect 1`, as MySQL's general log writes behind its times.
fn is_statement_of_mysql(line: &str) -> bool {
    let text = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    text.len() < line.len()
        && [" Query\t", " Connect\t", " Quit\t", " Execute\t", " Prepare\t", " Init DB\t"]
            .iter()
            .any(|command| text.starts_with(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_only_a_tool_writes_are_recognised() {
        for line in [
            "============================= test session starts ==============================",
            "________________________________ test_parse ________________________________",
            "running 12 tests",
            "Ran 7 tests in 0.003s",
            "[ 42%] Building C object a.o",
            "> name@1.0.0 test",
        ] {
            assert!(is_signature(line), "{line}");
        }
        for line in ["====", "_____ x", "running water", "[a%] b", "> quoted", "fn main() {"] {
            assert!(!is_signature(line), "{line}");
        }
    }

    #[test]
    fn results_are_read_from_lines() {
        for line in [
            "tests/test_a.py::test_error_b PASSED [ 12%]",
            "test a::panics ... ok",
            "--- PASS: TestFailure (0.00s)",
            "=== RUN   TestErrors",
            "  ✔ should answer with an error (12ms)",
            "ok 12 - throws",
            " 3/9 Test #3: api_tests ........   Passed    0.01 sec",
            "   Compiling error-chain v0.12.4",
            "# Subtest: adds",
            "    1..12",
            "[ RUN      ] Cart.Adds",
            "[       OK ] Cart.Adds (0 ms)",
            "(pass) cart > adds [0.12ms]",
            "cart adds ... ok (5ms)",
            "CartTest#test_adds = 0.00 s = .",
            "CartTest > adds PASSED",
            "//shop:cart_test                 PASSED in 0.3s",
            "  Passed Shop.CartTests.Adds [12 ms]",
            "Test Case '-[Shop.CartTests testAdds]' started.",
            "Test Case '-[Shop.CartTests testAdds]' passed (0.001 seconds).",
            "[INFO] Running shop.CartTest",
            "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in shop.CartTest",
            "00:05 +12: test/cart_test.dart: adds",
            "        PASS [   0.005s] shop cart::adds",
            "  ✓  1 [chromium] › cart.spec.ts:3:1 › adds (1.2s)",
            " ✓ src/cart.test.ts (5 tests) 12ms",
            "PASS",
            "PASS src/a.test.js",
            "PASS: a",
            "PASSED",
        ] {
            assert_eq!(step_outcome(line), Some(StepOutcome::Passed), "{line}");
        }
        for line in [
            "tests/test_a.py::test_b FAILED [ 12%]",
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "test a::b ... FAILED",
            "    --- FAIL: TestB/one (0.00s)",
            "not ok 3 - adds",
            "E       assert 1 == 2",
            ">       assert add(1, 1) == 2",
            "FAIL\texample.com/pkg\t0.01s",
            " 4/9 Test #4: parse ....***Failed    0.01 sec",
        ] {
            assert_eq!(step_outcome(line), Some(StepOutcome::Failed), "{line}");
        }
        for line in [
            "PASSWORD check failed",
            "PASS_THROUGH is off",
            "error: it broke",
            "    assert ok",
            "passed over",
            "# tests 5",
            "# fail 0",
            "1..",
            "[INFO] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in shop.CartTest",
            "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
            "00:05 +12 -1: test/cart_test.dart: adds [E]",
            "00:05 +12 -1: Some tests failed.",
            "Passed on to the next one [1]",
            "Skipped upload took [3 s]",
            "HTTP status: OK",
            "09:00 +0200: server 0 served request 0",
            "Test Case '-[Shop.CartTests testAdds]' failed (0.001 seconds).",
            "thread 'a' panicked at src/lib.rs:3:5:",
            "",
        ] {
            assert_eq!(step_outcome(line), None, "{line}");
        }
    }

    #[test]
    fn what_is_said_about_a_passed_test_is_part_of_its_result() {
        let lines = [
            "# Subtest: adds",
            "    ok 1 - one",
            "      ---",
            "      duration_ms: 0.7",
            "      ...",
            "    not ok 2 - two",
            "      ---",
            "      duration_ms: 0.7",
            "      ...",
            "ok 3 - not closed",
            "  ---",
            "  duration_ms: 0.7",
        ];
        let passed: Vec<usize> = step_outcomes(&lines)
            .iter()
            .enumerate()
            .filter(|(_, outcome)| **outcome == Some(StepOutcome::Passed))
            .map(|(line, _)| line)
            .collect();
        assert_eq!(passed, [0, 1, 2, 3, 4, 9]);
    }

    #[test]
    fn lines_of_tools_are_recognised() {
        for line in [
            "tests/test_a.py::test_b PASSED [ 12%]",
            "test a::b ... ok",
            "12 |     let x = 1;",
            "✓ adds",
            "checking for gcc... gcc",
            "Setting up libc6:amd64 (2.36-9) ...",
            "gcc -DHAVE_CONFIG_H -I. -c -o a.o a.c",
        ] {
            assert!(is_tool_line(line), "{line}");
        }
        for line in ["let x = 1;", "a | b", "return ok"] {
            assert!(!is_tool_line(line), "{line}");
        }
    }
}
