//! Speed of redaction on generated texts, beside operations that only touch every byte: `cargo bench -p tamis-redact`.

use std::fmt::Write;

use divan::Bencher;
use divan::counter::BytesCount;
use tamis_redact::Redactor;

fn main() {
    divan::main();
}

const SIZE: usize = 4 << 20;
const KINDS: [&str; 5] = ["log", "code", "json", "session", "secrets"];

/// A text of about four megabytes of that kind.
fn text(kind: &str) -> String {
    let mut text = String::new();
    for number in 0u64.. {
        if text.len() >= SIZE {
            break;
        }
        let random = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let _ = match kind {
            "log" => writeln!(
                text,
                "2026-03-{:02}T12:{:02}:07.{:03}Z INFO  http: GET /api/v2/items/{number}?page={} 200 {}ms trace={random:016x} client=10.0.{}.{}",
                number % 28 + 1,
                number % 60,
                number % 1000,
                number % 9,
                number % 300,
                number % 256,
                random % 256,
            ),
            "code" => writeln!(
                text,
                "/// Reads the next token of `{number}` and says how many keys are left.\n\
                 pub fn read_{number}(input: &str, tokens: &mut Vec<Token>) -> Result<usize, Error> {{\n    \
                     let mut total = {number};\n    \
                     for (position, letter) in input.char_indices() {{\n        \
                         if letter == '\"' && tokens.len() > position {{\n            \
                             total += tokens[position].key.wrapping_mul({number});\n        \
                         }}\n    \
                     }}\n    \
                     Ok(total)\n\
                 }}\n",
            ),
            "json" => writeln!(
                text,
                "{{\"id\":{number},\"name\":\"item {number}\",\"key\":\"k{number}\",\"tags\":[\"a\",\"b\"],\"hash\":\"{random:016x}{random:016x}\",\"url\":\"https://example.com/items/{number}\",\"price\":{}}}",
                number % 997,
            ),
            "session" => writeln!(
                text,
                "{{\"type\":\"assistant\",\"uuid\":\"{:08x}-0000-4000-8000-{:012x}\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"I read src/auth/token.rs:{number} and the password check there\\nlooks right: `let token = self.next_token()?;`\"}}],\"usage\":{{\"input_tokens\":{number},\"output_tokens\":{}}}}}}}",
                random >> 32,
                random & 0xffff_ffff_ffff,
                number % 900,
            ),
            _ => writeln!(
                text,
                "deploy {number}: DB_PASSWORD=hunter{number}! postgres://app:pw{number}@db/app Authorization: Bearer {random:016x}{random:016x}"
            ),
        };
    }
    text
}

#[divan::bench(args = KINDS)]
fn redact(bencher: Bencher, kind: &str) {
    let text = text(kind);
    let redactor = Redactor::standard();
    bencher.counter(BytesCount::of_str(&text)).bench(|| redactor.redact(divan::black_box(&text)).len());
}

/// Counting lines, with one pass over the text.
#[divan::bench(args = KINDS)]
fn peer_count_newlines(bencher: Bencher, kind: &str) {
    let text = text(kind);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| memchr::memchr_iter(b'\n', divan::black_box(text.as_bytes())).count());
}

/// Copying the text.
#[divan::bench(args = KINDS)]
fn peer_copy(bencher: Bencher, kind: &str) {
    let text = text(kind);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| divan::black_box(divan::black_box(&text).clone()).len());
}

/// Texts on which each finder runs again and again without a result.
#[divan::bench(args = [
    "token=", "password=password", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----\n", "key-glpat-", "eyJaaaaaaaaaa.", "://a:",
    "curl ", "AKIA", "token=\"'", "\"token\",\n", "Bearer ", "://a:b@", "cookie: ", "api_key: sk-", "a1B2c3D4e5",
])]
fn hostile(bencher: Bencher, part: &str) {
    let text = part.repeat((1 << 18) / part.len());
    let redactor = Redactor::standard();
    bencher.counter(BytesCount::of_str(&text)).bench(|| redactor.redact(divan::black_box(&text)).len());
}

/// The cost of the first call of a process.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn first_use() -> usize {
    Redactor::standard().redact("DB_PASSWORD=hunter2! ghp_").len()
}
