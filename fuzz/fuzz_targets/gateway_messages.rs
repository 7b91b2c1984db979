//! Messages that pass through the gateway: what it changes leaves the rest of the line as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tamis_gateway::fuzzing::check_line(data));
