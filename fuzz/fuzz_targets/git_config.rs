//! A repository's git configuration: what is kept of it reads the same again, and a remote's address is judged without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some(rendered) = tamis_git::fuzzing::kept(data) {
        assert_eq!(tamis_git::fuzzing::kept(&rendered).as_ref(), Some(&rendered), "it reads the same again");
    }
    tamis_git::fuzzing::judge_address(&String::from_utf8_lossy(data));
});
