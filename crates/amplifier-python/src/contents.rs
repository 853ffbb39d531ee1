//! The contents of classes whose instances have a `__dict__`.

use std::any::Any;
use std::cell::RefCell;
use std::ops::Deref;

thread_local! {
    /// What is still to be dropped, while something is.
    static DROPPED: RefCell<Option<Vec<Box<dyn Any>>>> = const { RefCell::new(None) };
}

/// What an instance holds once it is made.
///
/// Before Python 3.13 the interpreter makes the `__dict__` of an instance that the collector
/// already knows, and may collect while doing so: the instance is then visited with its memory
/// all zeros. That is `None` here, by the layout that Rust promises for an `Option<Box<_>>`.
///
/// Contents that hold the last reference to another instance, and so on, are dropped one after
/// another and not one inside the other: such chains may be longer than a stack is deep.
#[repr(transparent)]
pub(crate) struct Contents<T: 'static>(Option<Box<T>>);

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

impl<T> Drop for Contents<T> {
    fn drop(&mut self) {
        let Some(contents) = self.0.take() else {
            return;
        };
        // Without the list, at the end of a thread, the closure drops the contents.
        let is_first = DROPPED.try_with(|dropped| {
            let mut dropped = dropped.borrow_mut();
            let is_first = dropped.is_none();
            dropped.get_or_insert_default().push(contents);
            is_first
        });
        if is_first.unwrap_or(false) {
            while let Some(contents) = next_dropped() {
                drop(contents);
            }
        }
    }
}

/// The next contents to drop; after the last ones the list is gone, too.
fn next_dropped() -> Option<Box<dyn Any>> {
    DROPPED.with_borrow_mut(|dropped| {
        let next = dropped.as_mut().and_then(Vec::pop);
        if next.is_none() {
            *dropped = None;
        }
        next
    })
}
