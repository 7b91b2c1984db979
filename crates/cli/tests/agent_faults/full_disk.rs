//! A data folder on a disk that fills up, a little later each time.
//!
//! The disk is a small one in memory. Where it cannot be mounted, the test is skipped with a message.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::fixture::{Answer, FaultFixture};

const DISK: u64 = 24 << 20;

/// How many bytes are left when the calls come.
const LEFT: [u64; 5] = [0, 16 << 10, 128 << 10, 600 << 10, 1500 << 10];

struct Disk(PathBuf);

impl Disk {
    fn mount(path: &Path) -> Option<Disk> {
        fs::create_dir_all(path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={DISK},mode=0700"), "tmpfs"])
            .arg(path)
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Disk(path.to_owned()))
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }

    /// Fills it except for this many bytes.
    fn fill(&self, left: u64) {
        let mut file = fs::File::create(self.ballast()).unwrap();
        let mut size = 0;
        while file.write_all(&[0; 4096]).is_ok() {
            size += 4096;
        }
        file.set_len(size.max(left) - left).unwrap();
    }

    fn empty(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let mut fixture = FaultFixture::new();
    let Some(disk) = Disk::mount(&fixture.data()) else {
        eprintln!("not run: no disk can be mounted here");
        return;
    };
    // Worktrees need room, so that it ends in the middle of one.
    fs::write(fixture.project().join("large.bin"), vec![7; 1 << 20]).unwrap();
    fixture.git(&fixture.project(), &["add", "--", "large.bin"]);
    let words = ["-c", "user.name=A", "-c", "user.email=a@b.invalid", "commit", "--quiet", "-m", "Large"];
    fixture.git(&fixture.project(), &words);
    fixture.serve(None);
    let id = fixture.start();
    fixture.commit(&id, "work.txt", "first\n");
    for (number, left) in LEFT.into_iter().enumerate() {
        let refused = |answer: Answer| match answer {
            Answer::Done(_) => false,
            Answer::Refused(error) => {
                assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
                true
            }
            Answer::None => panic!("{left}: no answer"),
        };
        disk.fill(left);
        let failed = refused(fixture.call(&id, "request_review", &json!({}), &format!("r{number}")));
        disk.empty();
        fixture.end_server();
        fixture.serve(None);
        fixture.expect_consistency(&format!("after a request with {left} bytes left"));
        assert!(failed || left > 0, "there was no room for anything");
        if failed {
            assert_eq!(fixture.instance(&id)["status"], "STARTED", "{left}");
        }
    }
    // With room again it goes on.
    if fixture.instance(&id)["status"] == "STARTED" {
        fixture.request_review(&id);
    }
    let reviewer = fixture.reviewer_of(&id);
    fixture.make_a_mess(&id);
    for (number, left) in [0, 8 << 10].into_iter().enumerate() {
        disk.fill(left);
        let answer = fixture.call(&reviewer, "send_feedback", &crate::feedback(), &format!("f{number}"));
        disk.empty();
        assert!(!matches!(answer, Answer::None), "{left}: no answer");
        fixture.end_server();
        fixture.serve(None);
        fixture.expect_consistency(&format!("after feedback with {left} bytes left"));
    }
    let status = fixture.instance(&id)["status"].clone();
    if status == "WAITING_REVIEW" {
        let answer = fixture.call(&reviewer, "send_feedback", &crate::feedback(), "last");
        assert!(matches!(answer, Answer::Done(_)), "{answer:?}");
    }
    fixture.expect_consistency("with room again");
    assert!(fixture.worktree(&id).join("REVIEW_FEEDBACK.md").exists());
    // The server and the sessions hold the disk.
    fixture.end_server();
    let _ = fixture.tmux(&["kill-server"]);
}
