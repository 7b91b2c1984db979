//! Measures the engine on files of cases, in the same way as the benchmark's scorer.
//!
//! usage: cargo run --release -p tamis-prune --example score -- CASES.jsonl... [--limit N] [--curve] [--kinds] [--lost N]
//!
//! A case is a line `{"query", "text", "gold"}`, `gold` being the 1-based lines that were needed. Each text is
//! analysed once and cut at every threshold; a timed call is one whole `prune`.
//!
//! `--kinds` prints only, for each kind of case (`lang`), the share of cases in which every needed line stays at the default
//! threshold, and what is cut. `--lost` shows that many cases in which a needed line was cut, and
//! `--each` every case with its recall and cut.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use tamis_prune::{Cut, CutPlace, CutReason, EngineRequest, PlainText, PruneLimits, TextAnalysis, prune};
use tamis_text::TextKind;

const SWEEP: [f32; 14] = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98];
const DEFAULT: usize = 7;
const SIZES: [usize; 5] = [200, 400, 800, 1600, usize::MAX];

#[derive(serde::Deserialize)]
struct Case {
    #[serde(default)]
    id: String,
    #[serde(default)]
    lang: String,
    query: String,
    text: String,
    gold: Vec<usize>,
}

#[derive(Default, Clone)]
struct Point {
    recalls: Vec<f64>,
    cut: usize,
    all: usize,
}

impl Point {
    fn recall(&self) -> f64 {
        self.recalls.iter().sum::<f64>() / self.recalls.len().max(1) as f64
    }
    fn share_cut(&self) -> f64 {
        self.cut as f64 / self.all.max(1) as f64
    }
    /// The share of cases in which every needed line stays.
    fn whole(&self) -> f64 {
        self.recalls.iter().filter(|&&recall| recall == 1.0).count() as f64 / self.recalls.len().max(1) as f64
    }
}

fn main() -> std::io::Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let limit = arguments.iter().position(|argument| argument == "--limit").map_or(usize::MAX, |at| {
        let limit = arguments.get(at + 1).and_then(|value| value.parse().ok()).unwrap_or(usize::MAX);
        arguments.drain(at..(at + 2).min(arguments.len()));
        limit
    });
    let curve =
        arguments.iter().position(|argument| argument == "--curve").map(|at| arguments.remove(at)).is_some();
    let lost = arguments.iter().position(|argument| argument == "--lost").map_or(0, |at| {
        let lost = arguments.get(at + 1).and_then(|value| value.parse().ok()).unwrap_or(0);
        arguments.drain(at..(at + 2).min(arguments.len()));
        lost
    });
    let each =
        arguments.iter().position(|argument| argument == "--each").map(|at| arguments.remove(at)).is_some();
    let lost = if each { usize::MAX } else { lost };
    if let Some(at) = arguments.iter().position(|argument| argument == "--kinds") {
        arguments.remove(at);
        for path in &arguments {
            let text = std::fs::read_to_string(path)?;
            report_kinds(
                &text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<Case>>(),
                lost,
            );
        }
        return Ok(());
    }
    println!(
        "{:18} {:>5} {:>17} {:>5} {:>5} {:>5} {:>5} {:>6} {:>6} {:>7} {:>7} {:>7} {:>6} {:>6}",
        "file",
        "cases",
        "code/logs/docs",
        "r@10",
        "r@20",
        "r@30",
        "r@50",
        "cut@95",
        "cut@90",
        "default",
        "cut",
        "worst10",
        "p50",
        "p95"
    );
    for path in &arguments {
        let text = std::fs::read_to_string(path)?;
        let cases: Vec<Case> =
            text.lines().take(limit).filter_map(|line| serde_json::from_str(line).ok()).collect();
        report(path, &cases, curve);
    }
    Ok(())
}

