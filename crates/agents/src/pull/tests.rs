//! Pull requests against a GitHub that misbehaves, with rows and repositories that are real.
