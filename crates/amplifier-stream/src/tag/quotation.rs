//! What of a Markdown text is quoted: code blocks, inline code, comments and block quotations.

use super::search;

/// The width of a tab, and how far code is indented, in columns.
const INDENT: usize = 4;

/// The shortest mark of a fence, in characters.
const FENCE: usize = 3;

/// Reads a text and knows whether its end is quoted.
///
/// The blocks are those of `CommonMark`. Where only the rest of the text could tell, the end counts as
/// quoted: after a backtick to the end of its paragraph, and after `<!--`, until it is closed.
#[derive(Debug, Clone, Default)]
pub(super) struct Quotation {
    place: Place,
    line: Line,
    run: Run,
    comment: Comment,
    is_escaped: bool,
    /// Whether an indented line would continue a paragraph, and so is not code.
    follows_text: bool,
    /// The column in which the text of the last list item begins.
    item_column: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Prose,
    /// Inline code that so many backticks opened.
    Code(usize),
    Fence(Fence),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: u8,
    length: usize,
    /// Whether the line that opened it goes on; one with a further backtick is inline code.
    is_opening: bool,
    /// Whether the line so far closes it.
    is_closing: bool,
    /// Whether it is in a block quotation, and ends with that.
    is_in_block_quote: bool,
}

#[derive(Debug, Clone, Default)]
struct Line {
    stage: Stage,
    column: usize,
    is_block_quote: bool,
    is_item: bool,
    body: Body,
}

/// What a line has besides its margin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Body {
    #[default]
    Blank,
    Text,
    Heading,
    /// Indented code.
    Code,
}

/// Which part of a line was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Blanks, marks of block quotations and of list items.
    #[default]
    Start,
    /// A mark of a list item, if a blank follows.
    Item,
    /// The number of a list item, if a point or a parenthesis follows.
    Number,
    Text,
}

/// Backticks or tildes that follow each other.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    mark: u8,
    length: usize,
    begins_line: bool,
    is_escaped: bool,
}

/// How much of `<!--` or of `-->` was read last.
#[derive(Debug, Clone, Copy, Default)]
struct Comment {
    is_open: bool,
    read: usize,
}

impl Quotation {
    /// Reads a piece of the text.
    pub(super) fn read(&mut self, text: &str) {
        search::count(text.len());
        for &byte in text.as_bytes() {
            self.take(byte);
        }
    }

    /// Whether the text that was read last is quoted.
    pub(super) fn is_quoted(&self) -> bool {
        self.comment.is_open
            || self.place != Place::Prose
            || self.line.body == Body::Code
            || self.line.is_block_quote
    }

    fn take(&mut self, byte: u8) {
        // What a run of marks means depends on its length, which is known once another byte comes.
        if self.run.length > 0 {
            if byte == self.run.mark {
                self.run.length += 1;
                self.line.column += 1;
                return;
            }
            self.end_run();
        }
        if byte == b'\n' {
            self.end_line();
            return;
        }
        let begins_line = self.read_margin(byte);
        self.read_comment(byte);
        if matches!(byte, b'`' | b'~') {
            self.run = Run {
                mark: byte,
                length: 1,
                begins_line,
                is_escaped: self.is_escaped,
            };
        }
        self.is_escaped = byte == b'\\' && !self.is_escaped;
    }

