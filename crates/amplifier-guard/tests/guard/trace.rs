//! What is told of decisions to whoever listens, and that nobody is told of secrets.
//!
//! Holds: observe-7

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use amplifier_guard::{
    Backoff, Caller, CircuitBreaker, ErrorFrequency, ErrorHandler, ErrorKind, Failure, Moment,
    PathPolicy, Rate, RateLimiter, RetrySettings, ShellPolicy, UrlPolicy,
};
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

/// Keeps each event as one line.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        let about = event.metadata();
        let mut line = Line(format!("{} {}", about.level(), about.target()));
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// What is told while `deed` is done.
fn told(deed: impl FnOnce()) -> Vec<String> {
    let listener = Listener::default();
    tracing::subscriber::with_default(listener.clone(), deed);
    let lines = listener.0.lock().unwrap();
    lines.clone()
}

#[test]
fn a_refusal_is_told_with_its_sink_and_its_reason() {
    let root = tempfile::tempdir().unwrap();
    let paths = PathPolicy::new(root.path()).unwrap();
    let shell = ShellPolicy::new(["ls"], None).unwrap();
    let urls = UrlPolicy::new(vec!["https".to_owned()], vec![443], true);
    let lines = told(|| {
        paths.read("a\0", 1).unwrap_err();
        paths.writable(".git/x", false).unwrap_err();
        shell.check("id").unwrap_err();
        urls.destination("http://x.example/").unwrap_err();
        let source = urls.destination("https://x.example/").unwrap();
        urls.redirect(&source, "https://localhost/").unwrap_err();
        urls.check(source, ["10.0.0.1"]).unwrap_err();
    });
    let refused = |sink: &str, reason: &str| {
        format!("DEBUG amplifier_guard::sinks message=refused sink={sink:?} reason={reason:?}")
    };
    assert_eq!(
        lines,
        [
            refused("path", "path `a\\x00` contains a NUL character"),
            refused(
                "path",
                "`.git/x` may not be written without approval: `.git` belongs to version control"
            ),
            refused("shell", "no allowed prefix matches this `id` command"),
            refused("url", "URL scheme `http` is not allowed (allowed: https)"),
            refused("url", "host `localhost` belongs to a private network"),
            refused(
                "url",
                "host `x.example` has the address `10.0.0.1`, which is not public (private)"
            ),
        ]
    );
}

#[test]
fn what_passes_is_not_told() {
    let root = tempfile::tempdir().unwrap();
    let paths = PathPolicy::new(root.path()).unwrap();
    let shell = ShellPolicy::new(["ls"], None).unwrap();
    let lines = told(|| {
        paths.write("new", b"", false).unwrap();
        paths.read("new", 1).unwrap();
        shell.check("ls -l").unwrap();
    });
    assert_eq!(lines, Vec::<String>::new());
}

#[test]
fn no_secret_is_told() {
    let key = ["gh", "p_", "Zx8Qm2Vt7Lr4Kw9Ns3Hj6Pd1Gf5Yc0TbuE7o"].concat();
    let shell = ShellPolicy::new(["ls"], None).unwrap();
    let lines = told(|| {
        shell.check(&key).unwrap_err();
    });
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("[REDACTED:github token]"), "{lines:?}");
    assert!(!lines[0].contains(&key[4..12]), "{lines:?}");
}

#[test]
fn each_turn_of_a_breaker_is_told() {
    let lines = told(|| {
        let mut breaker = CircuitBreaker::new(1, Duration::from_nanos(10)).unwrap();
        let permit = breaker.admit(Duration::ZERO).unwrap();
        breaker.failed(permit, Duration::ZERO);
        let trial = breaker.admit(Duration::from_nanos(10)).unwrap();
        breaker.succeeded(trial);
    });
    let turned =
        |state: &str| format!("INFO amplifier_guard::breaker message=turned state={state:?}");
    assert_eq!(
        lines,
        [turned("open"), turned("half_open"), turned("closed")]
    );
}

#[test]
fn calls_that_have_to_wait_and_failures_are_told() {
    let rate = Rate::new(1, Duration::from_micros(1), 1).unwrap();
    let mut limiter = RateLimiter::new(Some(rate), None, None, 3).unwrap();
    let caller = Caller {
        user: Some("me"),
        ..Caller::default()
    };
    let settings = RetrySettings {
        max_retries: 1,
        backoff: Backoff::new(0.5, 2.0, 30.0).unwrap(),
        jitter: 0.0,
        budget: None,
    };
    let mut handler =
        ErrorHandler::new(settings, ErrorFrequency::new(4, Duration::from_micros(1))).unwrap();
    let failure = Failure {
        name: "Busy".to_owned(),
        kind: ErrorKind::RateLimit,
        retryable: None,
        retry_after: None,
        delay_multiplier: None,
    };
    let moment = Moment {
        now: Duration::ZERO,
        elapsed: 0.0,
        random: 0.5,
    };
    let lines = told(|| {
        limiter.take(caller, Duration::ZERO).unwrap();
        limiter.take(caller, Duration::ZERO).unwrap_err();
        handler.handle(&failure, 0, moment);
        handler.handle(&failure, 1, moment);
    });
    assert_eq!(
        lines,
        [
            "DEBUG amplifier_guard::sinks message=refused sink=\"rate\" reason=\"rate limit of \
             this user reached; retry in 0.001 s\"",
            "DEBUG amplifier_guard::failures message=retries error=\"Busy\" attempt=1 delay=0.5",
            "DEBUG amplifier_guard::failures message=gives up error=\"Busy\" retries=1 \
             why=\"retries_exhausted\"",
        ]
    );
}
