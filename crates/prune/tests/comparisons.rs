//! Questions that compare: whatever form a table or a log has, the record that answers stays.

use tamis_prune::{Cut, EngineRequest, PruneLimits, prune};
use tamis_text::TextKind;

const ROWS: usize = 250;
const ANSWER: usize = ROWS * 3 / 5;

fn kept_lines(text: &str, goal: &str, kind: TextKind) -> Vec<String> {
    let limits = PruneLimits { threshold: 0.5, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 };
    let marker_bytes = &|_: &Cut| 40;
    let request = EngineRequest { text, goal, kind, limits, marker_bytes, shown: &[] };
    let verdict = prune(&request, &|| false).expect("nothing interrupts");
    let mut kept = vec![true; text.split('\n').count()];
    for cut in &verdict.cuts {
        kept[cut.first_line - 1..cut.last_line].fill(false);
    }
    text.split('\n').zip(kept).filter(|(_, kept)| *kept).map(|(line, _)| line.to_owned()).collect()
}

/// Numbers without a pattern, the same in every run.
fn value(row: usize, least: usize, most: usize) -> usize {
    least + (row * 7_919 + row * row * 104_729) % (most - least)
}

/// A table of users in one form, with one row of a special balance.
fn table(form: &str, balance: &str) -> String {
    let names = ["id", "name", "balance", "plan"];
    let row = |number: usize| {
        let amount = value(number, 100, 900).to_string();
        let amount = if number == ANSWER { balance.to_owned() } else { amount };
        let name = if number == ANSWER { "userzz".to_owned() } else { format!("user{number}") };
        [number.to_string(), name, amount, "free".to_owned()]
    };
    let joined = |sign: &str| {
        let rows = (0..ROWS).map(|number| row(number).join(sign));
        [names.join(sign)].into_iter().chain(rows).collect::<Vec<_>>().join("\n") + "\n"
    };
    let padded = |cells: [String; 4]| {
        let [id, name, amount, plan] = cells;
        (id, name, amount, plan)
    };
    let rows = |line: &dyn Fn(usize) -> String| (0..ROWS).map(line).collect::<String>();
    match form {
        "psql" => {
            let rows = rows(&|number| {
                let (id, name, amount, plan) = padded(row(number));
                format!(" {id:<3} | {name:<8} | {amount:>7} | {plan}\n")
            });
            format!(
                " id  |   name   | balance | plan\n-----+----------+---------+------\n{rows}({ROWS} rows)\n"
            )
        }
        "mysql" => {
            let rule = "+-----+----------+---------+------+\n";
            let rows = rows(&|number| {
                let (id, name, amount, plan) = padded(row(number));
                format!("| {id:>3} | {name:<8} | {amount:>7} | {plan} |\n")
            });
            format!(
                "{rule}| id  | name     | balance | plan |\n{rule}{rows}{rule}{ROWS} rows in set (0.00 sec)\n"
            )
        }
        "box" => {
            let rows = rows(&|number| {
                let (id, name, amount, plan) = padded(row(number));
                format!("│ {id:>3} │ {name:<8} │ {amount:>7} │ {plan} │\n")
            });
            format!(
                "┌─────┬──────────┬─────────┬──────┐\n│ id  │ name     │ balance │ plan │\n├─────┼──────────┼─────────┼──────┤\n{rows}└─────┴──────────┴─────────┴──────┘\n"
            )
        }
        "markdown" => {
            let rows = rows(&|number| format!("| {} |\n", row(number).join(" | ")));
            format!("| id | name | balance | plan |\n| --- | --- | --- | --- |\n{rows}")
        }
        "tsv" => joined("\t"),
        "csv" => joined(","),
        "semicolons" => joined(";"),
        "columns" | "kubectl" => {
            let rows = rows(&|number| {
                let (id, name, amount, plan) = padded(row(number));
                format!("{id:<6}{name:<12}{amount:<12}{plan}\n")
            });
            let head = format!("{:<6}{:<12}{:<12}{}\n", names[0], names[1], names[2], names[3]);
            if form == "kubectl" { head.to_uppercase() + &rows } else { head + &rows }
        }
        _ => unreachable!("{form}"),
    }
}

