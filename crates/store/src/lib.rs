//! The data folder: opening, locking, transactions and migrations.
//!
//! Entry points: [`DataDir`] for paths, [`Database`] for transactions, [`Writer`] for records that must not delay their
//! caller, [`Lock`], and [`read_foreign`] for the database of another program.
//!
//! Each crate defines its tables as a [`Component`]; the only table of this crate is the list of their versions. Any number of
//! processes share the folder, so a database that cannot be read must never be deleted or overwritten.

mod data_dir;
mod database;
mod error;
mod foreign;
mod lock;
mod migrate;
mod writer;

pub use data_dir::{DataDir, create_private_dir, private_file};
pub use database::Database;
pub use error::{Distrust, StoreError};
pub use foreign::{ForeignError, read_foreign};
pub use lock::Lock;
pub use migrate::Component;
/// For the crates that have tables, whose queries need its types. The test of the crate edges lists them.
pub use rusqlite;
pub use writer::{WriteJob, Writer, WriterProgress};
