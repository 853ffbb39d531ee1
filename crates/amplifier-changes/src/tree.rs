//! A folder and what is in it, reached from its open root: no link leads out of it.

use std::cell::RefCell;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, Mode, OFlags, RenameFlags, ResolveFlags, Stat, fstat, open, openat, openat2,
    statat,
};
use rustix::io::{Errno, Result};

use crate::identity::{Copies, Identity, is_folder};
use crate::place::Place;
use crate::step;

/// How long a path is that is opened at once; the kernel takes 4,096 bytes.
const MAX_PATH_BYTES: usize = 4000;

/// What its owner needs in a folder.
const ACCESS: u32 = 0o700;

/// A project, or the layer of a change.
///
/// Folders whose modes keep out their owner are opened all the same: they get more rights until
/// [`Tree::give_back`].
pub(crate) struct Tree {
    root: OwnedFd,
    lent: RefCell<Vec<(Place, u32)>>,
    copies: Copies,
}

/// One thing in a tree, met by [`Tree::walk`].
pub(crate) struct Found<'walk> {
    pub(crate) place: &'walk Place,
    pub(crate) folder: &'walk OwnedFd,
    /// Which of the folders that were gone into it is in, in the order in which they were met.
    pub(crate) folder_number: u64,
    pub(crate) stat: Stat,
}

impl Found<'_> {
    pub(crate) fn name(&self) -> Vec<u8> {
        self.place.split().1.to_vec()
    }
}

