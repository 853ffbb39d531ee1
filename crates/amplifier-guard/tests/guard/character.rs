//! Every sink means the same characters by those that nobody sees and those that look like others.
//!
//! Holds: sink-43

use amplifier_guard::{
    FindingKind, Limits, MessageProcessor, OnFinding, PathPolicy, TerminalText, read_command,
};
use icu_properties::props::{
    DefaultIgnorableCodePoint, GeneralCategory, PrependedConcatenationMark,
};
use icu_properties::{CodePointMapData, CodePointSetData};

/// What nobody sees by itself, and what means something all the same among the right characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sight {
    Seen,
    Hidden,
    Contextual,
}

/// What the properties of Unicode say of a character.
fn sight(character: char) -> Sight {
    use GeneralCategory as Category;
    let code = u32::from(character);
    let is_format = match CodePointMapData::<Category>::new().get(character) {
        Category::Control | Category::LineSeparator | Category::ParagraphSeparator => true,
        Category::Format => {
            !CodePointSetData::new::<PrependedConcatenationMark>().contains(character)
        }
        Category::Unassigned => (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe,
        _ => false,
    };
    let is_ignored = CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character);
    match character {
        '\u{200c}' | '\u{200d}' | '\u{2800}' => Sight::Contextual,
        '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            Sight::Contextual
        }
        _ if is_format || is_ignored => Sight::Hidden,
        _ => Sight::Seen,
    }
}

fn all() -> impl Iterator<Item = char> {
    '\0'..=char::MAX
}

fn is_laid_out(character: char) -> bool {
    matches!(character, '\n' | '\t' | '\r')
}

/// Whether a character is a finding by itself.
pub(crate) fn is_hidden(character: char) -> bool {
    sight(character) == Sight::Hidden && !is_laid_out(character)
}

#[test]
fn what_nobody_sees_is_a_finding_and_nothing_else_is() {
    let processor = MessageProcessor::new(Limits::default(), OnFinding::Report);
    let characters: Vec<char> = all().collect();
    for some in characters.chunks(500) {
        let text: String = some
            .iter()
            .flat_map(|character| [*character, 'z'])
            .collect();
        let message = processor.process_user_message(&text).unwrap();
        let found: Vec<char> = message
            .findings()
            .iter()
            .filter(|finding| finding.kind == FindingKind::HiddenCharacter)
            .map(|finding| some[finding.start / 2])
            .collect();
        let expected: Vec<char> = some.iter().copied().filter(|one| is_hidden(*one)).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn what_nobody_sees_stops_a_command_and_what_scripts_need_stops_it_only_outside_quotes() {
    for character in all().filter(|character| !character.is_ascii()) {
        let passes = |command: &str| read_command(command).is_ok();
        let quoted = passes(&format!("ls 'a{character}b'"));
        assert_eq!(quoted, sight(character) != Sight::Hidden, "{character:?}");
        if sight(character) != Sight::Seen {
            assert!(!passes(&format!("ls a{character}b")), "{character:?}");
        }
    }
}

#[test]
fn what_nobody_sees_is_escaped_on_a_terminal_by_itself() {
    for character in all().filter(|character| !is_laid_out(*character)) {
        let text = format!("a{character}b");
        let is_kept = TerminalText::show(&*text) == text;
        assert_eq!(is_kept, sight(character) == Sight::Seen, "{character:?}");
    }
}

#[test]
fn what_nobody_sees_does_not_make_another_name_of_a_protected_one() {
    let folder = tempfile::tempdir().unwrap();
    let policy = PathPolicy::new(folder.path()).unwrap();
    for character in all().filter(|character| sight(*character) != Sight::Seen) {
        if !is_laid_out(character) {
            for name in [
                format!(".g{character}it/config"),
                format!("a/.en{character}v"),
            ] {
                assert!(policy.writable(&name, false).is_err(), "{name:?}");
            }
        }
    }
}

#[test]
fn what_looks_like_ascii_stops_a_command_and_does_not_make_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let policy = PathPolicy::new(folder.path()).unwrap();
    for (name, like) in [
        ("\u{ff0e}git/config", ".git/config"),
        (".\u{ff47}\u{ff29}t/config", ".git/config"),
        (".\u{1d420}\u{1d456}\u{1d4c9}", ".git"),
        ("\u{2024}env", ".env"),
        ("\u{fe52}env\u{2024}local", ".env.local"),
        (".\u{17f}sh/config", ".ssh/config"),
        (".\u{212a}ube/config", ".kube/config"),
        (
            ".pre\u{2010}commit\u{2013}config.yaml",
            ".pre-commit-config.yaml",
        ),
        (".bash\u{ff3f}profile", ".bash_profile"),
        (".git\u{a0}", ".git"),
        (".git\u{3000}/config", ".git/config"),
        (".git\u{2800}/config", ".git/config"),
    ] {
        assert!(policy.writable(like, false).is_err(), "{like}");
        assert!(policy.writable(name, false).is_err(), "{name}");
        assert!(read_command(&format!("cat {name}")).is_err(), "{name}");
        assert!(read_command(&format!("cat '{name}'")).is_ok(), "{name}");
    }
    for name in [
        "\u{43e}.txt",
        "na\u{ef}ve.md",
        "\u{e9}\u{301}",
        "\u{2139}.txt",
    ] {
        assert!(policy.writable(name, false).is_ok(), "{name}");
        assert!(read_command(&format!("cat {name}")).is_ok(), "{name}");
    }
}

#[test]
fn each_row_of_the_look_alikes_is_read_and_they_are_in_order() {
    let mut before = 0x7f;
    let rows = include_str!("../../src/text/look_alikes.txt").lines();
    for row in rows.filter(|row| !row.starts_with("# ")) {
        let (range, plain) = row.split_once(' ').expect(row);
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let code = |digits| u32::from_str_radix(digits, 16).expect(row);
        assert!(before < code(first) && code(first) <= code(last), "{row}");
        assert!(plain.is_ascii() && !plain.is_empty(), "{row}");
        before = code(last);
        for character in (code(first)..=code(last)).filter_map(char::from_u32) {
            assert!(read_command(&format!("cat a{character}")).is_err(), "{row}");
        }
    }
}
