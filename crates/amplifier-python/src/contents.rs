//! The contents of classes whose instances have a `__dict__`.

use std::ops::Deref;

/// What an instance holds once it is made.
///
/// Before Python 3.13 the interpreter makes the `__dict__` of an instance that the collector
/// already knows, and may collect while doing so: the instance is then visited with its memory
/// all zeros. That is `None` here, by the layout that Rust promises for an `Option<Box<_>>`.
#[repr(transparent)]
pub(crate) struct Contents<T>(Option<Box<T>>);

impl<T> Contents<T> {
    pub(crate) fn new(contents: T) -> Self {
        Self(Some(Box::new(contents)))
    }

    /// The contents, unless the instance is still being made; for visits of the collector.
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }
}

impl<T: Default> Default for Contents<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Deref for Contents<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.get()
            .expect("only the collector sees an instance that is still being made")
    }
}
