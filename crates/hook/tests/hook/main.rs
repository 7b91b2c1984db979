//! Hook calls of every client, in the forms that the real ones send.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod claude;
mod fixture;
mod other_clients;
mod rules;
mod shown;