    /// Reads what may begin a line; returns whether the byte is the first of its text.
    fn read_margin(&mut self, byte: u8) -> bool {
        let line = &mut self.line;
        let is_blank = matches!(byte, b' ' | b'\t' | b'\r');
        let has_margin = !line.is_block_quote && !line.is_item && line.body == Body::Blank;
        if !is_blank {
            let is_far = line.column >= self.item_column + INDENT;
            if has_margin && is_far && !self.follows_text && self.place == Place::Prose {
                line.body = Body::Code;
            } else if line.body == Body::Blank {
                line.body = Body::Text;
            }
            if let Place::Fence(fence) = &mut self.place {
                fence.is_closing = false;
                let leaves = fence.is_in_block_quote && !line.is_block_quote && byte != b'>';
                if leaves && line.stage == Stage::Start {
                    self.place = Place::Prose;
                }
            }
        }
        let before = line.stage;
        line.stage = match (before, byte) {
            (Stage::Start, b'>') => {
                line.is_block_quote = true;
                Stage::Start
            }
            (Stage::Start, b' ' | b'\t' | b'\r') => Stage::Start,
            (Stage::Start, b'-' | b'*' | b'+') | (Stage::Number, b'.' | b')') => Stage::Item,
            (Stage::Start | Stage::Number, b'0'..=b'9') => Stage::Number,
            (Stage::Item, b' ' | b'\t') => {
                line.is_item = true;
                self.item_column = line.column + 1;
                Stage::Start
            }
            _ => Stage::Text,
        };
        if before == Stage::Start && line.stage == Stage::Text {
            if byte == b'#' && line.body == Body::Text {
                line.body = Body::Heading;
            }
            if has_margin && !self.follows_text && line.column < self.item_column {
                self.item_column = 0;
            }
        }
        line.column = match byte {
            b'\t' => (line.column / INDENT + 1) * INDENT,
            _ => line.column + 1,
        };
        before == Stage::Start && line.stage == Stage::Text
    }

    /// Looks for `<!--` and `-->`, also in inline code, which may turn out not to be closed.
    fn read_comment(&mut self, byte: u8) {
        if matches!(self.place, Place::Fence(_)) || self.line.body == Body::Code {
            return;
        }
        let comment = &mut self.comment;
        comment.read = match (comment.is_open, comment.read, byte) {
            (false, _, b'<') => 1,
            (false, 1, b'!') => 2,
            (false, 2, b'-') => 3,
            (false, 3, b'-') => {
                comment.is_open = true;
                // Its dashes are those of an end, too: `<!-->` is a whole comment.
                2
            }
            // Two of any number of dashes: `--->` ends a comment as well.
            (true, read, b'-') => (read + 1).min(2),
            (true, 2, b'>') => {
                comment.is_open = false;
                0
            }
            _ => 0,
        };
    }

    fn end_run(&mut self) {
        let Run {
            mark,
            length,
            begins_line,
            is_escaped,
        } = std::mem::take(&mut self.run);
        let opens_fence = begins_line && length >= FENCE && !is_escaped;
        let new_fence = Place::Fence(Fence {
            mark,
            length,
            is_opening: mark == b'`',
            is_closing: false,
            is_in_block_quote: self.line.is_block_quote,
        });
        match &mut self.place {
            Place::Prose if self.comment.is_open => {}
            Place::Prose if opens_fence => self.place = new_fence,
            Place::Prose => {
                let length = length - usize::from(is_escaped);
                if mark == b'`' && length > 0 && self.line.body != Body::Code {
                    self.place = Place::Code(length);
                }
            }
            Place::Code(opened) if mark == b'`' && *opened == length => {
                self.place = Place::Prose;
                self.comment = Comment::default();
            }
            // Blocks come before what is in a line: the backtick before was only a backtick.
            Place::Code(_) if opens_fence => self.place = new_fence,
            Place::Code(_) => {}
            Place::Fence(fence) if fence.is_opening => {
                if mark == b'`' {
                    self.place = match fence.length {
                        opened if opened == length => Place::Prose,
                        opened => Place::Code(opened),
                    };
                }
            }
            Place::Fence(fence) => {
                fence.is_closing = begins_line
                    && mark == fence.mark
                    && length >= fence.length
                    && !self.line.is_item;
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.is_escaped = false;
        let was_prose = matches!(self.place, Place::Prose | Place::Code(_));
        match &mut self.place {
            // The paragraph has ended without the other backticks: those before were only
            // backticks.
            Place::Code(_) if line.body == Body::Blank => self.place = Place::Prose,
            Place::Fence(fence)
                if fence.is_closing || (fence.is_in_block_quote && line.body == Body::Blank) =>
            {
                self.place = Place::Prose;
            }
            Place::Fence(fence) => fence.is_opening = false,
            Place::Prose | Place::Code(_) => {}
        }
        self.follows_text = was_prose && line.body == Body::Text;
    }
}
