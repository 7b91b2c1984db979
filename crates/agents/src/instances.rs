//! Instances: their names, identities, statuses, rows and settings.

pub(crate) mod archive;
pub(crate) mod id;
pub(crate) mod identity;
pub(crate) mod kinds;
pub(crate) mod records;
pub(crate) mod user_config;
pub(crate) mod work;
