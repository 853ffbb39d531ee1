//! Whoever swaps files, folders and links while a policy works wins nothing.
//!
//! A race is one call during which the other thread swapped something at least once. How many are
//! run is 500, or what the environment variable `GUARD_RACES` says.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use amplifier_guard::{LineRange, LineSearch, Order, PathError, PathPolicy, Walker};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use rustix::io::Errno;
use tempfile::TempDir;

const SECRET: &str = "the-secret";

/// Swapped again and again: the first is harmless, the other leads where nobody may write.
const SWAPS: [(&str, &str); 9] = [
    // A folder on the way and a link to one outside, relative and absolute.
    ("shelf", "trap"),
    ("shelf", "absolute-trap"),
    // A file and a link to one outside, relative and absolute.
    ("note", "bait"),
    ("note", "absolute-bait"),
    // A folder and a file, and links to what may not be written although it lies inside.
    ("shelf", "passage"),
    ("note", "gate"),
    // A file and a pipe, for whose other end nobody waits.
    ("note", "pipe"),
    // A file and another name of one outside.
    ("page", "hard"),
    // A folder and one outside: what is above it changes.
    ("moving/inner", "../elsewhere/inner"),
];

fn races() -> usize {
    std::env::var("GUARD_RACES").map_or(500, |count| count.parse().unwrap())
}

