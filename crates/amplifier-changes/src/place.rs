//! Paths from a folder, as bytes: names need not be text.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path from the root of a tree; the empty one is the root itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place(Vec<u8>);

impl Place {
    /// Reads a path from outside; None unless it names something beneath the root.
    pub(crate) fn from_path(path: &Path) -> Option<Self> {
        let bytes = path.as_os_str().as_bytes();
        let is_plain = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
        let is_valid = bytes.split(|byte| *byte == b'/').all(is_plain) && !bytes.contains(&0);
        is_valid.then(|| Self(bytes.to_vec()))
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn join(&self, name: &[u8]) -> Self {
        let mut path = Vec::with_capacity(self.0.len() + name.len() + 1);
        path.extend_from_slice(&self.0);
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        Self(path)
    }

    /// The folder that it is in, and its name there; the root has no name.
    pub(crate) fn split(&self) -> (Self, &[u8]) {
        match self.0.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (Self(self.0[..slash].to_vec()), &self.0[slash + 1..]),
            None => (Self::default(), &self.0),
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        let names = self.0.split(|byte| *byte == b'/');
        names.filter(|name| !name.is_empty())
    }

    pub(crate) fn is_beneath(&self, folder: &Self) -> bool {
        let rest = self.0.strip_prefix(folder.0.as_slice());
        rest.is_some_and(|rest| {
            !rest.is_empty() && (folder.is_root() || rest.first() == Some(&b'/'))
        })
    }
}

/// Writes bytes as text that has one character for each: lossless, and readable where it is ASCII.
pub(crate) fn to_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Reads what [`to_text`] wrote.
pub(crate) fn from_text(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|each| u8::try_from(each).ok()).collect()
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_text(&self.0))
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = from_text(&text);
        bytes
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("a path that is not one"))
    }
}
