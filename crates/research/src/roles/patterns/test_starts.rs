//! Where tests begin, for questions that want tests: "unit tests" are rarely called so in code.

use std::collections::BTreeSet;

use tamis_code_index::word_stem;
use tamis_codebase::{StopSignal, scan};
use tamis_redact::searchable_bytes;
use tamis_text::split_lines;
use tamis_text::words::each_word;

use super::Occurrence;
use super::co_occurrence::{MAX_LINES, Mask, kind, words_of};
use crate::RoleError;
use crate::question::TEST_WORDS;
use crate::roles::Job;
use crate::roles::paths::is_prose_or_data;

/// Lines of a test that are compared with the question.
const COMPARED: usize = 12;

/// How a line begins that begins a test, after its modifiers.
#[rustfmt::skip]
const STARTS: [&str; 26] = [
    "def test_", "func Test", "func test", "fun test", "function test", "void test", "it(", "it.each", "it \"", "it '", "test(", "test.each",
    "test \"", "test '", "TEST(", "TEST_F(", "TEST_P(", "TYPED_TEST(", "TEST_CASE(", "TEST_METHOD(", "SCENARIO(", "BOOST_AUTO_TEST_CASE(",
    "@Test", "@ParameterizedTest", "[Test", "[Fact",
];
const MODIFIERS: [&str; 5] = ["async ", "public ", "static ", "override ", "internal "];

/// The words of the question, and the tests that have most of them.
pub(super) fn find_tests(job: &Job, stop: &StopSignal) -> Result<(Vec<String>, Vec<Occurrence>), RoleError> {
    let question = job.question.as_ref();
    let is_other = |stem: &&String| !TEST_WORDS.iter().any(|word| word_stem(word) == stem.as_str());
    let others: BTreeSet<&str> = question.stems.iter().filter(is_other).map(String::as_str).collect();
    let lists = scan(&job.reader.roots, stop, Vec::new, |list: &mut Vec<Occurrence>, place, bytes| {
        if is_prose_or_data(&place.path) {
            return;
        }
        let bytes = searchable_bytes(bytes);
        let text = String::from_utf8_lossy(&bytes);
        let lines = split_lines(&text);
        let starts = (0..lines.len()).filter(|line| begins_test(lines[*line]));
        let mut found: Vec<Occurrence> = Vec::new();
        for line in starts {
            let end = (line + COMPARED).min(lines.len());
            let mut had: BTreeSet<&str> = BTreeSet::new();
            for text in lines[line..end].iter().chain(std::iter::once(&place.path.as_str())) {
                each_word(text, |word, _| had.extend(others.get(&*word_stem(word)).copied()));
            }
            let kind = kind(lines[line], &lines[line + 1..]);
            found.push(Occurrence { place: place.clone(), line, kind, worth: had.len() as f64 });
        }
        found.sort_by(|a, b| b.worth.total_cmp(&a.worth).then(a.line.cmp(&b.line)));
        found.truncate(MAX_LINES);
        list.extend(found);
    })?;
    let mut tests: Vec<Occurrence> = lists.into_iter().flatten().collect();
    let best = tests.iter().map(|test| test.worth).fold(0.0, f64::max);
    tests.retain(|test| test.worth >= best && (best > 0.0 || others.is_empty()));
    tests.sort_by(|a, b| (&a.place, a.line).cmp(&(&b.place, b.line)));
    let stems: Vec<&str> =
        question.stems.iter().map(String::as_str).take(super::co_occurrence::MAX_WORDS).collect();
    Ok((words_of(&question.text, &stems, Mask::MAX), tests))
}

fn begins_test(line: &str) -> bool {
    let mut text = line.trim_start();
    while let Some(rest) = MODIFIERS.iter().find_map(|modifier| text.strip_prefix(modifier)) {
        text = rest;
    }
    // `#[test]`, `#[tokio::test(…)]`, `#[rstest]`
    if let Some(attribute) = text.strip_prefix("#[") {
        let path = attribute.split(['(', ']']).next().unwrap_or("");
        return path.rsplit("::").next().is_some_and(|name| name.ends_with("test") || name == "test_case");
    }
    STARTS.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_every_framework_begin_where_they_do() {
        for line in [
            "#[test]",
            "    #[tokio::test(flavor = \"multi_thread\")]",
            "#[rstest]",
            "#[test_case(1)]",
            "def test_load(self):",
            "    async def test_load():",
            "func TestLoad(t *testing.T) {",
            "  it('loads', async () => {",
            "test(\"loads\", () => {",
            "test.each([1])('loads', () => {})",
            "TEST(Suite, Loads) {",
            "TEST_F(Suite, Loads) {",
            "TEST_CASE(\"loads\") {",
            "@Test",
            "@Test(expected = A.class)",
            "@ParameterizedTest",
            "public void testLoad() {",
            "  it \"loads\" do",
            "[Fact]",
            "override func testLoad() {",
        ] {
            assert!(begins_test(line), "{line}");
        }
        for line in [
            "fn test_load() {",
            "mod tests {",
            "#[cfg(test)]",
            "iterate(x)",
            "latest(x)",
            "tests = []",
            "use test;",
            "",
        ] {
            assert!(!begins_test(line), "{line}");
        }
    }
}
