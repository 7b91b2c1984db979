//! What runs in an instance's session, and what it is told.
