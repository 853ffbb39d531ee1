//! The files and folders beneath the root that hold secrets.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::PathPolicy;
use super::error::{PathError, shown};
use super::folder::{Found, Opened};
use super::kept::Order;
use super::protected::{folded, may_end_secret};
use super::tour::{Visitor, Walker};

impl PathPolicy {
    /// The files and folders beneath the root that are not read without approval, from the root,
    /// sorted; `stopped` is asked now and then whether to give up.
    ///
    /// A folder is named and not walked, links are neither followed nor named, and `.git` is left
    /// out; what git ignores is not. What cannot be read may hold more.
    pub fn find_secrets(
        &self,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<PathBuf>, PathError> {
        let start = Path::new(".");
        let mut walker = Walker {
            skip: &[OsString::from(".git")],
            skip_ignored: false,
            pattern: None,
            order: Order::Path,
            limit: 0,
            most_bytes: 0,
            stopped,
        };
        let visited = self.visit(start, &mut walker, Secrets::default)?;
        if visited.was_full {
            let (path, source) = (shown(start), io::Error::other("too many folders at once"));
            return Err(PathError::Io { path, source });
        }
        let secrets = visited.visitors.into_iter().map(|visitor| visitor.paths);
        let mut paths: Vec<_> = secrets.flatten().collect();
        paths.sort();
        Ok(paths)
    }
}

/// What one thread has found.
#[derive(Default)]
struct Secrets {
    paths: Vec<PathBuf>,
}

impl Secrets {
    /// Keeps a path if it holds secrets; the folders around it do not.
    fn keep(&mut self, opened: &Opened, name: &OsStr, is_folder: bool) -> bool {
        // Most names are in no row: their folders need not be looked at.
        let is_secret =
            may_end_secret(&folded(&name.to_string_lossy())) && opened.has_secret(name, is_folder);
        if is_secret {
            self.paths.push(opened.path.join(name));
        }
        is_secret
    }
}

impl Visitor for Secrets {
    fn enters(&mut self, opened: &Opened, name: &OsStr) -> bool {
        !self.keep(opened, name, true)
    }

    fn visit(&mut self, found: &Found<'_>, _: &mut dyn FnMut() -> bool) -> Result<(), PathError> {
        self.keep(found.opened, found.name, false);
        Ok(())
    }
}
