//! Questions about a log that are not about failures: what they name stays, whole, and much of the rest goes.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use tamis_prune::{Cut, EngineRequest, PruneLimits, prune};
use tamis_text::TextKind;

/// The lines that stay.
fn kept(text: &str, goal: &str) -> Vec<usize> {
    let limits = PruneLimits { threshold: 0.5, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 };
    let marker_bytes = &|_: &Cut| 100;
    let request =
        EngineRequest { text, goal, kind: TextKind::detect(text), limits, marker_bytes, shown: &[] };
    assert_eq!(request.kind, TextKind::Logs);
    let mut kept = vec![true; text.split('\n').count()];
    for cut in prune(&request, &|| false).unwrap().cuts {
        kept[cut.first_line - 1..cut.last_line].fill(false);
    }
    (0..kept.len()).filter(|&line| kept[line]).collect()
}

/// A day of a shop: requests of four users, jobs, connections and a backup.
fn shop() -> Vec<String> {
    let mut lines = Vec::new();
    for number in 0..600 {
        let (hour, minute, second) = (8 + number / 60, number % 60, number * 7 % 60);
        let at = format!("2026-11-17 {hour:02}:{minute:02}:{second:02}");
        let user = ["ann", "bob", "eve", "zoe"][number * 7 / 3 % 4];
        lines.push(match number % 30 {
            3 => {
                format!("{at} INFO pool: accepted 10.0.3.{}:52{number:03} as session s-{number}", number % 7)
            }
            9 => format!("{at} INFO pool: session s-{} closed by peer", number - 6),
            14 => format!("{at} INFO mail: order {} delivered to {user}", 4000 + number),
            20 if number == 320 => format!("{at} INFO store: snapshot of 812 MiB written in 4 s"),
            25 => format!("{at} INFO auth: password of {user} accepted, device d-{}", number / 30),
            _ => format!(
                "{at} INFO web: GET /items/{number} by worker {} in {} ms",
                number % 5,
                number * 13 % 90
            ),
        });
    }
    lines
}

#[test]
fn what_a_question_names_stays_in_a_log() {
    let lines = shop();
    let text = lines.join("\n");
    let with =
        |part: &str| -> Vec<usize> { (0..lines.len()).filter(|&line| lines[line].contains(part)).collect() };
    let within = |from: &str, to: &str| -> Vec<usize> {
        (0..lines.len()).filter(|&line| &lines[line][11..16] >= from && &lines[line][11..16] <= to).collect()
    };
    for (goal, wanted, most) in [
        // Names as they are spelled.
        ("what did s-303 do", with("s-303"), 300),
        ("show every line about 10.0.3.3", with("10.0.3.3:"), 300),
        ("all lines of worker 3", with("worker 3 "), 350),
        ("wer ist d-7?", with("d-7"), 300),
        ("was order 4074 delivered?", with("4074"), 300),
        // Times.
        ("what happened between 9:10 and 9:20", within("09:10", "09:20"), 300),
        ("was geschah zwischen 9 und 10 Uhr?", within("09:00", "10:59"), 400),
        ("que s'est-il passé entre 9h10 et 9h20 ?", within("09:10", "09:20"), 300),
        ("everything from 17:50 on", within("17:50", "23:59"), 300),
        ("what was logged in the last 15 minutes", within("17:45", "23:59"), 300),
        ("show me 17 November between 2 and 3 pm", within("14:00", "15:59"), 400),
        ("anything at 11:05?", within("11:04", "11:06"), 300),
        ("what came before 8:20 am", within("08:00", "08:20"), 300),
        // Events, in other words than the log's.
        ("when did someone connect", with("accepted 10."), 400),
        ("when did clients connect", with("accepted 10."), 600),
        ("when did somebody disconnect", with("closed by peer"), 400),
        ("which orders were sent out by mail", with("mail: order"), 400),
        ("when was the snapshot saved", with("snapshot"), 300),
        ("who logged in with a password", with("password of"), 400),
        ("how long did the snapshot take", with("snapshot"), 600),
        ("wann wurde ein snapshot geschrieben", with("snapshot"), 600),
        // One word is not there, so nothing is known.
        ("which of the frobnications were quux", (0..lines.len()).collect(), 600),
    ] {
        let kept = kept(&text, goal);
        assert!(!wanted.is_empty(), "{goal}");
        let lost: Vec<&String> =
            wanted.iter().filter(|line| !kept.contains(line)).map(|&line| &lines[line]).collect();
        assert!(
            lost.is_empty(),
            "{goal}: lost {} of {}, the first is {:?}",
            lost.len(),
            wanted.len(),
            lost[0]
        );
        assert!(kept.len() <= most, "{goal}: {} of {} stay", kept.len(), lines.len());
    }
}

