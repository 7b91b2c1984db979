//! Protected lines of each kind of text. `!` at the start of a line marks one that must stay.

use tamis_prune::{PlainText, TextAnalysis};
use tamis_text::TextKind;

#[test]
fn a_signature_stays_whole_by_default_with_its_decorators() {
    let body = "        value = step(value)\n".repeat(40);
    let signature = "@cached\ndef load(\n    path: str,\n    limit: int,\n) -> str:\n";
    let text = format!("{signature}{body}    return value\n");
    let view = PlainText::of(&text);
    let analysis = TextAnalysis::read(&view, "where is the socket closed", TextKind::Code, &|| false)
        .expect("nothing interrupts");
    assert!(analysis.scores()[..5].iter().all(|&score| score >= tamis_prune::DEFAULT_THRESHOLD));
}

fn check(kind: TextKind, marked: &str) {
    let text: String =
        marked.lines().map(|line| format!("{}\n", line.strip_prefix('!').unwrap_or(line))).collect();
    let expected: Vec<bool> = marked.lines().map(|line| line.starts_with('!')).chain([true]).collect();
    let view = PlainText::of(&text);
    let analysis = TextAnalysis::read(&view, "nothing of this", kind, &|| false).expect("nothing interrupts");
    let found = analysis.protected(0);
    for (number, line) in text.split('\n').enumerate() {
        assert_eq!(found[number], expected[number], "line {}: {line}\n{text}", number + 1);
    }
}

#[test]
fn python() {
    check(
        TextKind::Code,
        "!#!/usr/bin/env python3
!# A script.
!
!import os
!from typing import (
!    Any,
!)

LIMIT = 3

@dataclass
!class Reader(Base):
    \"\"\"Reads.\"\"\"

!    def load(
        self,
        path: str,
    ) -> Any:
        return os.open(path)

!async def run():
    pass
"
        .replace("!\n!import", "\n!import")
        .as_str(),
    );
}

#[test]
fn the_docstring_of_a_file() {
    check(
        TextKind::Code,
        "!#!/usr/bin/env python3
!\"\"\"One.

!Two.
!Three.
Four.

Five.
!\"\"\"
!import os

value = 3
"
        .replace("!\"\"\"One.\n\n", "!\"\"\"One.\n!\n")
        .as_str(),
    );
}

#[test]
fn the_header_of_a_file() {
    for sign in ["#", "//", "--"] {
        let marked = "!SIGN One.
!SIGN Two.
!SIGN Three.
!SIGN Four.
SIGN Five.
SIGN Six.

!import os

value = 3
";
        check(TextKind::Code, &marked.replace("SIGN", sign));
    }
}

#[test]
fn rust() {
    check(
        TextKind::Code,
        "!//! A module.

!use std::fmt;
!use std::{
!    io,
!};

const LIMIT: usize = 3;

/// Reads.
!pub struct Reader {
    path: String,
}

!impl Reader {
!    pub fn load(
        &self,
    ) -> io::Result<()> {
        if self.path.is_empty() {
            return Ok(());
        }
        Ok(())
    }
}
",
    );
}

#[test]
fn go_and_java_and_c() {
    check(
        TextKind::Code,
        "!package main\n\n!import (\n!\t\"fmt\"\n!)\n\n!func main() {\n\tfmt.Println()\n}\n",
    );
    check(
        TextKind::Code,
        "!package a;\n\n!import java.util.List;\n\n!public class A {\n  private int x;\n\n  @Override\n!  public int size() {\n    return x;\n  }\n}\n",
    );
    check(
        TextKind::Code,
        "!#include <stdio.h>\n\nstatic int count;\n\n!int main(int argc,\n         char **argv)\n{\n    return count;\n}\n",
    );
}

#[test]
fn documents() {
    check(
        TextKind::Docs,
        "!# Title\n\nwords\n\n```sh\n# in a fence\nrun\n```\n\nmore\n\n!Second\n!------\n\nwords\n~~~\nopen to the end\n",
    );
}

#[test]
fn a_line_that_only_mentions_an_error_stays_without_context() {
    check(
        TextKind::Logs,
        "one\ntwo\n!a.go:3:func parse(text string) error {\nfour\n!0 errors, 2 warnings\nsix\n",
    );
}

#[test]
fn the_lines_around_an_error_stay_whatever_form_its_level_has() {
    for report in [
        "{\"level\":\"error\",\"msg\":\"lost\"}",
        "level=error msg=lost",
        "10:00 [error] lost",
        "10:00 <error> lost",
        "10:00 db raised an exception",
        "make: *** [all] Error 2",
        "lost connection, Error 2013 (HY000)",
    ] {
        check(TextKind::Logs, &format!("one\n!two\n!three\n!{report}\n!four\n!five\nsix\n"));
    }
    for mention in
        ["10:00 0 errors", "10:00 error_count=0", "no errors found", "errors=0", "{\"error\":null}"]
    {
        check(TextKind::Logs, &format!("one\ntwo\n!{mention}\nfour\nfive\n"));
    }
}

#[test]
fn logs() {
    check(
        TextKind::Logs,
        "one\n!two\n!three\n!an ERROR here\n!five\n!six\nseven\neight\n!nine\n!ten\n!Traceback (most recent call last):\n!  File \"a\", line 1\n!    run()\n!  File \"b\", line 2\n!    walk()\n!KeyError: 'x'\n!after\n!after\nlast\n",
    );
}

#[test]
fn directives_hold_everywhere() {
    for kind in TextKind::ALL {
        check(
            kind,
            "plain\n!⟦NO_PRUNE_BEGIN⟧\n!inside\n!⟦NO_PRUNE_END⟧\nplain\n!⟦PRUNÉ: prune_id=a lignes 1-2 (2) raison=b⟧\nplain\n![tamis cut 6-44: repeats; restore: recover_text or tamis recover prn_a 6-44]\n![tamis 48]\nplain\n",
        );
        check(kind, "plain\n!  ⟦NO_PRUNE_BEGIN⟧ # never closed\n!inside\n!still\n");
    }
}

#[test]
fn a_numbered_line_stays_when_the_goal_names_its_number() {
    let listing = |mark: &str| -> String {
        (1..=400).map(|number| format!("{number:>4}{mark}worker {} is alive\n", number % 4)).collect()
    };
    for mark in ["→", "\t", ": "] {
        let text = listing(mark);
        let view = PlainText::of(&text);
        let analysis =
            TextAnalysis::read(&view, "what happened at step 137, or 9?", TextKind::Logs, &|| false)
                .expect("nothing interrupts");
        // The first and last lines stay in any case.
        let stays: Vec<usize> = (5..390)
            .filter(|number| analysis.scores()[number - 1] >= tamis_prune::DEFAULT_THRESHOLD)
            .collect();
        assert_eq!(stays, [9, 137], "{mark}");
    }
}
