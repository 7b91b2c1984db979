//! Ending instances, and removing what is left of them where nothing is lost.

pub(crate) mod cleanup;
pub(crate) mod disposal;
pub(crate) mod ending;
