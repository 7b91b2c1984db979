//! Hostile texts: a corpus of outputs that are easily cut wrongly, each with what must stay.
//!
//! A file of `corpus` has a goal, perhaps the least share of bytes that must be cut, and a text after `--`. The first character of each
//! line says what must happen to it: `!` it stays, `~` it may go but not all such lines stay, and a space says nothing. `*20 text`
//! stands for twenty such lines, with `{n}` counting from 1. `\e` and `\r` are an escape character and a carriage return.

use std::path::Path;

use tamis_prune::{Cut, EngineRequest, PruneLimits, prune};
use tamis_text::TextKind;

struct Case {
    name: String,
    goal: String,
    least_cut: f64,
    lines: Vec<(char, String)>,
}

impl Case {
    fn read(path: &Path) -> Case {
        let written = std::fs::read_to_string(path).expect("a corpus file");
        let (head, body) = written.split_once("--\n").expect("a head and a text");
        let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name).map(str::trim));
        let mut lines = Vec::new();
        for line in body.lines() {
            let sign = line.chars().next().unwrap_or(' ');
            let text = line.get(1..).unwrap_or_default().replace("\\e", "\u{1b}").replace("\\r", "\r");
            let repeated = text.strip_prefix('*').and_then(|rest| {
                let (count, text) = rest.split_once(' ')?;
                Some((count.parse::<usize>().ok()?, text))
            });
            match repeated {
                Some((count, text)) => {
                    lines.extend((1..=count).map(|number| (sign, text.replace("{n}", &number.to_string()))));
                }
                None => lines.push((sign, text)),
            }
        }
        Case {
            name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
            goal: field("goal:").expect("a goal").to_owned(),
            least_cut: field("cut:").map_or(0.0, |share| share.parse().expect("a share")),
            lines,
        }
    }

    fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|(_, line)| line.as_str()).collect();
        lines.join("\n")
    }
}

fn kept(text: &str, goal: &str) -> Vec<bool> {
    let limits = PruneLimits { threshold: 0.5, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 };
    let marker_bytes = &|_: &Cut| 100;
    let request =
        EngineRequest { text, goal, kind: TextKind::detect(text), limits, marker_bytes, shown: &[] };
    let mut kept = vec![true; text.split('\n').count()];
    for cut in prune(&request, &|| false).expect("nothing interrupts").cuts {
        kept[cut.first_line - 1..cut.last_line].fill(false);
    }
    kept
}

#[test]
fn what_must_stay_stays_in_every_hostile_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the corpus").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    assert!(paths.len() >= 60);
    let mut wrong = Vec::new();
    for case in paths.iter().map(|path| Case::read(path)) {
        let text = case.text();
        let kept = kept(&text, &case.goal);
        let lost: Vec<_> =
            case.lines.iter().zip(&kept).filter(|((sign, _), kept)| *sign == '!' && !**kept).collect();
        if let Some(((_, line), _)) = lost.first() {
            wrong.push(format!("{}: {} lines lost, the first is {line:?}", case.name, lost.len()));
        }
        let may_go = case.lines.iter().zip(&kept).filter(|((sign, _), _)| *sign == '~');
        if may_go.clone().count() > 0 && may_go.clone().all(|(_, kept)| *kept) {
            wrong.push(format!("{}: nothing went", case.name));
        }
        let cut: usize = case
            .lines
            .iter()
            .zip(&kept)
            .filter(|(_, kept)| !**kept)
            .map(|((_, line), _)| line.len() + 1)
            .sum();
        let share = cut as f64 / text.len() as f64;
        if share < case.least_cut {
            wrong.push(format!("{}: only {share:.2} went", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_hundred_megabytes_of_one_line_stay_whole() {
    let text = "x0 ".repeat(100_000_000 / 3);
    assert_eq!(kept(&text, "where is x0?"), [true]);
}
