//! The `git` program, run so that nothing of a repository's own is executed.