/// `proj` is the root; everything in `elsewhere` is secret, names and contents; `.git` and `.env`
/// may be read and not be written.
fn tree() -> (TempDir, PathBuf) {
    let outer = TempDir::new().unwrap();
    let root = outer.path().canonicalize().unwrap().join("proj");
    let elsewhere = root.join("../elsewhere");
    for folder in [
        "shelf",
        "moving/inner",
        "../elsewhere/inner",
        "../elsewhere/deep",
        ".git",
    ] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for file in [
        "shelf/x",
        "shelf/deep",
        "note",
        "page",
        "moving/x",
        ".git/x",
        ".env",
    ] {
        fs::write(root.join(file), "harmless").unwrap();
    }
    for file in ["x", "deep/x", "twin", SECRET] {
        fs::write(elsewhere.join(file), SECRET).unwrap();
    }
    let outside = outer.path().canonicalize().unwrap().join("elsewhere");
    symlink("../elsewhere", root.join("trap")).unwrap();
    symlink(&outside, root.join("absolute-trap")).unwrap();
    symlink("../elsewhere/x", root.join("bait")).unwrap();
    symlink(".git", root.join("passage")).unwrap();
    symlink(".env", root.join("gate")).unwrap();
    symlink(outside.join("x"), root.join("absolute-bait")).unwrap();
    fs::hard_link(elsewhere.join("twin"), root.join("hard")).unwrap();
    mknodat(
        CWD,
        root.join("pipe"),
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    (outer, root)
}

/// The files that nobody may write and what they hold, as far as nobody swaps them.
fn untouchable(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let elsewhere = root.join("../elsewhere");
    let folders = [elsewhere.clone(), elsewhere.join("deep"), root.join(".git")];
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = entries
        .map(|entry| entry.unwrap().path())
        .chain([root.join(".env")]);
    paths
        .map(|path| (path.clone(), fs::read(path).unwrap_or_default()))
        .collect()
}

/// One call: everything that it showed of the tree, or why it was refused.
type Call<Policy> = fn(&Policy) -> Result<String, String>;

#[derive(Debug, Default)]
struct Tally {
    races: usize,
    succeeded: usize,
    seen_outside: usize,
    written_where_nobody_may: bool,
}

struct Stop<'flag>(&'flag AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Makes the calls over and over while another thread swaps, until so many were races.
fn race<Policy>(policy: &Policy, root: &Path, calls: &[Call<Policy>], races: usize) -> Tally {
    let before = untouchable(root);
    let (done, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            for (one, other) in SWAPS.iter().cycle() {
                // An even number of times, so that all is in its place in the end.
                for _ in 0..2 {
                    let (one, other) = (root.join(one), root.join(other));
                    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        // Also where a call panics: the scope waits for the other thread.
        let _stop = Stop(&done);
        for call in calls.iter().cycle() {
            let earlier = swaps.load(Ordering::Relaxed);
            let shown = call(policy);
            tally.races += usize::from(swaps.load(Ordering::Relaxed) != earlier);
            tally.succeeded += usize::from(shown.is_ok());
            tally.seen_outside += usize::from(shown.is_ok_and(|shown| shown.contains(SECRET)));
            if tally.races >= races || swapper.is_finished() {
                break;
            }
        }
    });
    tally.written_where_nobody_may = untouchable(root) != before;
    tally
}

/// A refusal that a swapped tree explains; anything else would be a fault of another kind.
fn told(error: &PathError) -> String {
    let is_explained = match error {
        PathError::Outside { .. }
        | PathError::Missing { .. }
        | PathError::Loop { .. }
        | PathError::NotAFile { .. }
        | PathError::NotADirectory { .. }
        | PathError::HardLinks { .. }
        | PathError::Protected { .. }
        | PathError::Secret { .. }
        | PathError::Changed { .. } => true,
        // A pipe that nobody reads.
        PathError::Unwritable { source, .. } => {
            source.raw_os_error() == Some(Errno::NXIO.raw_os_error())
        }
        _ => false,
    };
    assert!(is_explained, "{error:?}");
    error.to_string()
}

fn walker(stopped: &mut dyn FnMut() -> bool) -> Walker<'_> {
    Walker {
        skip: &[],
        skip_ignored: false,
        pattern: None,
        order: Order::Path,
        limit: usize::MAX,
        most_bytes: usize::MAX,
        stopped,
    }
}

fn read(policy: &PathPolicy, path: &str) -> Result<String, String> {
    let content = policy.read(path, 1000).map_err(|error| told(&error))?;
    Ok(String::from_utf8(content).unwrap())
}

fn list(policy: &PathPolicy, path: &str) -> Result<String, String> {
    Ok(format!(
        "{:?}",
        policy.list(path).map_err(|error| told(&error))?
    ))
}

fn lines(policy: &PathPolicy, path: &str) -> Result<String, String> {
    let range = LineRange {
        first: 1,
        limit: 10,
        most_bytes: 1000,
    };
    let window = policy
        .lines(path, range, &mut || false)
        .map_err(|error| told(&error))?;
    Ok(String::from_utf8(window.content).unwrap())
}

fn walk(policy: &PathPolicy, path: &str) -> Result<String, String> {
    Ok(format!(
        "{:?}",
        policy
            .walk(path, &mut walker(&mut || false))
            .map_err(|error| told(&error))?
    ))
}

fn search(policy: &PathPolicy, path: &str) -> Result<String, String> {
    let any = LineSearch::new(".", false).unwrap();
    let found = policy.search(path, &any, 100, &mut walker(&mut || false));
    Ok(format!("{:?}", found.map_err(|error| told(&error))?))
}

fn write(policy: &PathPolicy, path: &str) -> Result<String, String> {
    let landed = policy
        .write(path, b"written", false)
        .map_err(|error| told(&error))?;
    Ok(landed.display().to_string())
}

fn replace(policy: &PathPolicy, path: &str) -> Result<String, String> {
    let landed = policy
        .replace(path, b"written", None, false)
        .map_err(|error| told(&error))?;
    Ok(landed.display().to_string())
}

#[test]
fn no_read_shows_what_lies_outside_whatever_is_swapped() {
    let (_outer, root) = tree();
    // What the policy is asked for lies inside; only a swap could make it lead elsewhere.
    fs::remove_file(root.join("hard")).unwrap();
    fs::write(root.join("hard"), "harmless").unwrap();
    let policy = PathPolicy::new(&root).unwrap();
    let calls: [Call<PathPolicy>; 10] = [
        |policy| read(policy, "shelf/x"),
        |policy| read(policy, "note"),
        |policy| read(policy, "moving/inner/../x"),
        |policy| read(policy, "shelf/../shelf/deep/x"),
        |policy| lines(policy, "note"),
        |policy| list(policy, "shelf"),
        |policy| list(policy, "moving/inner/.."),
        |policy| walk(policy, "shelf"),
        |policy| search(policy, "."),
        |policy| search(policy, "moving/inner/.."),
    ];
    let tally = race(&policy, &root, &calls, races());
    assert!(
        tally.seen_outside == 0 && !tally.written_where_nobody_may,
        "{tally:?}"
    );
    assert!(tally.races >= races() && tally.succeeded > 0, "{tally:?}");
}

#[test]
fn no_write_lands_where_nobody_may_write_whatever_is_swapped() {
    let (_outer, root) = tree();
    let policy = PathPolicy::new(&root).unwrap();
    let calls: [Call<PathPolicy>; 9] = [
        |policy| write(policy, "shelf/x"),
        |policy| write(policy, "note"),
        |policy| write(policy, "page"),
        |policy| write(policy, "shelf/new/deeper/x"),
        |policy| write(policy, "shelf/../shelf/y"),
        |policy| replace(policy, "shelf/x"),
        |policy| replace(policy, "note"),
        |policy| replace(policy, "page"),
        |policy| replace(policy, "shelf/new/deeper/z"),
    ];
    let tally = race(&policy, &root, &calls, races());
    assert!(!tally.written_where_nobody_may, "{tally:?}");
    assert!(tally.races >= races() && tally.succeeded > 0, "{tally:?}");
}

/// What the policy must not be: it looks, finds everything in order, and only then opens.
struct Naive(PathBuf);

impl Naive {
    fn checked(&self, path: &str) -> Result<PathBuf, String> {
        let path = self.0.join(path);
        let is_inside = path
            .canonicalize()
            .is_ok_and(|real| real.starts_with(&self.0));
        // Where others may come in between, as they may anywhere.
        thread::yield_now();
        if is_inside {
            Ok(path)
        } else {
            Err("outside".to_owned())
        }
    }

    fn read(&self, path: &str) -> Result<String, String> {
        fs::read_to_string(self.checked(path)?).map_err(|error| error.to_string())
    }

    fn write(&self, path: &str) -> Result<String, String> {
        let written = fs::write(self.checked(path)?, "written");
        written
            .map(|()| path.to_owned())
            .map_err(|error| error.to_string())
    }
}

#[test]
fn a_policy_that_looks_first_and_opens_then_is_found_out() {
    let (_outer, root) = tree();
    // It would wait for the pipe.
    fs::remove_file(root.join("pipe")).unwrap();
    fs::write(root.join("pipe"), "harmless").unwrap();
    let policy = Naive(root.clone());
    let reads: [Call<Naive>; 2] = [
        |policy| policy.read("shelf/x"),
        |policy| policy.read("note"),
    ];
    let writes: [Call<Naive>; 2] = [
        |policy| policy.write("shelf/x"),
        |policy| policy.write("note"),
    ];
    let mut rounds = (0..1000).map(|_| race(&policy, &root, &reads, 100));
    assert!(rounds.any(|tally| tally.seen_outside > 0));
    let mut rounds = (0..1000).map(|_| race(&policy, &root, &writes, 100));
    assert!(rounds.any(|tally| tally.written_where_nobody_may));
}