/// For each kind of case: whether every needed line stays, and what is cut, at the default threshold.
fn report_kinds(cases: &[Case], mut lost: usize) {
    let mut kinds: std::collections::BTreeMap<&str, Point> = std::collections::BTreeMap::new();
    for case in cases {
        let lines: Vec<&str> = case.text.split('\n').collect();
        let request = EngineRequest {
            text: &case.text,
            goal: &case.query,
            kind: TextKind::detect(&case.text),
            limits: limits(SWEEP[DEFAULT]),
            shown: &[],
            marker_bytes: &marker_bytes,
        };
        let Ok(verdict) = prune(&request, &|| false) else { continue };
        let mut kept = vec![true; lines.len() + 1];
        for cut in &verdict.cuts {
            kept[cut.first_line..=cut.last_line].fill(false);
        }
        let gone: Vec<usize> =
            case.gold.iter().copied().filter(|&line| !kept.get(line).copied().unwrap_or(false)).collect();
        let recall = 1.0 - gone.len() as f64 / case.gold.len() as f64;
        let width = |line: usize| lines[line - 1].chars().count() + 1;
        for kind in [case.lang.as_str(), "all"] {
            let point = kinds.entry(kind).or_default();
            point.recalls.push(recall);
            point.all += (1..=lines.len()).map(width).sum::<usize>();
            point.cut += (1..=lines.len()).filter(|&line| !kept[line]).map(width).sum::<usize>();
        }
        if lost == usize::MAX {
            let cut: usize = (1..=lines.len()).filter(|&line| !kept[line]).map(width).sum();
            println!(
                "{} {:.2} {:.2} {:?}",
                case.id,
                recall,
                cut as f64 / case.text.chars().count().max(1) as f64,
                case.query
            );
        } else if !gone.is_empty() && lost > 0 {
            lost -= 1;
            println!(
                "{} ({}): {:?} lost {} of {}",
                case.id,
                request.kind.name(),
                case.query,
                gone.len(),
                case.gold.len()
            );
            for line in gone.iter().take(4) {
                println!("  {line}: {}", lines[line - 1].chars().take(120).collect::<String>());
            }
        }
    }
    for (kind, point) in kinds {
        let (whole, recall, cut) = (point.whole(), point.recall(), point.share_cut());
        println!(
            "{kind:10} cases {:4}  whole {whole:.3}  recall {recall:.3}  cut {cut:.3}",
            point.recalls.len()
        );
    }
}

