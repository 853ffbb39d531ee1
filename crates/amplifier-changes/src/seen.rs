//! What is at a place now.

use rustix::io::{Errno, Result};

use crate::identity::{Beneath, Identity, is_folder};
use crate::moment::Moment;
use crate::place::Place;
use crate::tree::Tree;

/// What is at a place now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) identity: Identity,
    /// The latest ctime of it and of all that is beneath.
    pub(crate) newest: Moment,
}

/// Looks at a place; None if nothing is there.
pub(crate) fn look(tree: &Tree, place: &Place) -> Result<Option<Seen>> {
    let seen = look_lending(tree, place);
    tree.give_back();
    seen
}

fn look_lending(tree: &Tree, place: &Place) -> Result<Option<Seen>> {
    let Some(stat) = tree.stat(place)? else {
        return Ok(None);
    };
    let mut newest = Moment::changed(&stat);
    let mut identity = tree.identify(&stat);
    if is_folder(&stat) {
        let mut beneath = Beneath::default();
        let walked = tree.walk(place, |found| {
            newest = newest.max(Moment::changed(&found.stat));
            let (_, name) = found.place.split();
            beneath.add(found.folder_number, name, &tree.identify(&found.stat));
            Ok(true)
        });
        match walked {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            walked => walked?,
        }
        identity = identity.with_digest(beneath);
    }
    Ok(Some(Seen { identity, newest }))
}
