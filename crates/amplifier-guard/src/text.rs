//! What every sink does with text.

pub(crate) mod pointer;
pub(crate) mod stems;
