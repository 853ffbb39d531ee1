//! The bytes that parsers and searches look at, counted for tests, which hold the work to be linear
//! in them. Without the feature `steps` nothing is counted.

#[cfg(feature = "steps")]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many bytes were looked at while this work was done, by this thread.
#[cfg(feature = "steps")]
pub fn of(work: impl FnOnce()) -> usize {
    let before = STEPS.get();
    work();
    STEPS.get() - before
}

/// Counts bytes that were looked at.
#[cfg(feature = "steps")]
pub fn count(bytes: usize) {
    STEPS.set(STEPS.get() + bytes);
}

/// Does nothing without the feature `steps`.
#[cfg(not(feature = "steps"))]
#[inline]
pub fn count(_bytes: usize) {}
