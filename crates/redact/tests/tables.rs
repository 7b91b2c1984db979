//! How many secrets are found and how many look-alikes stay, on three tables: the one that the rules were made with, and
//! two that were not looked at then.

#![allow(clippy::print_stdout, reason = "the figures are useful when a test passes, too")]

#[path = "tables/fresh.rs"]
mod fresh;
#[path = "tables/held_out.rs"]
mod held_out;
#[path = "tables/known.rs"]
mod known;

use tamis_redact::Redactor;

/// At least 98 % of the secrets of a table are found, and at most 5 % of its look-alikes.
fn check(secrets: &[(&str, &str, &str, &str)], lookalikes: &[&str]) {
    assert!(secrets.len() >= 60 && lookalikes.len() >= 60);
    let redactor = Redactor::standard();
    let mut failures = Vec::new();
    let mut missed = 0;
    for (before, secret, after, label) in secrets {
        let redacted = redactor.redact(&format!("{before}{secret}{after}")).into_owned();
        missed += usize::from(redacted.replace(&format!("[redacted:{label}]"), "").contains(secret));
        let expected = format!("{before}[redacted:{label}]{after}");
        if redacted != expected {
            failures.push(format!("wanted {expected:?}\n   got {redacted:?}"));
        }
    }
    let mut alarms = 0;
    for text in lookalikes {
        let redacted = redactor.redact(text);
        if redacted != *text {
            alarms += 1;
            failures.push(format!("alarm  {text:?}\n   got {redacted:?}"));
        }
    }
    println!(
        "{missed} of {} secrets missed, {alarms} of {} look-alikes alarmed\n{}",
        secrets.len(),
        lookalikes.len(),
        failures.join("\n")
    );
    assert!(missed * 100 <= secrets.len() * 2, "{missed} missed");
    assert!(alarms * 100 <= lookalikes.len() * 5, "{alarms} alarms");
}

#[test]
fn secrets_that_the_rules_were_made_with() {
    check(known::SECRETS, known::LOOKALIKES);
}

#[test]
fn secrets_that_were_held_out() {
    check(held_out::SECRETS, held_out::LOOKALIKES);
}

#[test]
fn secrets_that_were_written_afterwards() {
    check(fresh::SECRETS, fresh::LOOKALIKES);
}
