//! Phrases that occur nowhere else, planted from once to often, and the list of where, against which a search is checked.
//!
//! They are of several forms, because searches fail in several ways. All are to be found by a search that ignores case.

use super::json;
use super::random::Random;
use super::vocabulary::{Vocabulary, capitalized};

/// Something to be found.
#[derive(Clone, Debug)]
pub(crate) struct Needle {
    pub(crate) phrase: String,
    pub(crate) form: Form,
    /// How often it is planted; copies into forks come on top.
    pub(crate) places: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Three words.
    Phrase,
    /// One word, between others.
    Word,
    /// Within an identifier.
    Substring,
    /// With quotes, which JSON escapes.
    Quoted,
    /// With letters that are not ASCII.
    Foreign,
}

const FORMS: &[(Form, &str)] = &[
    (Form::Phrase, "phrase"),
    (Form::Word, "word"),
    (Form::Substring, "substring"),
    (Form::Quoted, "quoted"),
    (Form::Foreign, "foreign"),
];

impl Form {
    fn name(self) -> &'static str {
        FORMS.iter().find(|(form, _)| *form == self).map_or("", |(_, name)| name)
    }
}

/// From one place up to `most`, in even steps of the logarithm.
pub(crate) fn forge(random: &mut Random, vocabulary: &Vocabulary, count: usize, most: usize) -> Vec<Needle> {
    (0..count)
        .map(|at| {
            let form = FORMS[at % FORMS.len()].0;
            let mut word = || vocabulary.foreign(random);
            let phrase = match form {
                Form::Phrase => format!("{} {} {}", word(), word(), word()),
                Form::Word | Form::Substring => word(),
                Form::Quoted => format!("{} \"{}\" {}", word(), word(), word()),
                Form::Foreign => format!("{}é{} ünder {}", word(), word(), word()),
            };
            let share = at as f64 / count.saturating_sub(1).max(1) as f64;
            Needle { phrase, form, places: (most as f64).powf(share).round() as usize }
        })
        .collect()
}

impl Needle {
    /// Puts it into a text, after a line in the middle, or at the end.
    pub(crate) fn plant(&self, random: &mut Random, text: &mut String) {
        let spelled = match self.form {
            Form::Substring => format!("load{}Cache", capitalized(&self.phrase)),
            _ if random.below(8) == 0 => capitalized(&self.phrase),
            _ => self.phrase.clone(),
        };
        let middle = text.len() / 2;
        match text.bytes().skip(middle).position(|byte| byte == b'\n') {
            Some(after) => text.insert_str(middle + after + 1, &format!("{spelled}\n")),
            None => {
                text.push(' ');
                text.push_str(&spelled);
            }
        }
    }
}

/// Where a needle is.
#[derive(Clone, Debug)]
pub(crate) struct Planted {
    pub(crate) needle: usize,
    /// The first line of the log that has it, from 1. In a document that is rewritten as a whole there is none.
    pub(crate) line: Option<usize>,
    /// The kind of event.
    pub(crate) event: &'static str,
}

/// One line of the list.
pub(crate) fn line_of(
    needle: &Needle,
    planted: &Planted,
    log: &super::log::Log,
    provider: &str,
    path: &str,
) -> String {
    let mut line = json::object(|place| {
        place.text("phrase", &needle.phrase).text("form", needle.form.name()).text("provider", provider);
        place.text("session_id", &log.session);
        if let Some(agent) = &log.agent {
            place.text("agent_id", agent);
        }
        place.text("path", path).text("event", planted.event);
        if let Some(at) = planted.line {
            place.number("line", at);
        }
    });
    line.push('\n');
    line
}
