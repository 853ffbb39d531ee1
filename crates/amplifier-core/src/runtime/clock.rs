//! The time stamps of events.

use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::Offset;

/// Now in UTC as RFC 3339 with six fraction digits and `+00:00`, so that text order is time order.
pub(super) fn timestamp() -> String {
    const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(6));
    let now = jiff::Timestamp::now();
    let mut text = String::with_capacity(32);
    // A string takes any text: this cannot fail.
    let _ = PRINTER.print_timestamp_with_offset(&now, Offset::UTC, &mut text);
    text
}
