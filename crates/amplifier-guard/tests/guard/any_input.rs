//! Whatever a policy is given, it decides, and decides the same for the same input.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use amplifier_guard::{
    ErrorContext, LineSearch, NamePattern, PathPolicy, Redactor, RedactorStream, ShellPolicy,
    TerminalText, UrlPolicy, asked_wait_of_text, hide_homes, log_path, shorten,
};
use proptest::prelude::*;
use tempfile::TempDir;

/// What means something to one of the policies, so that chance puts it together.
const PIECES: [&[u8]; 48] = [
    b"/",
    b"..",
    b".",
    b"a",
    b"link",
    b"loop",
    b"\0",
    b"\n",
    b"\\",
    b"~",
    b"%2e%2e",
    b"%",
    b":",
    b"::$DATA",
    b".git",
    b"CON",
    b"\xff",
    b"\xc0\xaf",
    b"\xf0\x9f",
    b"\xe2\x80\xae",
    b"\xcc\x81",
    b" ",
    b"ls",
    b"git -c",
    b"sed 's/a/",
    b"'",
    b"\"",
    b"`",
    b"$(",
    b"{a,",
    b"*",
    b"[^",
    b"#",
    b"http://",
    b"//",
    b"@",
    b"127.0.0.1",
    b"[::1]",
    b":80",
    b"?key=",
    b"xn--",
    b"Authorization: Bearer ",
    b"eyJ",
    b"sk-",
    b"-----BEGIN PRIVATE KEY-----",
    b"password=",
    b"correct horse",
    b"\x1b[31m",
];

struct Policies {
    path: PathPolicy,
    shell: ShellPolicy,
    url: UrlPolicy,
    redactor: Arc<Redactor>,
}

impl Policies {
    fn new(root: &Path) -> Self {
        Self {
            path: PathPolicy::new(root).unwrap(),
            shell: ShellPolicy::new(["ls", "git", "sed"], Some(root.into())).unwrap(),
            url: UrlPolicy::new(vec!["http".into(), "https".into()], vec![80, 443], true),
            redactor: Arc::new(Redactor::new(["correct horse battery"]).unwrap()),
        }
    }

    /// What every policy says of `bytes`, or of the text in them, in words.
    fn say(&self, bytes: &[u8]) -> Vec<(&'static str, String)> {
        let said = |decision: &dyn Debug| format!("{decision:?}");
        let path = Path::new(OsStr::from_bytes(bytes));
        let text = String::from_utf8_lossy(bytes);
        let base = self.url.destination("https://good.example/a/b").unwrap();
        let mut stream = RedactorStream::new(Arc::clone(&self.redactor));
        let streamed: Vec<_> = bytes.chunks(3).map(|chunk| stream.feed(chunk)).collect();
        vec![
            ("resolve", said(&self.path.resolve(path))),
            ("read", said(&self.path.read(path, 9))),
            ("list", said(&self.path.list(path))),
            ("writable", said(&self.path.writable(path, false))),
            ("protected too", said(&self.path.writable(path, true))),
            ("log path", log_path(path, Some(self.path.root()), None)),
            (
                "name",
                said(&NamePattern::new(&text).map(|name| name.matches(path))),
            ),
            ("lines", said(&LineSearch::new(&text, true).map(drop))),
            ("shell", said(&self.shell.check(&text))),
            ("url", said(&self.url.destination(&text))),
            ("redirect", said(&self.url.redirect(&base, &text))),
            ("answer", said(&self.url.check(base, [&*text]))),
            ("redact", said(&self.redactor.redact_bytes(bytes))),
            ("redact text", self.redactor.redact(&text).into_owned()),
            (
                "redact field",
                said(&self.redactor.redact_field(&text, &text)),
            ),
            ("redact stream", said(&(streamed, stream.flush()))),
            ("homes", said(&hide_homes(&text))),
            ("shorten", said(&shorten(&text, 9))),
            ("terminal", TerminalText::show(&*text).into_owned()),
            ("wait", said(&asked_wait_of_text(&text))),
            (
                "context",
                said(&ErrorContext::of_json(bytes).map_err(|error| error.to_string())),
            ),
        ]
    }
}

fn inputs() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => prop::sample::select(&PIECES[..]).prop_map(<[u8]>::to_vec),
        1 => any::<char>().prop_map(|character| character.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_policy_answers_and_says_the_same_in_any_order(
        inputs in prop::collection::vec(inputs(), 1..4),
    ) {
        thread_local! {
            static POLICIES: (TempDir, Policies, Policies) = {
                let folder = TempDir::new().unwrap();
                fs::write(folder.path().join("a"), "content").unwrap();
                symlink("..", folder.path().join("link")).unwrap();
                symlink("loop", folder.path().join("loop")).unwrap();
                let policies = || Policies::new(folder.path());
                let (one, other) = (policies(), policies());
                (folder, one, other)
            };
        }
        POLICIES.with(|(_folder, one, other)| {
            let forwards: Vec<_> = inputs.iter().map(|input| one.say(input)).collect();
            let mut backwards: Vec<_> = inputs.iter().rev().map(|input| other.say(input)).collect();
            backwards.reverse();
            prop_assert_eq!(forwards, backwards);
            Ok(())
        })?;
    }
}
