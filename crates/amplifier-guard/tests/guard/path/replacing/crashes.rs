//! Whoever is killed while it replaces a file leaves the old one or the new one.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use amplifier_guard::PathPolicy;

use super::root;

/// The root of the child that is killed.
const CHILD_ROOT: &str = "REPLACING_KILLED_ROOT";

const CONTENT_BYTES: usize = 1 << 20;

#[test]
fn after_a_kill_the_file_is_the_old_one_or_the_new_one() {
    if let Ok(root) = std::env::var(CHILD_ROOT) {
        replace_for_ever(&root);
    }
    let (root, policy) = root();
    policy
        .create("large.txt", &vec![b'a'; CONTENT_BYTES], false)
        .unwrap();
    for kill in 1..=10 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--nocapture",
                "path::replacing::crashes::after_a_kill_the_file_is_the_old_one_or_the_new_one",
            ])
            .env(CHILD_ROOT, root.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        for _ in 0..kill {
            lines.next().unwrap().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let content = policy.read("large.txt", u64::MAX).unwrap();
        assert_eq!(content.len(), CONTENT_BYTES);
        assert!(content.iter().all(|byte| *byte == content[0]));
    }
}

fn replace_for_ever(root: &str) -> ! {
    let policy = PathPolicy::new(root).unwrap();
    for letter in (b'a'..=b'z').cycle() {
        let content = vec![letter; CONTENT_BYTES];
        policy.replace("large.txt", &content, None, false).unwrap();
        eprintln!("replaced");
    }
    unreachable!()
}
