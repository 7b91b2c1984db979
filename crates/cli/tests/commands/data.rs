//! `data show` and `data purge`.

use serde_json::json;

use super::common::{Fixture, module};

#[test]
fn data_show_counts_in_the_singular_too() {
    let fixture = Fixture::new();
    fixture.run(&["prune", "--goal", "how does cache_17 fill the cache"], module().as_bytes());
    let shown = fixture.run(&["data", "show"], b"").stdout;
    for words in ["1 file, ", "1 row, ", " in 1 call; 0 tokens recovered later"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn purge_erases_what_it_says() {
    let fixture = Fixture::new();
    fixture.run(&["prune", "--goal", "x"], b"some text\n");
    let kept = fixture.run(&["data", "purge", "--older-than", "1d", "--yes"], b"");
    assert_eq!(kept.stderr, "erased 0 originals (0 bytes) and 0 ledger rows\n");
    assert_eq!(fixture.run(&["data", "purge", "--yes"], b"").code, Some(0));
    let shown = fixture.run(&["data", "show", "--json"], b"").json();
    assert_eq!((&shown["recovery"]["originals"], &shown["ledger"]["rows"]), (&json!(0), &json!(0)));
    assert_eq!(shown["problems"], json!([]));
}
