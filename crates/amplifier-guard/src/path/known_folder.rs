//! Folders whose files decide what runs, known by what is in them and not by their names.

use std::path::Path;

use cap_std::fs::Metadata;

use super::PathPolicy;
use super::error::shown;
use super::protected::folded_names;

/// The most of a configuration of git that is read, in bytes.
const MAX_CONFIG_BYTES: u64 = 65_536;
/// Folders of a Python environment that is the root itself, where everything else is the project's.
const OF_ENVIRONMENT: &[&str] = &["bin", "include", "lib", "lib64", "scripts"];

impl PathPolicy {
    /// The first folder of `target` in which nothing is written without approval, and the reason.
    pub(super) fn known_folder(&self, target: &Path) -> Option<(String, &'static str)> {
        let is_there = |path: &Path| self.directory.metadata(path).is_ok();
        target.ancestors().skip(1).find_map(|folder| {
            let within = folded_names(target.strip_prefix(folder).ok()?);
            let is_root = folder.as_os_str().is_empty();
            let first = within.first()?.as_str();
            let reason = if is_there(&folder.join("pyvenv.cfg"))
                && (!is_root || OF_ENVIRONMENT.contains(&first))
            {
                "is a Python environment"
            } else if is_there(&folder.join("HEAD"))
                && (is_there(&folder.join("objects")) || is_there(&folder.join("commondir")))
            {
                "is a repository of git"
            } else if self.holds_hooks(folder, target) {
                "has the hooks of git in a folder that its configuration names"
            } else {
                return None;
            };
            let folder = if is_root { Path::new(".") } else { folder };
            Some((shown(folder), reason))
        })
    }

    /// Whether the configuration of the repository in `folder` says that `target` is a hook.
    fn holds_hooks(&self, folder: &Path, target: &Path) -> bool {
        let config = folder.join(".git/config");
        let is_file = |metadata: Metadata| metadata.is_file();
        if !self.directory.metadata(&config).is_ok_and(is_file) {
            return false;
        }
        let text = self.read(config, MAX_CONFIG_BYTES).unwrap_or_default();
        let names = folded_names(target);
        String::from_utf8_lossy(&text).lines().any(|line| {
            // More than git reads: also comments, and other sections.
            let start = line.to_ascii_lowercase().find("hookspath");
            let value = start.and_then(|start| line[start..].split_once('='));
            let value = value.and_then(|(_, value)| value.split([';', '#']).next());
            let path = Path::new(value.unwrap_or_default().trim_matches([' ', '\t', '"']));
            let folder = if path.has_root() {
                Path::new("")
            } else {
                folder
            };
            let hooks = self
                .relative(path)
                .and_then(|inside| self.follow(path, &folder.join(inside)));
            // `.` is a folder with everything in it.
            hooks.is_ok_and(|hooks| {
                names.starts_with(&folded_names(hooks.strip_prefix(".").unwrap_or(&hooks)))
            })
        })
    }
}
