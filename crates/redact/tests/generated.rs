//! How many generated secrets are found in every position in which they are met, and how many look-alikes stay.

#![allow(clippy::print_stdout, reason = "the figures are useful when a test passes, too")]

#[path = "generated/lookalikes.rs"]
mod lookalikes;
#[path = "generated/positions.rs"]
mod positions;
#[path = "generated/shapes.rs"]
mod shapes;

use std::collections::BTreeMap;

use lookalikes::LOOKALIKES;
use positions::{Encoding, POSITIONS, Takes};
use shapes::{NAMED, TOKENS, alphabet};
use tamis_redact::Redactor;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn characters(&mut self, alphabet: &[u8], count: usize) -> String {
        (0..count).map(|_| char::from(alphabet[self.next() as usize % alphabet.len()])).collect()
    }

    /// A template with its stand-ins replaced.
    fn fill(&mut self, template: &str) -> String {
        let mut filled = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('<') {
            let Some((inside, behind)) = after.split_once('>') else { break };
            filled.push_str(before);
            match (inside, inside.get(1..).and_then(|count| count.parse().ok())) {
                ("id", _) => {
                    let parts = [8, 4, 4, 4, 12].map(|count| self.characters(alphabet(b'x'), count));
                    filled.push_str(&parts.join("-"));
                }
                (_, Some(count)) if inside.starts_with('B') => {
                    let text = format!("bob:{}", self.characters(alphabet(b'b'), count));
                    filled.push_str(&base64(text.as_bytes()));
                }
                (_, Some(count)) => {
                    filled.push_str(&self.characters(alphabet(inside.as_bytes()[0]), count));
                }
                _ => filled.push_str(&format!("<{inside}>")),
            }
            rest = behind;
        }
        filled + rest
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let encode = |chunk: &[u8]| {
        let number = (0..3).fold(0, |number, at| number << 8 | usize::from(*chunk.get(at).unwrap_or(&0)));
        let character = |at: usize| char::from(ALPHABET[number >> (18 - 6 * at) & 63]);
        (0..4).map(|at| if at <= chunk.len() { character(at) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(encode).collect()
}

/// A generated secret, with what surrounds it where its form needs that.
struct Secret {
    shape: String,
    before: String,
    secret: String,
    after: String,
    name: Option<&'static str>,
}

fn secrets() -> Vec<Secret> {
    let mut numbers = Numbers(2026);
    let tokens = TOKENS.iter().map(|shape| (*shape, None));
    let named = NAMED.iter().map(|(name, shape)| (*shape, Some(*name)));
    tokens
        .chain(named)
        .map(|(shape, name)| {
            let filled = numbers.fill(shape);
            let parts: Vec<&str> = filled.split('|').collect();
            let (before, secret, after) = match parts[..] {
                [secret] => ("", secret, ""),
                [before, secret] => (before, secret, ""),
                [before, secret, after] => (before, secret, after),
                _ => unreachable!("a template has two bars at most"),
            };
            Secret {
                shape: name.map_or(shape.to_owned(), |name| format!("{name}={shape}")),
                before: before.to_owned(),
                secret: secret.to_owned(),
                after: after.to_owned(),
                name,
            }
        })
        .collect()
}

impl Secret {
    fn fits(&self, takes: Takes) -> bool {
        let whole = format!("{}{}{}", self.before, self.secret, self.after);
        let word = !whole.contains([' ', '"', '\'', '\\']);
        let random =
            word && self.before.is_empty() && self.secret.len() >= 16 && !self.secret.contains("secret");
        match takes {
            Takes::Any => true,
            Takes::Word => word,
            Takes::Random => random,
            Takes::Token => self.name.is_none() && word,
        }
    }

    /// The text of a position with this secret in it, and the secret as it is written there.
    fn in_position(&self, template: &str, encoding: Encoding) -> (String, String) {
        let name = self.name.unwrap_or("field");
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        let camel: String = name
            .split('_')
            .enumerate()
            .map(|(at, word)| if at == 0 { word.to_owned() } else { capital(word) })
            .collect();
        let secret = encode(encoding, &self.secret);
        let whole = format!("{}{secret}{}", encode(encoding, &self.before), encode(encoding, &self.after));
        let alone = match self.name {
            Some(_) => format!("{name}{}{whole}", encode(encoding, "=")),
            None => whole.clone(),
        };
        let text = template
            .replace("{p}", &alone)
            .replace("{n}", name)
            .replace("{N}", &name.to_uppercase())
            .replace("{c}", &camel)
            .replace("{k}", &name.replace('_', "-"))
            .replace("{s}", &whole);
        (text, secret)
    }
}

fn encode(encoding: Encoding, text: &str) -> String {
    let json = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    match encoding {
        Encoding::Plain => text.to_owned(),
        Encoding::Json => json(text),
        Encoding::JsonTwice => json(&json(text)),
        Encoding::Percent => text
            .bytes()
            .map(|byte| match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    char::from(byte).to_string()
                }
                _ => format!("%{byte:02X}"),
            })
            .collect(),
        Encoding::Xml => text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;"),
    }
}

/// Whether a good part of the secret is still there.
fn is_shown(redacted: &str, secret: &str) -> bool {
    let mut rest = redacted.to_owned();
    while let Some((before, after)) = rest.split_once("[redacted:") {
        rest = format!("{before}\n{}", after.split_once(']').map_or("", |(_, behind)| behind));
    }
    let characters: Vec<char> = secret.chars().collect();
    let part = (characters.len() * 2 / 3).clamp(4.min(characters.len()), 12);
    characters.windows(part).any(|window| rest.contains(&window.iter().collect::<String>()))
}

#[test]
fn secrets_are_found_in_every_position() {
    let secrets = secrets();
    assert!(secrets.len() >= 250 && POSITIONS.len() >= 60, "{} in {}", secrets.len(), POSITIONS.len());
    let redactor = Redactor::standard();
    let (mut cells, mut missed) = (0, 0);
    let mut by_shape: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut by_position: BTreeMap<&str, usize> = BTreeMap::new();
    for (template, encoding, takes) in POSITIONS {
        for secret in secrets.iter().filter(|secret| secret.fits(*takes)) {
            let (text, written) = secret.in_position(template, *encoding);
            let redacted = redactor.redact(&text);
            cells += 1;
            if is_shown(&redacted, &written) {
                missed += 1;
                by_shape.entry(&secret.shape).or_default().push(format!("{text:?} -> {redacted:?}"));
                *by_position.entry(template).or_default() += 1;
            }
        }
    }
    println!("{} secrets in {} positions: {missed} of {cells} missed", secrets.len(), POSITIONS.len());
    for (template, count) in &by_position {
        println!("{count:5} {template:?}");
    }
    for (shape, texts) in &by_shape {
        println!(
            "{:5} {shape}\n      {}",
            texts.len(),
            texts.iter().take(3).cloned().collect::<Vec<_>>().join("\n      ")
        );
    }
    assert!(missed * 100 <= cells * 2, "{missed} of {cells} missed");
}

/// What look-alikes are met in: as they are, in a string of JSON, in colour, in a difference.
const SURROUNDINGS: &[(&str, Encoding)] = &[
    ("{s}", Encoding::Plain),
    ("{\"text\":\"{s}\"}", Encoding::Json),
    ("\x1b[32m{s}\x1b[0m", Encoding::Plain),
    ("+{s}\n", Encoding::Plain),
];

#[test]
fn look_alikes_stay() {
    let mut numbers = Numbers(15);
    let redactor = Redactor::standard();
    let (mut cells, mut alarms) = (0, 0);
    assert!(LOOKALIKES.len() >= 250, "{}", LOOKALIKES.len());
    for template in LOOKALIKES {
        let lookalike = numbers.fill(template);
        for (surrounding, encoding) in SURROUNDINGS {
            let written = encode(*encoding, &lookalike)
                .replace('\n', if *encoding == Encoding::Json { "\\n" } else { "\n" });
            let text = surrounding.replace("{s}", &written);
            let redacted = redactor.redact(&text);
            cells += 1;
            if redacted != text {
                alarms += 1;
                println!("alarm {text:?} -> {redacted:?}");
            }
        }
    }
    println!("{} look-alikes: {alarms} of {cells} hidden", LOOKALIKES.len());
    assert!(alarms * 1000 <= cells * 5, "{alarms} of {cells} hidden");
}
