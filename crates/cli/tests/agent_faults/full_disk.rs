//! A data folder on a disk that fills up, a little later each time.
//!
//! The disk is a small one in memory. Whoever may not mount one cannot run this, and is told so.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::crew::{Answer, Crew};

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

    /// Fills it up to the last byte but so many.
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
    let mut crew = Crew::new();
    let Some(disk) = Disk::mount(&crew.data()) else {
        eprintln!("not run: no disk can be mounted here");
        return;
    };
    // Worktrees need room, so that it ends in the middle of one.
    fs::write(crew.project().join("large.bin"), vec![7; 1 << 20]).unwrap();
    crew.git(&crew.project(), &["add", "--", "large.bin"]);
    let words = ["-c", "user.name=A", "-c", "user.email=a@b.invalid", "commit", "--quiet", "-m", "Large"];
    crew.git(&crew.project(), &words);
    crew.serve(None);
    let id = crew.start();
    crew.commit(&id, "work.txt", "first\n");
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
        let failed = refused(crew.call(&id, "request_review", &json!({}), &format!("r{number}")));
        disk.empty();
        crew.end_server();
        crew.serve(None);
        crew.expect_consistency(&format!("after a request with {left} bytes left"));
        assert!(failed || left > 0, "there was no room for anything");
        if failed {
            assert_eq!(crew.instance(&id)["status"], "STARTED", "{left}");
        }
    }
    // With room again it goes on.
    if crew.instance(&id)["status"] == "STARTED" {
        crew.request_review(&id);
    }
    let reviewer = crew.reviewer_of(&id);
    crew.make_a_mess(&id);
    for (number, left) in [0, 8 << 10].into_iter().enumerate() {
        disk.fill(left);
        let answer = crew.call(&reviewer, "send_feedback", &crate::feedback(), &format!("f{number}"));
        disk.empty();
        assert!(!matches!(answer, Answer::None), "{left}: no answer");
        crew.end_server();
        crew.serve(None);
        crew.expect_consistency(&format!("after feedback with {left} bytes left"));
    }
    let status = crew.instance(&id)["status"].clone();
    if status == "WAITING_REVIEW" {
        let answer = crew.call(&reviewer, "send_feedback", &crate::feedback(), "last");
        assert!(matches!(answer, Answer::Done(_)), "{answer:?}");
    }
    crew.expect_consistency("with room again");
    assert!(crew.worktree(&id).join("REVIEW_FEEDBACK.md").exists());
    // The server and the sessions hold the disk.
    crew.end_server();
    let _ = crew.tmux(&["kill-server"]);
}
