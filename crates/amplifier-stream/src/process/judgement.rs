//! Which judgement of a decoder belongs to which call.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use crate::ToolCall;

/// The id, the name and the arguments of a call as they came.
pub(super) type Identity<'a> = (Option<&'a str>, &'a str, &'a str);

/// Pairs calls with as many judgements: with those of the same call, and the rest in order.
///
/// The order alone is not enough: a filter that splits blocks may number them in another one.
pub(super) fn pair<'a>(calls: &[Identity<'a>], judged: &'a [Arc<ToolCall>]) -> Vec<&'a ToolCall> {
    let mut same: HashMap<Identity<'_>, VecDeque<usize>> = HashMap::new();
    for (place, call) in judged.iter().enumerate() {
        let identity = (call.id.as_deref(), &*call.name, &*call.raw_arguments);
        same.entry(identity).or_default().push_back(place);
    }
    let places: Vec<Option<usize>> = calls
        .iter()
        .map(|call| same.get_mut(call)?.pop_front())
        .collect();
    let rest: BTreeSet<usize> = same.into_values().flatten().collect();
    let mut rest = rest.into_iter();
    let places = places
        .into_iter()
        .filter_map(|place| place.or_else(|| rest.next()));
    places.map(|place| &*judged[place]).collect()
}
