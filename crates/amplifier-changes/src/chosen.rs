//! Which paths of a change a person wants.

use crate::place::Place;

/// The chosen paths; all of them without a list.
pub(crate) struct Chosen(Option<Vec<Place>>);

/// How much of what is at a place was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Whole,
    /// Something beneath it.
    Partly,
    Nothing,
}

impl Chosen {
    pub(crate) fn new(places: Option<Vec<Place>>) -> Self {
        Self(places.map(|mut places| {
            places.sort_unstable();
            places
        }))
    }

    pub(crate) fn of(&self, place: &Place) -> Choice {
        let Some(places) = &self.0 else {
            return Choice::Whole;
        };
        let is_listed = |place: &Place| places.binary_search(place).is_ok();
        let mut above = Place::default();
        for name in place.names() {
            above = above.join(name);
            if is_listed(&above) {
                return Choice::Whole;
            }
        }
        // All that is beneath a folder follows its path with a slash.
        let first = place.join(b"");
        let next = places.partition_point(|each| *each < first);
        let has_beneath = places.get(next).is_some_and(|each| each.is_beneath(place));
        if has_beneath {
            Choice::Partly
        } else {
            Choice::Nothing
        }
    }
}
