//! Tests with real git.
