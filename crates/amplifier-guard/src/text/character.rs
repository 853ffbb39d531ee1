//! Characters that can deceive: invisible ones, and those that look like ASCII.
//!
//! This is the only table of them. Each sink asks for the classes that matter to it; if it allows one
//! that another sink refuses, it says why.

use std::sync::LazyLock;

/// How a character can deceive a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// It is visible; [`ascii`] says what it can be mistaken for.
    Visible,
    /// A terminal acts on it.
    Control,
    /// Some readers end a line at it.
    Separator,
    /// It changes the direction of the text around it.
    Bidirectional,
    /// It is invisible, or not a character at all.
    Invisible,
    /// It is invisible, but scripts and pictographs need it in some places.
    Contextual(Contextual),
}

/// The invisible characters that have a meaning in the right place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contextual {
    NonJoiner,
    Joiner,
    /// A variation selector, or the vowel separator of Mongolian.
    Variation,
    /// A tag: it makes the flags of three regions, and anywhere else it hides a letter.
    Tag,
    BrailleBlank,
}

impl Class {
    /// The class of a character.
    ///
    /// The ranges are those of Unicode's `Default_Ignorable_Code_Point`, of the categories `Cc`,
    /// `Cf` (except the visible signs before numbers), `Zl` and `Zp`, and of the noncharacters.
    /// They are written out because a comparison of ranges is several times faster than a look into
    /// the properties; a test compares them with the properties for every character.
    pub(crate) fn of(character: char) -> Self {
        match character {
            ' '..='~' | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{34e}' => Self::Visible,
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Self::Control,
            '\u{2028}' | '\u{2029}' => Self::Separator,
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => Self::Bidirectional,
            '\u{200c}' => Self::Contextual(Contextual::NonJoiner),
            '\u{200d}' => Self::Contextual(Contextual::Joiner),
            '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
                Self::Contextual(Contextual::Variation)
            }
            '\u{e0020}'..='\u{e007f}' => Self::Contextual(Contextual::Tag),
            '\u{2800}' => Self::Contextual(Contextual::BrailleBlank),
            // Soft hyphen, grapheme joiner, fillers of Hangul, inherent vowels of Khmer.
            '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{3164}'
            | '\u{ffa0}'
            // Blanks without width, operators that are not written, deprecated formats.
            | '\u{200b}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}'
            // Formats of hieroglyphs, shorthand and music.
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            // What is kept for more tags and selectors.
            | '\u{e0000}'..='\u{e001f}'
            | '\u{e0080}'..='\u{e00ff}'
            | '\u{e01f0}'..='\u{e0fff}' => Self::Invisible,
            _ if is_noncharacter(character) => Self::Invisible,
            _ => Self::Visible,
        }
    }

    /// Whether the character is invisible in any context.
    ///
    /// Tags are among them: of all texts with tags, only a terminal that has judged the whole
    /// sequence may show three.
    pub(crate) fn is_hidden(self) -> bool {
        match self {
            Self::Control | Self::Separator | Self::Bidirectional | Self::Invisible => true,
            Self::Contextual(contextual) => contextual == Contextual::Tag,
            Self::Visible => false,
        }
    }
}

fn is_noncharacter(character: char) -> bool {
    let code = u32::from(character);
    // The last two of each plane, and a block kept within the Arabic forms.
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}

/// Whether a character that is not ASCII can be mistaken for a space.
pub(crate) fn is_blank(character: char) -> bool {
    !character.is_ascii() && (character.is_whitespace() || character == '\u{2800}')
}

/// Whether a character can be mistaken for one of ASCII, or belongs to a block whose dashes, quotation
/// marks and dots look like those of ASCII.
pub(crate) fn is_look_alike(character: char) -> bool {
    is_blank(character)
        || matches!(character, '\u{2000}'..='\u{206f}' | '\u{fe10}'..='\u{fe19}'
            | '\u{fe30}'..='\u{fe6f}' | '\u{1d400}'..='\u{1d7ff}')
        || ascii(character).is_some()
}

/// The table of look-alikes, as ranges of code points; its head says how it is written.
static LOOK_ALIKES: LazyLock<Vec<(u32, u32, &str)>> = LazyLock::new(|| {
    let rows = include_str!("look_alikes.txt").lines();
    let rows = rows.filter(|row| !row.starts_with("# ")).map(|row| {
        let (range, plain) = row.split_once(' ').expect("a range and what it looks like");
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let code = |digits| u32::from_str_radix(digits, 16).expect("a code point");
        (code(first), code(last), plain)
    });
    rows.collect()
});

/// The ASCII character that a character can be mistaken for, and how often it is repeated.
pub(crate) fn ascii(character: char) -> Option<(char, usize)> {
    let code = u32::from(character);
    let from = |first: char, place: u32| char::from_u32(u32::from(first) + place);
    let plain = match character {
        _ if is_blank(character) => ' ',
        // Before the first row of the table.
        ..'\u{17f}' => return None,
        // The wide forms are in the order of ASCII.
        '\u{ff01}'..='\u{ff5e}' => from('!', code - 0xff01)?,
        // The alphabets of mathematics follow each other: capital letters, then small ones.
        '\u{1d400}'..='\u{1d6a3}' => match (code - 0x1d400) % 52 {
            place @ ..26 => from('A', place)?,
            place => from('a', place - 26)?,
        },
        '\u{1d7ce}'..='\u{1d7ff}' => from('0', (code - 0x1d7ce) % 10)?,
        _ => {
            let row = LOOK_ALIKES.partition_point(|(_, last, _)| *last < code);
            let (_, _, plain) = LOOK_ALIKES.get(row).filter(|(first, ..)| *first <= code)?;
            return Some((plain.chars().next()?, plain.len()));
        }
    };
    Some((plain, 1))
}

/// The ASCII characters that a character can be mistaken for, or the character itself.
pub(crate) fn plain(character: char) -> impl Iterator<Item = char> {
    let (plain, times) = ascii(character).unwrap_or((character, 1));
    std::iter::repeat_n(plain, times)
}
