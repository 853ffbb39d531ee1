//! A few short strings looked for in any case, all at once and in one quick pass.

use aho_corasick::{AhoCorasick, Input, MatchKind, packed};
use memchr::memmem::Finder;

/// How long a stem can be.
const MAX_STEM_BYTES: usize = 8;
/// How much is folded at a time: it fits into a core's L1 cache. For a short text, or the end of a
/// stream, clearing that much is not worth it.
const CHUNK_BYTES: usize = 4096;
const SHORT_BYTES: usize = 1024;

/// Strings to search for; small letters match both cases.
///
/// The fewer and longer they are, and the rarer the combination of characters in each, the faster a
/// text without them is searched.
pub(crate) struct Stems {
    searcher: Searcher,
    /// One of two characters: among the others it would shorten what the searcher compares of each.
    pair: Option<(Finder<'static>, usize)>,
}

/// The searcher for folded stems; the first one needs a processor that it knows.
enum Searcher {
    Packed(packed::Searcher),
    Other(AhoCorasick),
}

impl Stems {
    /// Takes ASCII strings of at most eight characters, none the beginning of another; the last
    /// may have two.
    pub(crate) fn new<'a>(stems: impl IntoIterator<Item = &'a str>) -> Self {
        let mut folded: Vec<Vec<u8>> = stems
            .into_iter()
            .map(|stem| stem.bytes().map(fold).collect())
            .collect();
        let pair = folded.pop_if(|last| last.len() == 2);
        Self {
            pair: pair.map(|pair| (Finder::new(&pair).into_owned(), folded.len())),
            searcher: match packed::Searcher::new(&folded) {
                Some(searcher) => Searcher::Packed(searcher),
                None => Searcher::Other(
                    AhoCorasick::builder()
                        .match_kind(MatchKind::LeftmostFirst)
                        .build(&folded)
                        .expect("a few short stems"),
                ),
            },
        }
    }

    /// Calls `take` with each place where a stem may occur, in order, and the index of the stem.
    ///
    /// Characters that differ by the same bit as capital and small letters match each other: `\`
    /// and `|`, `_` and DEL.
    pub(crate) fn find(&self, text: &[u8], take: impl FnMut(usize, usize)) {
        if text.len() <= SHORT_BYTES {
            self.find_by(&mut [0; SHORT_BYTES], text, take);
        } else {
            self.find_by(&mut [0; CHUNK_BYTES], text, take);
        }
    }

    fn find_by(&self, buffer: &mut [u8], text: &[u8], mut take: impl FnMut(usize, usize)) {
        // Stems that begin after this may extend beyond the buffer; the next one finds them.
        let step = buffer.len() - (MAX_STEM_BYTES - 1);
        for start in (0..text.len()).step_by(step) {
            let chunk = &text[start..text.len().min(start + buffer.len())];
            let folded = &mut buffer[..chunk.len()];
            for (folded, byte) in folded.iter_mut().zip(chunk) {
                *folded = fold(*byte);
            }
            let mut found = self.searcher.first(folded, 0);
            let mut pair = self.pair(folded, 0);
            while let Some((place, stem)) = found.into_iter().chain(pair).min()
                && place < step
            {
                take(start + place, stem);
                if pair == Some((place, stem)) {
                    pair = self.pair(folded, place + 1);
                } else {
                    found = self.searcher.first(folded, place + 1);
                }
            }
        }
    }

    fn pair(&self, folded: &[u8], from: usize) -> Option<(usize, usize)> {
        let (finder, index) = self.pair.as_ref()?;
        Some((from + finder.find(&folded[from..])?, *index))
    }
}

impl Searcher {
    /// The place of the first stem from a place on, and its index.
    fn first(&self, folded: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = match self {
            Self::Packed(searcher) => searcher.find_in(folded, (from..folded.len()).into()),
            Self::Other(searcher) => searcher.find(Input::new(folded).range(from..)),
        }?;
        Some((found.start(), found.pattern().as_usize()))
    }
}

/// Maps capital letters to small ones and all other bytes consistently. A bit is set without a
/// comparison, so that the compiler can vectorise the loop.
fn fold(byte: u8) -> u8 {
    byte | 0x20
}
