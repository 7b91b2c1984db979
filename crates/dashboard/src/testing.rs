//! What tests of several pages share.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tamis_gain::ModelPrices;
use tamis_sieve::{Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_tools::{Services, Workbench};

use crate::{Dashboard, DashboardSettings};

/// Services over a data folder.
pub(crate) fn services(folder: &Path) -> Services {
    let settings = SieveSettings {
        data_dir: Some(DataDir::at(folder)),
        max_input_chars: 4_000_000,
        recovery_ttl: Duration::from_secs(600),
        recovery_max_bytes: 1 << 30,
        ledger_keep: Duration::from_secs(600),
    };
    Services::new(Sieve::new(settings), Workbench::here().expect("a working folder"))
}

pub(crate) fn dashboard(services: Services) -> Dashboard {
    let settings = DashboardSettings {
        version: "1.2.3",
        prices: ModelPrices::with(&[]).expect("the known prices"),
        clients: Box::new(Vec::new),
        reach: Box::new(|| Err("not measured".to_owned())),
        health: crate::HealthSources::default(),
    };
    Dashboard::new(Arc::new(services), settings)
}
