//! Numbers of JSON: integers of any size that Python reads, and finite floats.

use amplifier_core::{Json, MAX_DIGITS};

use super::{InvalidJson, Scanner, shorten};
use crate::steps;

impl<'a> Scanner<'a> {
    pub(super) fn number(&mut self) -> Result<Json, InvalidJson> {
        let at = self.at;
        let (digits, is_integer) = self.digits()?;
        let invalid = || InvalidJson {
            problem: "invalid number".to_owned(),
            at,
        };
        if is_integer {
            return Json::integer(digits).ok_or_else(invalid);
        }
        let number: f64 = digits.parse().map_err(|_| invalid())?;
        if self.refuses_ambiguity && !number.is_finite() {
            let problem = format!("number `{}` overflows", shorten(digits));
            return Err(InvalidJson { problem, at });
        }
        Ok(Json::Float(number))
    }

    /// Takes a number and says whether it is an integer.
    pub(super) fn digits(&mut self) -> Result<(&'a str, bool), InvalidJson> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let run = |from: usize| {
            bytes[from..]
                .iter()
                .position(|byte| !byte.is_ascii_digit())
                .unwrap_or(bytes.len() - from)
        };
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let whole = run(at);
        if whole == 0 {
            return Err(self.unexpected("a value"));
        }
        if whole > 1 && bytes[at] == b'0' {
            return Err(self.error("number with a leading zero"));
        }
        at += whole;
        let mut is_integer = true;
        if bytes.get(at) == Some(&b'.') {
            is_integer = false;
            let fraction = run(at + 1);
            if fraction == 0 {
                return Err(self.error("number without digits after its decimal point"));
            }
            at += 1 + fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            is_integer = false;
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = run(at);
            if exponent == 0 {
                return Err(self.error("number without digits in its exponent"));
            }
            at += exponent;
        }
        if is_integer && whole > MAX_DIGITS {
            return Err(self.error(&format!("integer of more than {MAX_DIGITS} digits")));
        }
        steps::count(at - start);
        self.at = at;
        Ok((&self.text[start..at], is_integer))
    }
}
