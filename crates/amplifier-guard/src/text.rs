//! What every sink does with text.

pub(crate) mod character;
pub(crate) mod pointer;
pub(crate) mod stems;
