//! The names of the tags that a parser knows.

/// How many names one parser may know: as many as a set of names has bits.
///
/// A set is one `u64`, so that what looks at a `<` holds all names that it may still become, and
/// allocates nothing.
const MAX_NAMES: usize = 64;

/// How long a name may be, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Why tags cannot have these names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TagNameError {
    /// There is none.
    #[error("a tag parser needs at least one tag name")]
    Missing,
    /// There are too many.
    #[error("too many tag names: {0} (at most {MAX_NAMES})")]
    TooMany(usize),
    /// One of them cannot be used in a tag.
    #[error(
        "invalid tag name `{0}` (1 to {MAX_NAME_BYTES} bytes, \
         without blanks, controls and any of `<>/=\"'&!?`)"
    )]
    Invalid(String),
    /// One of them comes twice.
    #[error("tag name `{0}` is given twice")]
    Duplicate(String),
}

/// A tag name and its aliases; a tag is closed by the name that opened it.
///
/// # Examples
///
/// ```
/// use amplifier_stream::{TagNames, ThinkingParser};
///
/// let names = TagNames::new(["think", "thinking"])?.ignoring_case();
/// let (thinking, _) = ThinkingParser::new(names).parse("<Think>Hm.</Think>");
/// assert_eq!(thinking.as_deref(), Some("Hm."));
/// # Ok::<(), amplifier_stream::TagNameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagNames {
    names: Vec<Box<[u8]>>,
    ignores_case: bool,
    pub(super) allows_attributes: bool,
}

impl TagNames {
    /// Tags of exactly these names, without attributes.
    pub fn new<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Result<Self, TagNameError> {
        let mut known: Vec<Box<[u8]>> = Vec::new();
        for name in names {
            let name = name.as_ref();
            if !is_name(name) {
                return Err(TagNameError::Invalid(name.to_owned()));
            }
            let bytes = name.as_bytes().into();
            if known.contains(&bytes) {
                return Err(TagNameError::Duplicate(name.to_owned()));
            }
            known.push(bytes);
        }
        match known.len() {
            0 => Err(TagNameError::Missing),
            1..=MAX_NAMES => Ok(Self {
                names: known,
                ignores_case: false,
                allows_attributes: false,
            }),
            found => Err(TagNameError::TooMany(found)),
        }
    }

    /// Tags of one name that is known to be good.
    pub(super) fn known(name: &'static str) -> Self {
        Self {
            names: vec![name.as_bytes().into()],
            ignores_case: false,
            allows_attributes: false,
        }
    }

    /// The same names in any mix of capital and small ASCII letters.
    #[must_use]
    pub fn ignoring_case(mut self) -> Self {
        self.ignores_case = true;
        self
    }

    /// The same names, where attributes may follow the name and blanks may precede the `>`.
    #[must_use]
    pub fn with_attributes(mut self) -> Self {
        self.allows_attributes = true;
        self
    }

    /// A set of all names.
    pub(super) fn all(&self) -> u64 {
        // There is a name at least, so the shift is by less than 64 bits.
        u64::MAX >> (MAX_NAMES - self.names.len())
    }

    /// Those of a set of names that have this byte in this place.
    pub(super) fn having(&self, set: u64, place: usize, byte: u8) -> u64 {
        self.choose(set, |name| match name.get(place) {
            Some(wanted) if self.ignores_case => wanted.eq_ignore_ascii_case(&byte),
            Some(wanted) => *wanted == byte,
            None => false,
        })
    }

    /// The first of a set of names that is this long.
    pub(super) fn ending(&self, set: u64, length: usize) -> Option<usize> {
        // All names of the set have the same bytes so far. Two of this length differ in their case
        // alone, and the first of them counts.
        let complete = self.choose(set, |name| name.len() == length);
        (complete != 0).then(|| complete.trailing_zeros() as usize)
    }

    fn choose(&self, set: u64, is_chosen: impl Fn(&[u8]) -> bool) -> u64 {
        let mut chosen = 0;
        let mut rest = set;
        while rest != 0 {
            // The lowest bit that is set: only the names of the set are looked at.
            let lowest = rest & rest.wrapping_neg();
            if is_chosen(&self.names[lowest.trailing_zeros() as usize]) {
                chosen |= lowest;
            }
            rest ^= lowest;
        }
        chosen
    }
}

fn is_name(name: &str) -> bool {
    let is_allowed = |character: char| {
        !character.is_whitespace() && !character.is_control() && !"<>/=\"'&!?".contains(character)
    };
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.chars().all(is_allowed)
}