impl Tree {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let root = open(path, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty())?;
        Ok(Self {
            root,
            lent: RefCell::default(),
            copies: Copies::default(),
        })
    }

    /// The same tree, in which copies stand for files that are no more.
    pub(crate) fn with_copies(self, copies: Copies) -> Self {
        Self { copies, ..self }
    }

    pub(crate) fn identify(&self, stat: &Stat) -> Identity {
        self.copies.identify(stat)
    }

    pub(crate) fn open_folder(&self, place: &Place) -> Result<OwnedFd> {
        match self.open_long(place, FOLDER) {
            Err(Errno::ACCESS) => {
                self.lend(place)?;
                self.open_long(place, FOLDER)
            }
            opened => opened,
        }
    }

    /// The folder that a place is in, and its name there.
    pub(crate) fn open_parent<'place>(
        &self,
        place: &'place Place,
    ) -> Result<(OwnedFd, &'place [u8])> {
        let (parent, name) = place.split();
        Ok((self.open_folder(&parent)?, name))
    }

    /// What is at a place; None if nothing is, also if a folder above is missing or none.
    pub(crate) fn stat(&self, place: &Place) -> Result<Option<Stat>> {
        if place.is_root() {
            return fstat(&self.root).map(Some);
        }
        match self.open_parent(place) {
            Ok((folder, name)) => stat_in(&folder, name),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Calls `visit` for all that is beneath a folder, in an order that depends on names alone; it
    /// returns whether to go into a folder. What vanishes meanwhile is left out.
    pub(crate) fn walk(
        &self,
        top: &Place,
        mut visit: impl FnMut(&Found<'_>) -> Result<bool>,
    ) -> Result<()> {
        let mut folders = vec![(top.clone(), 0)];
        let mut met = 0;
        let mut last: Option<(Place, OwnedFd)> = None;
        while let Some((place, folder_number)) = folders.pop() {
            let (parent, name) = place.split();
            // From the folder that was just read: in a long chain the way from the root is long.
            let opened = match &last {
                Some((above, folder)) if *above == parent => {
                    match self.open_from(Some(folder), name, FOLDER) {
                        Err(Errno::ACCESS) => self.open_folder(&place),
                        opened => opened,
                    }
                }
                _ => self.open_folder(&place),
            };
            let folder = match opened {
                Err(Errno::NOENT | Errno::NOTDIR) if place != *top => continue,
                opened => opened?,
            };
            for name in list_names(&folder)? {
                let Some(stat) = stat_in(&folder, &name)? else {
                    continue;
                };
                let found = Found {
                    place: &place.join(&name),
                    folder: &folder,
                    folder_number,
                    stat,
                };
                if visit(&found)? && is_folder(&stat) {
                    met += 1;
                    folders.push((found.place.clone(), met));
                }
            }
            last = Some((place, folder));
        }
        Ok(())
    }

    /// Gives the owner access to a folder and to those above it.
    pub(crate) fn lend(&self, place: &Place) -> Result<()> {
        let mut names = place.names();
        let mut above = Place::default();
        let mut file = self.open_long(&above, OFlags::PATH.union(FOLDER))?;
        loop {
            let mode = fstat(&file)?.st_mode;
            if mode & ACCESS != ACCESS {
                self.lent.borrow_mut().push((above.clone(), mode));
                step::set_mode(file.as_fd(), mode | ACCESS)?;
            }
            match names.next() {
                Some(name) => {
                    above = above.join(name);
                    file = self.open_from(Some(&file), name, OFlags::PATH.union(FOLDER))?;
                }
                None => return Ok(()),
            }
        }
    }

    /// Takes back all access that was given since, deepest first.
    pub(crate) fn give_back(&self) {
        while let Some((place, mode)) = self.lent.borrow_mut().pop() {
            // One that was moved meanwhile is not there any more: whoever moved it sets its mode.
            if let Ok(file) = self.open_long(&place, OFlags::PATH.union(FOLDER)) {
                let _ = step::set_mode(file.as_fd(), mode);
            }
        }
    }

    /// Moves from one tree to another, or exchanges what is in both.
    pub(crate) fn rename_to(&self, place: &Place, other: &Self, flags: RenameFlags) -> Result<()> {
        self.rename_as(place, other, place, flags)
    }

    pub(crate) fn rename_as(
        &self,
        place: &Place,
        other: &Self,
        place_there: &Place,
        flags: RenameFlags,
    ) -> Result<()> {
        let (from, name) = self.open_parent(place)?;
        let (to, new_name) = other.open_parent(place_there)?;
        let call = || step::rename((from.as_fd(), name), (to.as_fd(), new_name), flags);
        match call() {
            Err(Errno::ACCESS) => {}
            done => return done,
        }
        // A folder that moves to another one is written, too: `..` changes.
        self.lend(&place.split().0)?;
        other.lend(&place_there.split().0)?;
        let mut moved = Vec::new();
        for (folder, name) in [(&from, name), (&to, new_name)] {
            if let Some(stat) = stat_in(folder, name)?
                && is_folder(&stat)
            {
                let file = openat(folder, name, OFlags::PATH.union(FOLDER), Mode::empty())?;
                step::set_mode(file.as_fd(), stat.st_mode | ACCESS)?;
                moved.push((file, stat.st_mode));
            }
        }
        let done = call();
        for (file, mode) in moved {
            step::set_mode(file.as_fd(), mode)?;
        }
        done
    }

    /// Deletes what is at a place, with all that is beneath it.
    pub(crate) fn delete(&self, place: &Place) -> Result<()> {
        let Some(stat) = self.stat(place)? else {
            return Ok(());
        };
        let (parent, name) = self.open_parent(place)?;
        if !is_folder(&stat) {
            return step::remove_file(&parent, name);
        }
        let mut folders = vec![place.clone()];
        // Each folder comes after the one that it is in: from the end, all are empty.
        let mut next = 0;
        while let Some(folder_place) = folders.get(next).cloned() {
            let folder = self.open_folder(&folder_place)?;
            let mode = fstat(&folder)?.st_mode;
            if mode & ACCESS != ACCESS {
                step::set_mode(folder.as_fd(), mode | ACCESS)?;
            }
            for name in list_names(&folder)? {
                match stat_in(&folder, &name)? {
                    Some(stat) if is_folder(&stat) => folders.push(folder_place.join(&name)),
                    Some(_) => step::remove_file(&folder, &name)?,
                    None => {}
                }
            }
            next += 1;
        }
        for folder in folders.iter().rev() {
            let (parent, name) = self.open_parent(folder)?;
            step::remove_folder(&parent, name)?;
        }
        Ok(())
    }

    fn open_long(&self, place: &Place, flags: OFlags) -> Result<OwnedFd> {
        let mut folder = None;
        let mut rest = place.as_bytes();
        while rest.len() > MAX_PATH_BYTES {
            let slash = rest[..MAX_PATH_BYTES].iter().rposition(|it| *it == b'/');
            let end = slash.ok_or(Errno::NAMETOOLONG)?;
            folder =
                Some(self.open_from(folder.as_ref(), &rest[..end], OFlags::PATH.union(FOLDER))?);
            rest = &rest[end + 1..];
        }
        self.open_from(folder.as_ref(), rest, flags)
    }

    fn open_from(&self, folder: Option<&OwnedFd>, path: &[u8], flags: OFlags) -> Result<OwnedFd> {
        let folder = folder.unwrap_or(&self.root);
        let path = if path.is_empty() {
            b".".as_slice()
        } else {
            path
        };
        let resolve = ResolveFlags::BENEATH
            .union(ResolveFlags::NO_SYMLINKS)
            .union(ResolveFlags::NO_MAGICLINKS);
        match openat2(folder, path, flags, Mode::empty(), resolve) {
            // A link where a folder was: there is no such folder.
            Err(Errno::LOOP) => Err(Errno::NOTDIR),
            opened => opened,
        }
    }
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

pub(crate) fn stat_in(folder: &OwnedFd, name: &[u8]) -> Result<Option<Stat>> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names in a folder, sorted.
pub(crate) fn list_names(folder: &OwnedFd) -> Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name.to_bytes().to_vec());
        }
    }
    names.sort_unstable();
    Ok(names)
}