const FORMS: [&str; 9] =
    ["psql", "mysql", "box", "markdown", "tsv", "csv", "semicolons", "columns", "kubectl"];

#[test]
fn the_row_that_a_comparison_asks_for_stays_in_tables_of_every_form() {
    let questions = [
        (
            "-5120",
            &[
                "which user has a negative balance",
                "which balance is below zero",
                "whose balance is less than 0",
                "who owes money",
                "find the accounts that are overdrawn",
                "which user has the lowest balance",
            ][..],
        ),
        (
            "99120",
            &[
                "which user has the highest balance",
                "which user has the most money",
                "highest number in balance",
                "whose balance is above 1000",
                "who has more than 5000",
                "balance > 5000",
                "quel utilisateur a le plus gros solde",
                "welcher Benutzer hat den höchsten Kontostand",
                "qué usuario tiene el mayor saldo",
            ],
        ),
        (
            "0",
            &[
                "which user has no balance",
                "which user has the smallest balance",
                "user with the least money",
                "which user has 0 balance",
                "fewest",
                "which user has the lowest balance?",
            ],
        ),
        ("", &["which user has no balance", "who is missing a balance", "user without a balance"]),
    ];
    let mut wrong = Vec::new();
    for form in FORMS {
        for (balance, goals) in questions {
            let text = table(form, balance);
            for goal in goals {
                for kind in [TextKind::detect(&text), TextKind::Logs] {
                    let kept = kept_lines(&text, goal, kind);
                    let has = |part: &str| kept.iter().any(|line| line.to_lowercase().contains(part));
                    if !has("userzz") || !has("balance") {
                        wrong.push(format!("{form}, {kind:?}, {balance:?}, {goal:?}: {} lines", kept.len()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_row_that_the_goal_names_still_selects() {
    for form in ["psql", "mysql", "columns"] {
        let text = table(form, "500");
        let kept = kept_lines(&text, "what is the balance of userzz", TextKind::Logs);
        assert!(kept.iter().any(|line| line.contains("userzz")), "{form}");
        if form != "kubectl" {
            assert!(kept.len() < ROWS, "{form}: {} lines stay", kept.len());
        }
    }
}

/// A log or a listing of one line per query or folder, with one special line.
fn log(line: impl Fn(usize) -> String, special: &str) -> String {
    (0..ROWS).map(|number| if number == ANSWER { special.to_owned() } else { line(number) } + "\n").collect()
}

#[test]
fn the_line_of_a_log_that_a_comparison_asks_for_stays() {
    let took = |number: usize| {
        let day = number % 28 + 1;
        format!(
            "2026-01-{day:02}T00:00:{:02}Z query {:06x} took {} ms",
            number % 60,
            number * 7_919,
            value(number, 300, 900)
        )
    };
    let json = |number: usize| {
        format!(
            "{{\"ts\":\"2026-01-01T00:00:{:02}Z\",\"path\":\"/p{number}\",\"ms\":{}}}",
            number % 60,
            value(number, 300, 900)
        )
    };
    let pod = |number: usize| {
        format!("app-{:09x}   {}m   {}Mi", number * 104_729, value(number, 10, 90), value(number, 20, 300))
    };
    let lag =
        |number: usize| format!("db{number:<10} {:>4}%  replica  lag {}s", value(number, 1, 50), number % 3);
    let folder = |number: usize| format!("{}M\t./data/dir{number}", value(number, 1, 900));
    let login = |number: usize| {
        format!("user{number:<6} {:>4} logins, last 2026-02-{:02}", value(number, 1, 50), number % 28 + 1)
    };
    let slow: &[&str] = &[
        "which query was the slowest",
        "which took the longest",
        "longest request",
        "worst response time",
        "what is the maximum duration",
        "requests over 800 ms",
        "which one took longer than 800 ms?",
    ];
    let fast: &[&str] = &[
        "which query was the fastest",
        "which query took the least time",
        "shortest request",
        "what is the minimum duration",
        "which one was quicker than 300 ms?",
    ];
    let cases: [(&str, String, &[&str]); 11] = [
        ("text, near", log(took, "2026-01-02T00:00:01Z query 00zz took 899 ms"), slow),
        ("text, far", log(took, "2026-01-02T00:00:01Z query 00zz took 91234 ms"), slow),
        ("text, fast", log(took, "2026-01-02T00:00:01Z query 00zz took 2 ms"), fast),
        ("json", log(json, "{\"ts\":\"2026-01-01T00:00:01Z\",\"path\":\"/zz\",\"ms\":899}"), slow),
        ("json, fast", log(json, "{\"ts\":\"2026-01-01T00:00:01Z\",\"path\":\"/zz\",\"ms\":2}"), fast),
        (
            "top",
            log(pod, "app-zz   89m   299Mi"),
            &[
                "which pod uses the most memory",
                "pod with the largest memory",
                "what is the highest CPU usage",
            ],
        ),
        (
            "lag",
            log(lag, "dbzz          12%  replica  lag 3401s"),
            &["which replica lags most", "which database has the highest lag"],
        ),
        (
            "du",
            log(folder, "812G\t./data/zz"),
            &[
                "which folder is the biggest",
                "which directory takes the most space",
                "largest folder",
                "welcher Ordner ist am größten",
            ],
        ),
        (
            "du -k",
            log(|number| format!("{}\t./data/dir{number}", value(number, 4, 9000)), "3\t./data/zz"),
            &["smallest folder", "which folder is smaller than 4"],
        ),
        (
            "logins",
            log(login, "userzz        0 logins, last never"),
            &["which user never logged in", "who has no logins", "fewest logins"],
        ),
        (
            "ls",
            format!(
                "total 99\n{}",
                log(
                    |number| format!(
                        "-rw-r--r-- 1 app app {} 2026-0{}-{:02} 10:00 file{number}.dat",
                        value(number, 1000, 9999),
                        number % 6 + 1,
                        number % 28 + 1
                    ),
                    "-rw-r--r-- 1 app app 4000 2019-01-01 10:00 filezz.dat"
                )
            ),
            &["which file is the oldest", "what is the oldest file"],
        ),
    ];
    let mut wrong = Vec::new();
    for (name, text, goals) in &cases {
        for goal in *goals {
            let kept = kept_lines(text, goal, TextKind::Logs);
            if !kept.iter().any(|line| line.contains("zz")) {
                wrong.push(format!("{name}: {goal:?}: {} lines", kept.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn values_of_json_over_several_lines_stay_for_a_comparison() {
    let user = |number: usize| {
        let (name, balance) = if number == ANSWER {
            ("userzz".to_owned(), 7)
        } else {
            (format!("user{number}"), value(number, 100, 900))
        };
        format!("  {{\n    \"name\": \"{name}\",\n    \"balance\": {balance},\n    \"plan\": \"free\"\n  }}")
    };
    let text = format!("[\n{}\n]\n", (0..ROWS).map(user).collect::<Vec<_>>().join(",\n"));
    for kind in [TextKind::Logs, TextKind::Code, TextKind::Docs] {
        let kept = kept_lines(&text, "which user has the lowest balance", kind);
        assert!(kept.iter().any(|line| line.contains("userzz")), "{kind:?}: {} lines", kept.len());
        assert!(kept.iter().any(|line| line.contains("\"balance\": 7,")), "{kind:?}: {} lines", kept.len());
    }
}

#[test]
fn a_log_is_cut_as_before_for_a_question_that_compares_nothing() {
    let text = log(
        |number| {
            format!("2026-01-01T00:00:{:02}Z poll {number} took {} ms", number % 60, value(number, 3, 90))
        },
        "2026-01-01T00:00:01Z the socket was closed by the peer",
    );
    for goal in ["why was the socket closed", "what is the most likely cause of the closed socket"] {
        let kept = kept_lines(&text, goal, TextKind::Logs);
        assert!(kept.len() < ROWS / 2, "{goal:?}: {} lines stay", kept.len());
    }
}
