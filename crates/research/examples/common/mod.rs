//! What the measurements share: a researcher with the default limits, without a model.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tamis_code_index::IndexSettings;
use tamis_codebase::{Policy, Roots};
use tamis_research::{ResearchLimits, ResearchSettings, Researcher};

const LIMITS: ResearchLimits = ResearchLimits {
    deadline: Duration::from_secs(30),
    max_files_read: 50,
    max_bytes_read: 1 << 20,
    max_tokens: 2000,
};

pub(crate) fn researcher(folder: &Path, index: Option<IndexSettings>) -> Researcher {
    Researcher::new(ResearchSettings {
        roots: Roots::open(&[folder.to_owned()], Policy::standard()).unwrap(),
        thoughts: None,
        artifacts: PathBuf::from("."),
        limits: LIMITS,
        model: None,
        index,
        workers: 4,
        most_waiting: 16,
    })
}
