//! Times of files, and when a change began.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::time::Duration;

use rustix::fs::{Stat, fstat};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Seconds and nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Moment(pub(crate) i64, pub(crate) u32);

impl Moment {
    pub(crate) fn modified(stat: &Stat) -> Self {
        Self(stat.st_mtime, nanoseconds(stat.st_mtime_nsec))
    }

    pub(crate) fn changed(stat: &Stat) -> Self {
        Self(stat.st_ctime, nanoseconds(stat.st_ctime_nsec))
    }

    fn as_nanoseconds(self) -> i128 {
        i128::from(self.0) * 1_000_000_000 + i128::from(self.1)
    }
}

fn nanoseconds(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or_default()
}

/// How often the clock of a file system is asked whether it has moved on, and how long apart.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_micros(300);

/// How far the clocks may drift apart before one of them was set: a part of the time between.
const SLEW: i128 = 1_000;
const JITTER: i128 = 100_000_000;

/// When a change began, by the clock of the file system.
///
/// What is changed in the same tick has an equal ctime, whether before or after. So the change begins
/// only once the clock has moved on: what is changed after that has a later ctime than the one that is
/// noted here, and what has an equal one was changed before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Begin {
    /// The latest ctime that something can have that was not changed since.
    last: Moment,
    /// Whether the clock moved on. File systems that count in seconds do not: there an equal ctime
    /// may be of a later change, and counts as one.
    is_exact: bool,
    /// The time of the machine, which nobody sets, and of which boot it is.
    uptime: i64,
    boot: String,
}

impl Begin {
    /// Notes that a change begins now, in its marker file.
    pub(crate) fn write(mut marker: &File) -> std::io::Result<Self> {
        let last = touch(marker)?;
        let mut is_exact = false;
        for _ in 0..TRIES {
            is_exact = touch(marker)? > last;
            if is_exact {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        let begin = Self {
            last,
            is_exact,
            uptime: read_uptime(),
            boot: read_boot(),
        };
        marker.set_len(0)?;
        marker.rewind()?;
        marker.write_all(&serde_json::to_vec(&begin)?)?;
        Ok(begin)
    }

    /// Reads the marker file.
    pub(crate) fn read(mut marker: &File) -> std::io::Result<Self> {
        let mut text = Vec::new();
        marker.rewind()?;
        marker.read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// Allows for a clock that was set back meanwhile: `probe` is a file that is touched to read it.
    ///
    /// What was changed after the beginning has then a ctime that may be earlier by as much.
    pub(crate) fn adjust(mut self, probe: &File) -> std::io::Result<Self> {
        let now = touch(probe)?;
        if self.boot == read_boot() {
            let passed = i128::from(read_uptime() - self.uptime);
            let shown = now.as_nanoseconds() - self.last.as_nanoseconds();
            let missing = passed - shown;
            if missing > JITTER + passed / SLEW {
                let last = self.last.as_nanoseconds() - missing - JITTER;
                let seconds = last.div_euclid(1_000_000_000);
                self.last = Moment(i64::try_from(seconds).unwrap_or(i64::MIN), 0);
            }
        }
        Ok(self)
    }

    /// Whether something with this ctime can have been changed since.
    pub(crate) fn may_precede(&self, changed: Moment) -> bool {
        changed > self.last || (changed == self.last && !self.is_exact)
    }
}

/// Changes a file and returns its ctime, which is the time of the clock of its file system.
fn touch(mut file: &File) -> std::io::Result<Moment> {
    file.rewind()?;
    file.write_all(b" ")?;
    Ok(Moment::changed(&fstat(file)?))
}

fn read_uptime() -> i64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn read_boot() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    text.unwrap_or_default().trim().to_owned()
}
