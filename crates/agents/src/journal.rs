//! The journal of operations, the reconciler that repairs what was interrupted, and the locks of families.

pub(crate) mod audit;
pub(crate) mod family_locks;
pub(crate) mod operations;
pub(crate) mod reconciler;
