//! Programs that a shell has built in, and what it evaluates of their words.

/// The operators of `test` that compare numbers.
const COMPARISONS: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
/// What may follow a backslash in a format; zsh makes a directive of `\u0025`.
const PLAIN_ESCAPES: &str = "01234567abcefnrtvx\\\"'";

/// The first word of `argv` that a shell could evaluate instead of using it as text.
///
/// bash, zsh and ksh run `printf` and `test` themselves, and what these take for a number is an
/// expression to at least one of them: `a[$(id)]` runs a command, `PATH=5` assigns, and a name shows
/// a variable. So a number has to be one. The other builtins with a table (`echo`, `pwd`, `which`,
/// `true`, …) evaluate none of their words.
pub(super) fn first_evaluated(argv: &[String]) -> Option<&str> {
    let (name, words) = argv.split_first()?;
    match name.as_str() {
        "printf" => printed(words),
        "test" => compared(words),
        _ => None,
    }
}

/// What `printf` evaluates: the words for directives that are not text, and options such as `-v`.
fn printed(words: &[String]) -> Option<&str> {
    let (format, values) = words.split_first()?;
    let Some(takes_numbers) = read_directives(format) else {
        return Some(format);
    };
    // The format is used again until no values are left.
    let mut pairs = values.iter().zip(takes_numbers.iter().cycle());
    let found = pairs.find(|(value, is_number)| **is_number && !is_number_text(value));
    found.map(|(value, _)| value.as_str())
}

/// For each value that `format` takes, whether it is a number; nothing if a shell could read the
/// format in another way.
fn read_directives(format: &str) -> Option<Vec<bool>> {
    let mut takes_numbers = Vec::new();
    let mut rest = format.chars();
    if format.starts_with('-') {
        return None;
    }
    while let Some(character) = rest.next() {
        match character {
            '\\' if !rest.next().is_some_and(|next| PLAIN_ESCAPES.contains(next)) => return None,
            '%' => {}
            _ => continue,
        }
        loop {
            match rest.next()? {
                '-' | '+' | ' ' | '#' | '.' | '0'..='9' => {}
                '*' => takes_numbers.push(true),
                '%' => break,
                's' | 'b' | 'c' | 'q' => {
                    takes_numbers.push(false);
                    break;
                }
                'd' | 'i' | 'o' | 'u' | 'x' | 'X' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
                    takes_numbers.push(true);
                    break;
                }
                _ => return None,
            }
        }
    }
    Some(takes_numbers)
}

/// What `test` evaluates: the words beside an operator that compares numbers.
fn compared(words: &[String]) -> Option<&str> {
    let is_comparison =
        |word: Option<&String>| word.is_some_and(|word| COMPARISONS.contains(&word.as_str()));
    let found = words.iter().enumerate().find(|(index, word)| {
        let before = index.checked_sub(1).and_then(|index| words.get(index));
        let is_beside = is_comparison(before) || is_comparison(words.get(index + 1));
        is_beside && !is_number_text(word)
    });
    found.map(|(_, word)| word.as_str())
}

/// Whether `word` is a number to every shell, with nothing to evaluate.
fn is_number_text(word: &str) -> bool {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
    word.is_empty()
        || digits.starts_with(|first: char| first.is_ascii_digit()) && digits.bytes().all(is_plain)
}
