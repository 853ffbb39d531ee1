//! Random values of the shared types.

use amplifier_core::{Json, Object};
use proptest::option;
use proptest::prelude::*;

/// Any JSON value, not too deep.
pub(crate) fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::Int),
        "-?[1-9][0-9]{19,60}".prop_map(|digits| Json::integer(&digits).expect("digits")),
        finite().prop_map(Json::Float),
        any::<String>().prop_map(Json::Str),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::Array),
            prop::collection::vec((any::<String>(), inner), 0..5)
                .prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

/// A float that JSON can hold.
pub(crate) fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |value| value.is_finite())
}

/// Any JSON object.
pub(crate) fn object() -> impl Strategy<Value = Object> {
    prop::collection::vec((any::<String>(), json()), 0..4)
        .prop_map(|entries| entries.into_iter().collect())
}

/// Keys that a record does not declare.
pub(crate) fn extra(declared: &'static [&'static str]) -> impl Strategy<Value = Object> {
    object().prop_map(move |mut entries| {
        entries.retain(|key, _| !declared.contains(&key.as_str()));
        entries
    })
}

/// One of a fixed list of values.
pub(crate) fn one_of<T: Copy + std::fmt::Debug + 'static>(
    values: &'static [T],
) -> impl Strategy<Value = T> {
    prop::sample::select(values)
}

prop_compose! {
    /// A date and time as Pydantic writes it.
    pub(crate) fn timestamp()(
        date in (1_u16..=9999, 1_u8..=12, 1_u8..=28),
        time in (0_u8..24, 0_u8..60, 0_u8..60),
        fraction in option::of(1_u32..1_000_000),
        zone in prop_oneof![
            Just(String::new()),
            Just("Z".to_owned()),
            ("[+-]", 0_u8..24, 0_u8..60)
                .prop_map(|(sign, hours, minutes)| format!("{sign}{hours:02}:{minutes:02}")),
        ],
    ) -> String {
        let (year, month, day) = date;
        let (hour, minute, second) = time;
        let fraction = fraction.map(|digits| format!(".{digits:06}")).unwrap_or_default();
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
    }
}
