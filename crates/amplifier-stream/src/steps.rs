//! The bytes that parsers look at, counted in tests alone, which hold the work to be linear.

#[cfg(not(test))]
#[inline]
pub(crate) fn count(_bytes: usize) {}

#[cfg(test)]
pub(crate) use counted::{count, growth};

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn count(bytes: usize) {
        STEPS.set(STEPS.get() + bytes);
    }

    /// The slope of the steps over the size on logarithmic scales: 1 is linear, 2 is quadratic.
    pub(crate) fn growth(small: usize, large: usize, work: impl Fn(usize)) -> f64 {
        let steps = |size| {
            STEPS.set(0);
            work(size);
            log(STEPS.get())
        };
        (steps(large) - steps(small)) / (log(large) - log(small))
    }

    fn log(number: usize) -> f64 {
        f64::from(u32::try_from(number).unwrap()).ln()
    }
}