#[test]
fn times_are_found_in_whatever_form_a_log_writes_them() {
    type Stamp = fn(u32) -> String;
    let forms: [(&str, Stamp); 6] = [
        ("12-hour clock", |minute| {
            let hour = 8 + minute / 60;
            format!("{}:{:02}:00 {}", (hour + 11) % 12 + 1, minute % 60, if hour < 12 { "AM" } else { "PM" })
        }),
        ("seconds since 1970", |minute| format!("{}.042", 1_794_902_400 + 60 * minute)),
        ("month first", |minute| format!("Nov 17 {:02}:{:02}:00 host app[7]:", 8 + minute / 60, minute % 60)),
        ("in brackets", |minute| {
            format!("[Tue Nov 17 {:02}:{:02}:00 2026] [notice]", 8 + minute / 60, minute % 60)
        }),
        ("without signs", |minute| format!("261117 {:02}{:02}00 12 INFO", 8 + minute / 60, minute % 60)),
        ("letter of the level", |minute| {
            format!("I1117 {:02}:{:02}:00.123456 7 a.cc:3]", 8 + minute / 60, minute % 60)
        }),
    ];
    for (form, stamp) in forms {
        let lines: Vec<String> = (0..400)
            .map(|minute| {
                format!("{} took item {} from shelf {}", stamp(minute), minute * 31 % 997, minute % 13)
            })
            .collect();
        let text = lines.join("\n");
        for (goal, from, to) in [
            ("what happened between 1:10 and 1:20 pm", 310, 320),
            ("what went on from ten past one to twenty past one pm?", 310, 320),
            ("que s'est-il passé entre 13h10 et 13h20 ?", 310, 320),
            ("everything in the last 20 minutes", 379, 399),
            ("what came before half past eight am", 0, 30),
        ] {
            let kept = kept(&text, goal);
            let lost: Vec<usize> = (from..=to).filter(|line| !kept.contains(line)).collect();
            assert!(lost.is_empty(), "{form}: {goal}: lost {lost:?}");
            assert!(kept.len() < 60, "{form}: {goal}: {} stay", kept.len());
        }
    }
}

#[test]
fn lines_without_a_time_are_of_the_message_above() {
    let mut lines: Vec<String> = Vec::new();
    for number in 0..200 {
        lines.push(format!(
            "[2026-11-17 10:{:02}:{:02}] app.INFO: job {number} took a while",
            number / 4,
            number % 4 * 15
        ));
        if number == 77 {
            lines.extend([
                "    tried: a".to_owned(),
                "    tried: b".to_owned(),
                "    gave: job-result-c".to_owned(),
            ]);
        }
    }
    let text = lines.join("\n");
    let of_job: Vec<usize> = (77..81).collect();
    for goal in ["what did job 77 do?", "what happened at 10:19:15"] {
        let kept = kept(&text, goal);
        assert!(of_job.iter().all(|line| kept.contains(line)), "{goal}: {kept:?}");
        assert!(kept.len() < 120, "{goal}: {} stay", kept.len());
    }
}

/// Questions whose answer is not in the lines of what they name. Each is asked of a log of a day.
#[test]
fn what_a_question_relates_or_excludes_stays() {
    let lines = shop();
    let text = lines.join("\n");
    let all: Vec<usize> = (0..lines.len()).collect();
    for goal in [
        "show everything except between 09:00 and 10:00",
        "show all lines that are not about 10.0.3.3",
        "zeige alles außer 10.0.3.3",
        "montre tout sauf 10.0.3.3",
        "what happened outside 09:00 to 17:00",
        "show everything up to 12:30",
        "everything 12:30 onwards",
        "todo a partir de las 12:30",
        "the ten minutes following 12:30",
        "the last ten minutes before the snapshot",
        "what happened after s-303 was accepted",
        "show 20 lines around s-303",
        "comment les temps ont évolué depuis d-7",
        "did d-7 make it slower",
        "what did 10.0.3.3 do and what did the workers do meanwhile",
        "what happened between 10:00 and 11:00, and how does that compare to the rest of the day",
        "everything since Monday",
        "what ran in the morning and in the evening",
    ] {
        assert_eq!(kept(&text, goal), all, "{goal}");
    }
    // A question for a cause does not cut what is not of its time.
    let mut lines = lines;
    lines[300] = "2026-11-17 13:00:30 WARN disk: /var is 97% full, 210 MiB left".to_owned();
    lines[330] = "2026-11-17 13:30:30 ERROR store: cannot write segment, shutting down".to_owned();
    let text = lines.join("\n");
    for goal in [
        "why did the store crash at 13:30?",
        "warum ist der store um 13:30 abgestürzt",
        "find the root cause of the 13:30 outage",
    ] {
        let kept = kept(&text, goal);
        assert!(kept.contains(&300) && kept.contains(&330), "{goal}");
    }
}

#[test]
fn a_question_for_a_failure_may_say_not() {
    let mut lines: Vec<String> = (0..400).map(|number| format!("test suite::case_{number} ... ok")).collect();
    lines.push("test suite::case_retry ... FAILED".to_owned());
    lines.push("thread 'suite::case_retry' panicked at src/lib.rs:3:5:".to_owned());
    lines.push("assertion `left == right` failed".to_owned());
    let text = lines.join("\n");
    for goal in
        ["why does case_retry not pass?", "case_retry doesn't pass, why", "warum läuft case_retry nicht?"]
    {
        let kept = kept(&text, goal);
        assert!((400..403).all(|line| kept.contains(&line)), "{goal}");
        assert!(kept.len() < 50, "{goal}: {} stay", kept.len());
    }
}