fn report(path: &str, cases: &[Case], curve: bool) {
    let mut points = vec![Point::default(); SWEEP.len()];
    let mut times = Vec::new();
    let mut kinds = [0; 3];
    // By length of the text: recall and cut at the default threshold, as means over cases.
    let mut sizes: [Vec<(f64, f64)>; SIZES.len()] = Default::default();
    for case in cases {
        let kind = TextKind::detect(&case.text);
        kinds[kind as usize] += 1;
        let start = Instant::now();
        let request = EngineRequest {
            text: &case.text,
            goal: &case.query,
            kind: TextKind::detect(&case.text),
            limits: limits(0.5),
            shown: &[],
            marker_bytes: &marker_bytes,
        };
        let _ = std::hint::black_box(prune(&request, &|| false));
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let widths: Vec<usize> = case.text.split('\n').map(|line| line.chars().count() + 1).collect();
        let view = PlainText::of(&case.text);
        let Ok(analysis) = TextAnalysis::read(&view, &case.query, kind, &|| false) else { continue };
        for (threshold, point) in SWEEP.into_iter().zip(&mut points) {
            let mut kept = vec![true; widths.len() + 1];
            for cut in analysis.cuts(&limits(threshold), &marker_bytes, &|| false).unwrap_or_default() {
                kept[cut.first_line..=cut.last_line].fill(false);
                point.cut += widths[cut.first_line - 1..cut.last_line].iter().sum::<usize>();
            }
            let all = widths.iter().sum::<usize>();
            point.all += all;
            let found = case.gold.iter().filter(|&&line| kept.get(line).copied().unwrap_or(false)).count();
            let recall = found as f64 / case.gold.len() as f64;
            point.recalls.push(recall);
            if threshold == SWEEP[DEFAULT] {
                let size = SIZES.iter().position(|&most| widths.len() < most).unwrap_or(SIZES.len() - 1);
                let gone: usize =
                    (1..=widths.len()).filter(|&line| !kept[line]).map(|line| widths[line - 1]).sum();
                sizes[size].push((recall, gone as f64 / all as f64));
            }
        }
    }
    times.sort_by(f64::total_cmp);
    let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".jsonl");
    let mut lowest = points[DEFAULT].recalls.clone();
    lowest.sort_by(f64::total_cmp);
    lowest.truncate((lowest.len() / 10).max(1));
    let worst = lowest.iter().sum::<f64>() / lowest.len().max(1) as f64;
    print!("{name:18} {:>5} {:>17}", cases.len(), format!("{}/{}/{}", kinds[0], kinds[1], kinds[2]));
    for budget in [0.1, 0.2, 0.3, 0.5] {
        print!(" {:5.3}", at_budget(&points, budget));
    }
    print!(" {:6.3} {:6.3}", best(&points, 0.95), best(&points, 0.9));
    print!(" {:7.3} {:7.3} {:7.3}", points[DEFAULT].recall(), points[DEFAULT].share_cut(), worst);
    println!(" {:6.2} {:6.2}", times[times.len() / 2], times[times.len() * 95 / 100]);
    if curve {
        for (threshold, point) in SWEEP.iter().zip(&points) {
            let (recall, cut, whole) = (point.recall(), point.share_cut(), point.whole());
            println!("    {threshold:.2} recall {recall:.3} cut {cut:.3} whole {whole:.3}");
        }
        for (most, cases) in SIZES.iter().zip(&sizes).filter(|(_, cases)| !cases.is_empty()) {
            let mean =
                |part: fn(&(f64, f64)) -> f64| cases.iter().map(part).sum::<f64>() / cases.len() as f64;
            let (recall, cut) = (mean(|case| case.0), mean(|case| case.1));
            let size = if *most == usize::MAX { "longer".to_owned() } else { format!("under {most} lines") };
            println!("    {size}: {} cases, recall {recall:.3} cut {cut:.3}", cases.len());
        }
    }
}

fn limits(threshold: f32) -> PruneLimits {
    PruneLimits { threshold, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 }
}

/// An estimate of the marker's size.
fn marker_bytes(cut: &Cut) -> usize {
    let digits = |number: usize| number.max(1).ilog10() as usize + 1;
    75 + digits(cut.first_line)
        + digits(cut.last_line)
        + digits(cut.last_line - cut.first_line + 1)
        + reason_bytes(&cut.reason)
}

/// An estimate of the size of the reason's words.
fn reason_bytes(reason: &CutReason) -> usize {
    let place = match &reason.place {
        CutPlace::Definition(name) | CutPlace::Section(name) => 2 + name.len().min(28),
        CutPlace::Lines(_) => 11,
        CutPlace::Shown(place) => 20 + place.label.len().min(28),
        CutPlace::TopLevel => 8,
        CutPlace::Omitted => 0,
    };
    10 + place
}

fn best(points: &[Point], target: f64) -> f64 {
    points.iter().filter(|point| point.recall() >= target).map(Point::share_cut).fold(0.0, f64::max)
}

fn at_budget(points: &[Point], budget: f64) -> f64 {
    let mut curve: Vec<(f64, f64)> =
        points.iter().map(|point| (1.0 - point.share_cut(), point.recall())).collect();
    curve.extend([(0.0, 0.0), (1.0, 1.0)]);
    curve.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for pair in curve.windows(2) {
        let ((k0, r0), (k1, r1)) = (pair[0], pair[1]);
        if k0 <= budget && budget <= k1 {
            return if k1 == k0 { r0 } else { r0 + (r1 - r0) * (budget - k0) / (k1 - k0) };
        }
    }
    1.0
}
