//! The symbols and files that a short question is about: `charge` of "find where charge is implemented".
//!
//! What is left of the question without the words that only ask is its **content**. A question with little content may name a
//! symbol or a file without spelling it as code; a longer one is about more than a name.

use super::stop_words::{ASKING, BESIDE_CODE, REQUESTS, STOP_WORDS, SYMBOL_KINDS};

/// A symbol that a question may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// As the question has it; words apart are separated by spaces.
    pub(crate) text: String,
    /// The type or module that it belongs to.
    pub(crate) owner: Option<String>,
    /// Whether it is all that the question has beside words that ask.
    pub(crate) is_whole: bool,
    /// Whether it is written as code, and not as a word.
    pub(crate) is_code: bool,
    /// Whether it is written with a dollar sign, which the text is without.
    pub(crate) has_dollar: bool,
    /// Whether it is written as a flag: `--verbose`.
    pub(crate) is_flag: bool,
}

/// More words are a question about several things.
const MAX_CONTENT: usize = 4;

/// The words of a question that do not only ask, as they are written. Empty when there are many.
pub(super) fn content(question: &str) -> Vec<String> {
    let tokens: Vec<(&str, bool)> = question
        .split('`')
        .enumerate()
        .flat_map(|(number, piece)| piece.split_whitespace().map(move |token| (token, number % 2 == 1)))
        .map(|(token, is_quoted)| (trimmed(token), is_quoted))
        .filter(|(token, _)| token.chars().any(char::is_alphanumeric))
        .collect();
    let kept = |is_content: &dyn Fn(usize, &str) -> bool| -> Vec<String> {
        let tokens = tokens.iter().enumerate();
        let tokens = tokens
            .filter(|(number, (token, is_quoted))| *is_quoted || is_content(*number, &token.to_lowercase()));
        tokens.map(|(_, (token, _))| (*token).to_owned()).collect()
    };
    let asks = |word: &str| STOP_WORDS.contains(&word) || ASKING.contains(&word) || REQUESTS.contains(&word);
    // "the Location header": with a capital inside a sentence, a word that asks is a name.
    let is_name = |number: usize, word: &str| {
        number > 0
            && tokens[number].0.starts_with(char::is_uppercase)
            && !STOP_WORDS.contains(&word)
            && !tokens[number - 1].0.ends_with(['.', '?', '!'])
    };
    let mut content =
        kept(&|number, word| is_name(number, word) || !asks(word) && !SYMBOL_KINDS.contains(&word));
    if content.is_empty() {
        content = match tokens.as_slice() {
            // A word alone is what is looked for, whatever it is.
            [(only, _)] => vec![(*only).to_owned()],
            // "where is find defined", "the type"
            _ => kept(&|number, word| {
                let is_request = REQUESTS.contains(&word) && (number == 0 || word.ends_with("ed"));
                !STOP_WORDS.contains(&word) && !is_request && !QUESTION_WORDS.contains(&word)
            }),
        };
    }
    if content.iter().any(|word| is_written_as_code(word)) {
        content
            .retain(|word| is_written_as_code(word) || !BESIDE_CODE.contains(&word.to_lowercase().as_str()));
    }
    if content.len() > MAX_CONTENT { Vec::new() } else { content }
}

const QUESTION_WORDS: [&str; 12] = [
    "me",
    "please",
    "code",
    "codebase",
    "work",
    "works",
    "used",
    "use",
    "implemented",
    "implementation",
    "you",
    "we",
];

fn is_written_as_code(word: &str) -> bool {
    super::is_code(word) || word.contains(|c: char| !c.is_alphanumeric())
}

/// The symbols that the content may name, the whole of it first.
pub(super) fn symbols(content: &[String]) -> Vec<Symbol> {
    let single = |token: &String, is_whole: bool| {
        let (owner, text) = owner_and_name(token);
        let is_code = owner.is_some() || is_written_as_code(&text);
        let (has_dollar, is_flag) = (token.contains('$'), token.starts_with("--"));
        Symbol { text, owner, is_whole, is_code, has_dollar, is_flag }
    };
    match content {
        [] => Vec::new(),
        [only] => {
            let named = single(only, true);
            // `cache.lifetime` may be a key as well as a member.
            let key =
                named.owner.is_some().then(|| Symbol { text: only.clone(), owner: None, ..named.clone() });
            std::iter::once(named).chain(key).collect()
        }
        several => {
            let whole = Symbol {
                text: several.join(" "),
                owner: None,
                is_whole: true,
                is_code: false,
                has_dollar: false,
                is_flag: false,
            };
            std::iter::once(whole).chain(several.iter().map(|token| single(token, false))).collect()
        }
    }
}

