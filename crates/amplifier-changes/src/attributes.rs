//! Extended attributes, and what those of an overlay mean.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use rustix::fs::{getxattr, lgetxattr, listxattr, llistxattr};
use rustix::io::{Errno, Result};
use serde::{Deserialize, Serialize};

use crate::name_in::name_in;
use crate::place::{from_text, to_text};
use crate::step;

/// What the kernel keeps for itself in the layer of an overlay.
const OVERLAY: &[u8] = b"user.overlay.";
/// What it writes where a command itself sets an attribute of that name.
const ESCAPED: &[u8] = b"user.overlay.overlay.";
const OPAQUE: &[u8] = b"user.overlay.opaque";
const ORIGIN: &[u8] = b"user.overlay.origin";

/// The attributes that a person or a program sets: others are of the system.
const OWN: [&[u8]; 2] = [b"user.", b"system.posix_acl_"];

/// The longest list of names, and the longest value.
const MAX_BYTES: usize = 65_536;

/// An attribute by its name, both with one character for each byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Attribute(String, String);

/// What the attributes of something in a layer say.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// A folder that has nothing of the one below it.
    pub(crate) is_opaque: bool,
    /// It was there before the command.
    pub(crate) is_copied: bool,
    /// The kernel has attributes of its own here, which no project gets.
    pub(crate) has_any: bool,
    /// Those of the command that the kernel has escaped, by their right names.
    pub(crate) unescaped: Vec<Attribute>,
}

impl Marks {
    pub(crate) fn read(folder: BorrowedFd<'_>, name: &[u8]) -> Result<Self> {
        let target = Target::new(folder, name);
        let mut marks = Self::default();
        for each in target.list()? {
            if !each.starts_with(OVERLAY) {
                continue;
            }
            marks.has_any = true;
            if let Some(name) = each.strip_prefix(ESCAPED) {
                let value = target.get(&each)?;
                let name = [OVERLAY, name].concat();
                marks
                    .unescaped
                    .push(Attribute(to_text(&name), to_text(&value)));
            } else if each == OPAQUE {
                // `x` says only that there may be whiteouts that are no devices.
                marks.is_opaque = target.get(&each)? == b"y";
            } else if each == ORIGIN {
                marks.is_copied = true;
            }
        }
        Ok(marks)
    }

    /// Removes what is of the kernel and gives back what is of the command, also if it did before.
    pub(crate) fn strip(
        folder: BorrowedFd<'_>,
        name: &[u8],
        unescaped: &[Attribute],
    ) -> Result<()> {
        let target = Target::new(folder, name);
        target.write(unescaped)?;
        for each in target.list()? {
            let is_own = unescaped.iter().any(|own| own.0 == to_text(&each));
            if each.starts_with(OVERLAY) && !is_own {
                step::remove_attribute(&target.path, target.is_open, &each)?;
            }
        }
        Ok(())
    }
}

/// The attributes that a person or a program has set, sorted.
pub(crate) fn read_own(folder: BorrowedFd<'_>, name: &[u8]) -> Result<Vec<Attribute>> {
    let target = Target::new(folder, name);
    let mut found = Vec::new();
    for each in target.list()? {
        if OWN.iter().any(|prefix| each.starts_with(prefix)) {
            found.push(Attribute(to_text(&each), to_text(&target.get(&each)?)));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The same of something in a layer, as the command saw them.
pub(crate) fn read_own_in_layer(folder: BorrowedFd<'_>, name: &[u8]) -> Result<Vec<Attribute>> {
    let mut found = read_own(folder, name)?;
    found.retain(|each| !is_of_overlay(each));
    found.extend(Marks::read(folder, name)?.unescaped);
    found.sort_unstable();
    Ok(found)
}

pub(crate) fn is_of_overlay(attribute: &Attribute) -> bool {
    attribute.0.as_bytes().starts_with(OVERLAY)
}

/// Has something have these attributes of a person, and no others.
pub(crate) fn replace_own(file: impl AsFd, name: &[u8], wanted: &[Attribute]) -> Result<()> {
    let target = Target::new(file.as_fd(), name);
    let now = read_own(file.as_fd(), name)?;
    for each in &now {
        if !wanted.iter().any(|other| other.0 == each.0) {
            let name = from_text(&each.0).ok_or(Errno::INVAL)?;
            step::remove_attribute(&target.path, target.is_open, &name)?;
        }
    }
    let missing: Vec<_> = wanted
        .iter()
        .filter(|each| !now.contains(each))
        .cloned()
        .collect();
    target.write(&missing)
}

/// Something that has attributes: a name in an open folder, or what is open itself.
struct Target {
    path: PathBuf,
    is_open: bool,
}

impl Target {
    fn new(folder: BorrowedFd<'_>, name: &[u8]) -> Self {
        Self {
            path: name_in(folder, name),
            is_open: name.is_empty(),
        }
    }

    fn write(&self, attributes: &[Attribute]) -> Result<()> {
        for Attribute(name, value) in attributes {
            let name = from_text(name).ok_or(Errno::INVAL)?;
            let value = from_text(value).ok_or(Errno::INVAL)?;
            step::set_attribute(&self.path, self.is_open, &name, &value)?;
        }
        Ok(())
    }

    fn list(&self) -> Result<Vec<Vec<u8>>> {
        let mut short = [0_u8; 512];
        let mut long = Vec::new();
        let names = match self.fill_list(&mut short) {
            Ok(length) => &short[..length],
            Err(Errno::RANGE) => {
                long.resize(MAX_BYTES, 0);
                let length = self.fill_list(&mut long)?;
                &long[..length]
            }
            Err(Errno::OPNOTSUPP) => &[],
            Err(error) => return Err(error),
        };
        let names = names.split(|byte| *byte == 0);
        Ok(names
            .filter(|name| !name.is_empty())
            .map(<[u8]>::to_vec)
            .collect())
    }

    fn fill_list(&self, names: &mut [u8]) -> Result<usize> {
        if self.is_open {
            listxattr(&self.path, names)
        } else {
            llistxattr(&self.path, names)
        }
    }

    fn get(&self, name: &[u8]) -> Result<Vec<u8>> {
        let mut value = vec![0; MAX_BYTES];
        let length = if self.is_open {
            getxattr(&self.path, name, &mut value[..])?
        } else {
            lgetxattr(&self.path, name, &mut value[..])?
        };
        value.truncate(length);
        Ok(value)
    }
}
