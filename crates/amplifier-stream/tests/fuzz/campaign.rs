//! Many inputs for one claim, from a seed that is printed.

use std::env;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::random::Random;

/// How many inputs all claims together get; `make fuzz` asks for more.
const FEW: u64 = 2_000;

/// Tries a share of all inputs, in percent; `FUZZ_INPUTS` and `FUZZ_SEED` set their number and seed.
///
/// `input` makes one from random choices and `check` fails on it or not. The seed of the whole run and
/// the input are printed where it does.
pub(crate) fn try_inputs(
    claim: &str,
    percent: u64,
    mut input: impl FnMut(&mut Random) -> Vec<u8>,
    mut check: impl FnMut(&[u8], &mut Random),
) {
    let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let inputs = number("FUZZ_INPUTS").unwrap_or(FEW) * percent / 100;
    let now = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs()
    };
    let seed = number("FUZZ_SEED").unwrap_or_else(now);
    let of_claim = claim.bytes().fold(seed, |seed, byte| {
        seed.wrapping_mul(31).wrapping_add(byte.into())
    });
    let start = Instant::now();
    let mut bytes = 0;
    for number in 0..inputs {
        let mut random = Random::new(of_claim.wrapping_add(number << 32));
        let input = input(&mut random);
        bytes += input.len();
        let told = Told {
            claim,
            seed,
            input: &input,
        };
        check(told.input, &mut random);
    }
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{claim}: {inputs} inputs, {bytes} bytes, {seconds:.1} s, FUZZ_SEED={seed}");
}

/// Tells about the input where its check fails.
struct Told<'a> {
    claim: &'a str,
    seed: u64,
    input: &'a [u8],
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let input = self.input.escape_ascii();
            eprintln!(
                "{} fails with FUZZ_SEED={} on b\"{input}\"",
                self.claim, self.seed
            );
        }
    }
}
