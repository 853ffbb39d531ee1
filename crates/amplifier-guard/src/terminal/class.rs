//! What a character is, for being shown.

use icu_properties::props::{
    BinaryProperty, CanonicalCombiningClass, Emoji, EnumeratedProperty, ExtendedPictographic,
    GeneralCategory, JoiningType, Math, Script, UnifiedIdeograph,
};
use icu_properties::{CodePointMapData, CodePointSetData};

use crate::text::character::{self, Contextual};

/// How a character is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// It takes a place of its own.
    Base,
    /// It is drawn over the character before it.
    Mark,
    /// Nothing is seen of it, but among certain characters it changes how they look.
    Contextual(Contextual),
    /// A terminal acts on it, or nothing is seen of it.
    Hidden,
}

pub(super) fn class(character: char) -> Class {
    match character::Class::of(character) {
        // No marks below: Latin needs no look into the properties.
        character::Class::Visible if character < '\u{300}' => Class::Base,
        character::Class::Visible => match value::<GeneralCategory>(character) {
            GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark => Class::Mark,
            _ => Class::Base,
        },
        character::Class::Control if matches!(character, '\n' | '\t') => Class::Base,
        character::Class::Contextual(contextual) => Class::Contextual(contextual),
        character::Class::Control
        | character::Class::Separator
        | character::Class::Bidirectional
        | character::Class::Invisible => Class::Hidden,
    }
}

/// Whether a character may begin what joins to the character after it.
pub(super) fn joins_next(character: char) -> bool {
    matches!(
        value::<JoiningType>(character),
        JoiningType::LeftJoining | JoiningType::DualJoining
    )
}

/// Whether a character may join to the one before it.
pub(super) fn joins_previous(character: char) -> bool {
    matches!(
        value::<JoiningType>(character),
        JoiningType::RightJoining | JoiningType::DualJoining
    )
}

/// Whether the letters on both sides of a mark join as if it were not there.
pub(super) fn is_transparent(mark: char) -> bool {
    value::<JoiningType>(mark) == JoiningType::Transparent
}

/// Whether a mark takes the vowel from a consonant, so that a joiner shapes what follows.
pub(super) fn is_virama(mark: char) -> bool {
    value::<CanonicalCombiningClass>(mark) == CanonicalCombiningClass::Virama
}

pub(super) fn is_letter(character: char) -> bool {
    value::<GeneralCategory>(character) == GeneralCategory::OtherLetter
}

/// Whether a joiner may follow: a pictograph, or the skin tone of one.
pub(super) fn ends_pictograph(character: char) -> bool {
    is_pictograph(character) || matches!(character, '\u{1f3fb}'..='\u{1f3ff}')
}

pub(super) fn is_pictograph(character: char) -> bool {
    has::<ExtendedPictographic>(character)
}

/// Whether a variation selector may follow, and what it selects is a form of its own.
pub(super) fn varies(base: char, selector: char) -> bool {
    match selector {
        '\u{fe0e}' | '\u{fe0f}' => has::<Emoji>(base),
        '\u{fe00}' => {
            matches!(
                value::<Script>(base),
                Script::Myanmar | Script::PhagsPa | Script::Manichaean
            ) || !base.is_ascii() && has::<Math>(base)
                || has::<UnifiedIdeograph>(base)
        }
        '\u{fe01}' | '\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => has::<UnifiedIdeograph>(base),
        '\u{180b}'..='\u{180f}' => value::<Script>(base) == Script::Mongolian,
        _ => false,
    }
}

fn value<P: EnumeratedProperty>(character: char) -> P {
    CodePointMapData::<P>::new().get(character)
}

fn has<P: BinaryProperty>(character: char) -> bool {
    CodePointSetData::new::<P>().contains(character)
}
