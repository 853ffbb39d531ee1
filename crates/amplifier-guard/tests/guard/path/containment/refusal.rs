//! What is said of a path that is refused.

use amplifier_guard::PathError;

use super::tree;

#[test]
fn a_refusal_says_what_is_there() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let (outer, policy) = tree();
    let pipe = outer.path().join("proj/pipe");
    mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
    let told = |error: PathError| error.to_string();

    assert_eq!(
        policy.open("pipe").map_err(told).unwrap_err(),
        "`pipe` is a special file (pipe, socket or device), not a regular file"
    );
    assert_eq!(
        policy.open("src").map_err(told).unwrap_err(),
        "`src` is a directory, not a regular file"
    );
    assert_eq!(
        policy.list("near").map_err(told).unwrap_err(),
        "`near` is a file, not a directory"
    );
}

#[test]
fn two_hundred_characters_of_a_path_are_shown() {
    let (_outer, policy) = tree();
    for (character, count) in [('a', 200), ('a', 201), ('😀', 60), ('😀', 200), ('😀', 201)] {
        let path: String = vec![character; count].into_iter().collect();
        let shown: String = path.chars().take(200).collect();
        let shown = shown + if count > 200 { "…" } else { "" };
        let message = policy.read(&path, 1).unwrap_err().to_string();
        assert!(message.contains(&format!("`{shown}`")), "{message}");
    }
}
