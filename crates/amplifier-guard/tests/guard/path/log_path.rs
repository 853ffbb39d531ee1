//! Logs tell paths without telling who works where.

use std::path::Path;

use amplifier_guard::log_path;

#[test]
fn paths_are_counted_from_the_project_else_from_home() {
    for (path, expected) in [
        ("/home/me/proj/src/main.rs", "src/main.rs"),
        ("/home/me/proj//src/./x/../main.rs", "src/main.rs"),
        ("/home/me/proj", "."),
        ("/home/me/proj/../other/x", "~/other/x"),
        ("/home/me/proj-evil/x", "~/proj-evil/x"),
        ("/home/me", "~"),
        ("/home/meg/x", "/home/meg/x"),
        ("/../etc/passwd", "/etc/passwd"),
        ("src/main.rs", "src/main.rs"),
        ("../x", "../x"),
        ("/", "/"),
        ("/home/me/proj/a\nb\u{1b}", "a\\nb\\x1b"),
        ("/home/me/proj/a\u{202e}b", "a\\u{202e}b"),
    ] {
        let root = Some(Path::new("/home/me/proj"));
        let shown = log_path(Path::new(path), root, Some(Path::new("/home/me/")));
        assert_eq!(shown, expected, "{path}");
    }
}

#[test]
fn a_root_of_everything_shortens_nothing() {
    let everything = Some(Path::new("/"));
    assert_eq!(
        log_path(Path::new("/etc/x"), everything, everything),
        "/etc/x"
    );
    assert_eq!(log_path(Path::new("/etc/x"), None, None), "/etc/x");
}

#[cfg(unix)]
#[test]
fn bytes_that_are_not_utf8_are_escaped() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(OsStr::from_bytes(b"caf\xe9/x"));
    assert_eq!(log_path(path, None, None), "caf\\xe9/x");
}
