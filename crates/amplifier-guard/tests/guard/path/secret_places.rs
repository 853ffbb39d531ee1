//! Places outside of projects that hold secrets.
//!
//! Holds: sink-67
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use amplifier_guard::secret_places;
use tempfile::TempDir;

const LIST: &str = include_str!("../../../src/path/secret_places.txt");

/// The places beneath a home, from there.
fn find(home: &Path) -> Vec<PathBuf> {
    let home = home.canonicalize().unwrap();
    let places = secret_places(&home).into_iter();
    places
        .filter_map(|path| path.strip_prefix(&home).ok().map(Path::to_owned))
        .collect()
}

#[test]
fn a_home_holds_secrets_by_their_names_and_by_the_list() {
    let home = TempDir::new().unwrap();
    let files = [
        ".ssh/id_rsa",
        ".aws/credentials",
        ".docker/config.json",
        ".docker/contexts/x",
        ".config/gh/hosts.yml",
        ".config/git/ignore",
        ".config/google-chrome/Default/Cookies",
        ".local/share/keyrings/login.keyring",
        ".local/share/applications/x",
        ".bash_history",
        ".bashrc",
        ".env",
        ".env.example",
        ".envrc/bin/python",
        ".chef/me.pem",
        ".chef/config.rb",
        "vault.kdbx",
        "project/.env",
        "project/.ssh/id_rsa",
    ];
    for file in files {
        let path = home.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let expected = [
        ".aws",
        ".bash_history",
        ".chef/me.pem",
        ".config/gh",
        ".config/google-chrome",
        ".docker/config.json",
        ".env",
        ".local/share/keyrings",
        ".ssh",
        "vault.kdbx",
    ];
    assert_eq!(find(home.path()), expected.map(PathBuf::from));
}

#[test]
fn a_link_is_followed_to_the_place_but_never_to_the_whole_home() {
    let home = TempDir::new().unwrap();
    fs::create_dir(home.path().join("keys")).unwrap();
    symlink("keys", home.path().join(".ssh")).unwrap();
    symlink(".", home.path().join(".aws")).unwrap();
    symlink("/", home.path().join(".gnupg")).unwrap();
    symlink("missing", home.path().join(".netrc")).unwrap();
    assert_eq!(find(home.path()), [PathBuf::from("keys")]);
    assert!(!secret_places(home.path()).contains(&PathBuf::from("/")));
}

#[test]
fn the_secrets_of_the_system_are_named_where_they_are() {
    let home = TempDir::new().unwrap();
    let places = secret_places(home.path());
    for path in ["/etc/shadow", "/etc/gshadow", "/etc/ssl/private"] {
        let is_there = Path::new(path).exists();
        assert_eq!(places.contains(&PathBuf::from(path)), is_there, "{path}");
    }
    assert!(places.iter().all(|place| place.is_absolute()));
    assert!(places.is_sorted());
    assert_eq!(secret_places(Path::new("/nowhere/at/all")), places);
}

#[test]
fn each_row_of_the_list_is_a_place_with_a_reason() {
    let mut reason = "";
    let mut rows = Vec::new();
    for line in LIST.lines() {
        if let Some(heading) = line.strip_prefix('[') {
            reason = heading.strip_suffix(']').unwrap();
            rows.push(Vec::new());
        } else if !line.is_empty() && !line.starts_with('#') {
            assert!(reason.starts_with("holds "), "{line}");
            let names = line.strip_prefix("~/").or_else(|| line.strip_prefix('/'));
            let names = names.unwrap_or_else(|| panic!("{line}"));
            for name in names.split('/') {
                assert!(!["", ".", ".."].contains(&name), "{line}");
                assert!(name.matches('*').count() <= 1, "{line}");
            }
            rows.last_mut().unwrap().push(line);
        }
    }
    for rows in rows {
        assert!(rows.is_sorted_by(|one, other| one < other), "{rows:?}");
    }
}
