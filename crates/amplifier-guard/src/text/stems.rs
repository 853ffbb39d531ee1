//! A few short strings looked for in any case, all at once and in one quick pass.

use aho_corasick::{AhoCorasick, Input, Match, MatchKind, packed};

/// How long a stem can be.
const MAX_STEM_BYTES: usize = 8;
/// How much is folded at a time: it fits into a core's L1 cache. For a short text, clearing that
/// much is not worth it.
const CHUNK_BYTES: usize = 4096;
const SHORT_BYTES: usize = 256;

/// Strings to search for; small letters match both cases.
///
/// The fewer and longer they are, and the rarer the combination of characters in each, the faster a
/// text without them is searched.
pub(crate) struct Stems(Searcher);

/// The searcher for folded stems; the first one needs a processor that it knows.
enum Searcher {
    Packed(packed::Searcher),
    Other(AhoCorasick),
}

impl Stems {
    /// Takes ASCII strings of at most eight characters, none the beginning of another.
    pub(crate) fn new<'a>(stems: impl IntoIterator<Item = &'a str>) -> Self {
        let folded: Vec<Vec<u8>> = stems
            .into_iter()
            .map(|stem| stem.bytes().map(fold).collect())
            .collect();
        Self(match packed::Searcher::new(&folded) {
            Some(searcher) => Searcher::Packed(searcher),
            None => Searcher::Other(
                AhoCorasick::builder()
                    .match_kind(MatchKind::LeftmostFirst)
                    .build(&folded)
                    .expect("a few short stems"),
            ),
        })
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
            let mut from = 0;
            while let Some(found) = self.0.first(folded, from)
                && found.start() < step
            {
                take(start + found.start(), found.pattern().as_usize());
                from = found.start() + 1;
            }
        }
    }
}

impl Searcher {
    fn first(&self, folded: &[u8], from: usize) -> Option<Match> {
        match self {
            Self::Packed(searcher) => searcher.find_in(folded, (from..folded.len()).into()),
            Self::Other(searcher) => searcher.find(Input::new(folded).range(from..)),
        }
    }
}

/// Maps capital letters to small ones and all other bytes consistently. A bit is set without a
/// comparison, so that the compiler can vectorise the loop.
fn fold(byte: u8) -> u8 {
    byte | 0x20
}
