//! Where the rules of git are: `.gitignore` in each folder, `.git/info/exclude` in a repository.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use cap_std::fs::Dir;

use super::PathPolicy;
use super::git_ignore::Rules;
use super::is_loop;
use super::one_name::{open_file, open_folder};

/// A larger file of rules is not read.
const MAX_RULE_FILE_BYTES: u64 = 1 << 20;

impl PathPolicy {
    /// The rules of git in the folders from the root to that around `prefix`.
    pub(super) fn rules_above(&self, prefix: &Path, sum: &Arc<AtomicUsize>) -> Option<Arc<Rules>> {
        let mut rules = None;
        let mut above: Vec<_> = prefix.ancestors().skip(1).collect();
        above.reverse();
        for folder in above {
            // What may be entered and not be read has no rules.
            if let Ok(directory) = self.open_directory(&Path::new(".").join(folder)) {
                (rules, _) = rules_in(&directory, folder, rules, sum);
            }
        }
        rules
    }
}

/// The rules of git that hold in a folder, and whether all of them could be read.
pub(super) fn rules_in(
    directory: &Dir,
    path: &Path,
    outer: Option<Arc<Rules>>,
    sum: &Arc<AtomicUsize>,
) -> (Option<Arc<Rules>>, bool) {
    let base = path.as_os_str().len();
    let base = if base == 0 { 0 } else { base + 1 };
    let mut is_whole = true;
    let mut add = |rules: Option<Arc<Rules>>, read: io::Result<Option<Vec<u8>>>| match read {
        Ok(None) => rules,
        Ok(Some(text)) => {
            let inner = Rules::read(&text, base, rules.clone(), sum);
            is_whole &= inner.is_some();
            inner.map(Arc::new).or(rules)
        }
        Err(_) => {
            is_whole = false;
            rules
        }
    };
    // A repository of its own begins anew.
    let mut rules = outer;
    if let Some(exclude) = repository(directory) {
        rules = add(None, exclude);
    }
    rules = add(rules, read_rules(directory, ".gitignore"));
    (rules, is_whole)
}

/// Of a folder that is a repository of git its own rules: those in `.git/info/exclude`.
fn repository(directory: &Dir) -> Option<io::Result<Option<Vec<u8>>>> {
    let metadata = directory.symlink_metadata(".git").ok()?;
    if metadata.is_file() {
        return Some(Ok(None));
    }
    let git = open_folder(directory, ".git".as_ref()).ok()?;
    git.symlink_metadata("HEAD").ok()?;
    Some(match open_folder(&git, "info".as_ref()) {
        Ok(info) => read_rules(&info, "exclude"),
        Err(_) => Ok(None),
    })
}

/// The text of a file of rules; nothing if there is none, or a link, which git does not follow either.
fn read_rules(directory: &Dir, name: &str) -> io::Result<Option<Vec<u8>>> {
    let file = match open_file(directory, name.as_ref()) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if is_loop(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut text = Vec::new();
    file.take(MAX_RULE_FILE_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_RULE_FILE_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(text))
}