/// `Registry` and `call` of `Registry.call`, `Registry::call` and `Registry#call`.
fn owner_and_name(token: &str) -> (Option<String>, String) {
    // Flags, routes and the like have no owner.
    if let Some(flag) = token.strip_prefix("--") {
        return (None, flag.split('=').next().unwrap_or(flag).to_owned());
    }
    let is_literal = token.contains(['/', '-', ' ']);
    let plain = token.replace("::", ".").replace("->", ".").replace('#', ".");
    let mut parts = plain.rsplit('.').filter(|part| !part.is_empty());
    let (Some(name), false) = (parts.next(), is_literal) else { return (None, token.to_owned()) };
    (parts.next().map(str::to_owned), name.trim_matches('$').to_owned())
}

/// A token without the punctuation around it, and without the brackets of a call.
fn trimmed(token: &str) -> &str {
    let mut token = token;
    loop {
        let before = token;
        token = token.trim_end_matches(['.', ',', ';', ':', '!', '?', '"', '\'', '*']);
        token = token.trim_start_matches(['"', '\'', '*', ',', ';', ':']);
        // Brackets around it, and not `/users/<id>`.
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')] {
            let is_around = token.starts_with(open);
            token = token.strip_prefix(open).unwrap_or(token);
            if is_around || !token.contains(open) {
                token = token.strip_suffix(close).unwrap_or(token);
            }
        }
        token = token.strip_suffix("()").unwrap_or(token);
        token = token.strip_suffix("'s").or_else(|| token.strip_suffix("’s")).unwrap_or(token);
        if token == before {
            return token;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(question: &str) -> String {
        let symbols = symbols(&content(question));
        let text = |symbol: &Symbol| match &symbol.owner {
            Some(owner) => format!("{owner}>{}", symbol.text),
            None => symbol.text.clone(),
        };
        symbols.iter().map(text).collect::<Vec<_>>().join(" | ")
    }

    /// Every way to ask for one thing.
    #[test]
    fn a_question_for_a_symbol_names_it() {
        for (question, expected) in [
            ("charge", "charge"),
            ("Where is charge?", "charge"),
            ("where is charge implemented", "charge"),
            ("find where charge is implemented", "charge"),
            ("Find the function charge", "charge"),
            ("show me charge", "charge"),
            ("Show me how charge works", "charge"),
            ("how is charge computed?", "charge"),
            ("what calculates charge", "charge"),
            ("how does `charge` work?", "charge"),
            ("what does charge() do", "charge"),
            ("explain charge", "charge"),
            ("please locate the definition of charge", "charge"),
            ("can you tell me where charge is defined?", "charge"),
            ("which file defines charge", "charge"),
            ("the charge method", "charge"),
            ("where is the struct Registry declared", "Registry"),
            ("what is Registry's purpose", "Registry"),
            ("Registry.call", "Registry>call | Registry.call"),
            ("how does Registry::call work", "Registry>call | Registry::call"),
            ("Registry#call", "Registry>call | Registry#call"),
            ("the configuration key server.port", "server>port | server.port"),
            ("route /users/<id>", "/users/<id>"),
            ("where is main", "main"),
            ("where is find defined", "find"),
            ("find", "find"),
            ("Value", "Value"),
            ("--max-count", "max-count"),
            ("the flag --max-count", "max-count"),
            ("route /users/:id", "/users/:id"),
            ("environment variable APP_DEBUG", "APP_DEBUG"),
            ("table orders", "orders"),
            ("xyzzy warden", "xyzzy warden | xyzzy | warden"),
            ("parse config", "parse config | parse | config"),
            ("what is it that it does", ""),
            ("???", ""),
            ("how do sessions that were stored in cookies expire when the browser closes", ""),
        ] {
            assert_eq!(named(question), expected, "{question}");
        }
    }
}
