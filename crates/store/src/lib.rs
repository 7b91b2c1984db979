//! The data folder: opening, locking, transactions and migrations. It owns no table of its own but the list of
//! schema versions; each crate brings its tables as a [`Component`].
//!
//! Any number of processes share the folder. Nothing here deletes or overwrites a database that it cannot read.

mod data_dir;
mod database;
mod error;
mod foreign;
mod lock;
mod migrate;
mod writer;

pub use data_dir::{DataDir, create_private_dir, private_file};
pub use database::{Database, LOCK_PATIENCE};
pub use error::StoreError;
pub use foreign::{ForeignError, read_foreign};
pub use lock::Lock;
pub use migrate::Component;
/// For the crates that have tables, whose queries need its types. The test of the crate edges lists them.
pub use rusqlite;
pub use writer::{Job, Progress, Writer};
