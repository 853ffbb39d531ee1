//! What a character is, for being shown.

use icu_properties::props::{
    BinaryProperty, CanonicalCombiningClass, DefaultIgnorableCodePoint, Emoji, EnumeratedProperty,
    ExtendedPictographic, GeneralCategory, JoiningType, Math, PrependedConcatenationMark, Script,
    UnifiedIdeograph,
};
use icu_properties::{CodePointMapData, CodePointSetData};

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

/// The characters that are shown only where they mean something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Contextual {
    NonJoiner,
    Joiner,
    /// A variation selector, or the vowel separator of Mongolian.
    Variation,
    Tag,
    BrailleBlank,
}

pub(super) fn class(character: char) -> Class {
    match character {
        '\n' | '\t' | ' '..='~' | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' => Class::Base,
        '\u{200c}' => Class::Contextual(Contextual::NonJoiner),
        '\u{200d}' => Class::Contextual(Contextual::Joiner),
        '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            Class::Contextual(Contextual::Variation)
        }
        '\u{e0020}'..='\u{e007f}' => Class::Contextual(Contextual::Tag),
        '\u{2800}' => Class::Contextual(Contextual::BrailleBlank),
        _ => class_by_category(character),
    }
}

fn class_by_category(character: char) -> Class {
    use GeneralCategory as Category;
    let shown = match value::<GeneralCategory>(character) {
        Category::Format if has::<PrependedConcatenationMark>(character) => Class::Base,
        Category::Control
        | Category::Format
        | Category::Surrogate
        | Category::LineSeparator
        | Category::ParagraphSeparator => Class::Hidden,
        Category::NonspacingMark | Category::EnclosingMark => Class::Mark,
        Category::Unassigned if is_noncharacter(character) => Class::Hidden,
        _ => Class::Base,
    };
    if has::<DefaultIgnorableCodePoint>(character) {
        Class::Hidden
    } else {
        shown
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

fn is_noncharacter(character: char) -> bool {
    let code = u32::from(character);
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}
