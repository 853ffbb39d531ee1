//! The bytes that the redactor looks at, counted for tests, which hold the work to be linear in them.

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

#[cfg(feature = "steps")]
pub(crate) fn count(bytes: usize) {
    STEPS.set(STEPS.get() + bytes);
}

#[cfg(not(feature = "steps"))]
#[inline]
pub(crate) fn count(_bytes: usize) {}
