//! Ending instances, and removing what is left of them where nothing is lost.

pub(crate) mod disposal;
pub(crate) mod ending;
pub(crate) mod stop_and_gc;
