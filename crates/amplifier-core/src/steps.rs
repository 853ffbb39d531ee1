//! A count of the bytes that parsers and searches read, for tests that their work is linear.
//! Without the feature `steps` nothing is counted.

#[cfg(feature = "steps")]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The bytes that this thread read during this work.
#[cfg(feature = "steps")]
pub fn of(work: impl FnOnce()) -> usize {
    let before = STEPS.get();
    work();
    STEPS.get() - before
}

/// Counts bytes that were read.
#[cfg(feature = "steps")]
pub fn count(bytes: usize) {
    STEPS.set(STEPS.get() + bytes);
}

/// Does nothing without the feature `steps`.
#[cfg(not(feature = "steps"))]
#[inline]
pub fn count(_bytes: usize) {}
