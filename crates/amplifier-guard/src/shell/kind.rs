//! What a word may be: a path inside the root, text, a number, a script that only prints.

use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

use super::{awk, filter, sed};
use crate::path::{PathError, PathPolicy, misread, secret};
use crate::url::UrlPolicy;

/// What a word may be, as one of these: a literal beginning, and what follows it.
#[derive(Clone, Debug)]
pub(super) struct Kind(Vec<(&'static str, Option<Base>)>);

/// What a word, or the rest of it, may be; `programs/README.md` describes the names.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Base {
    Path,
    Folder,
    Node,
    Rev,
    #[serde(alias = "PATTERN")]
    Text,
    Format,
    Number,
    Word,
    Key,
    Url,
    Awk,
    Sed,
    Filter,
    Listed,
}

static URLS: LazyLock<UrlPolicy> = LazyLock::new(|| urls(UrlPolicy::PORTS.to_vec(), true));
static ANY_PORT: LazyLock<UrlPolicy> = LazyLock::new(|| urls((0..=u16::MAX).collect(), false));

fn urls(ports: Vec<u16>, deny_private: bool) -> UrlPolicy {
    let schemes = UrlPolicy::SCHEMES.map(str::to_owned).to_vec();
    UrlPolicy::new(schemes, ports, deny_private)
}

/// Why a word is not what it may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    Unknown,
    Outside,
    /// It names a file that holds secrets.
    Secret,
}

/// What the judgement of a word depends on beside the word.
pub(super) struct Place<'command> {
    pub(super) root: Option<&'command PathBuf>,
    /// Where the program goes before it opens its operands, counted from the root.
    pub(super) folder: PathBuf,
    pub(super) policy: OnceCell<Result<PathPolicy, PathError>>,
    /// Whether the user allowed requests to this machine.
    pub(super) reaches_loopback: bool,
    /// The lines that the user allowed.
    pub(super) lines: &'command [Vec<String>],
    /// The program and its sub-commands.
    pub(super) command: Vec<&'command str>,
}

impl Kind {
    /// Reads a kind: alternatives between bars, each a literal, a base, or a literal before a base.
    pub(super) fn read(text: &'static str) -> Option<Self> {
        let alternative = |text: &'static str| {
            let base = |start: usize| {
                let name: StrDeserializer<'_, Error> = text.get(start..)?.into_deserializer();
                Some((&text[..start], Some(Base::deserialize(name).ok()?)))
            };
            (0..text.len()).find_map(base).unwrap_or((text, None))
        };
        let alternatives: Vec<_> = text.split('|').map(alternative).collect();
        (!text.is_empty()).then_some(Self(alternatives))
    }

    /// Whether it is the folder in which the operands are.
    pub(super) fn is_folder(&self) -> bool {
        matches!(self.0[..], [(_, Some(Base::Folder))])
    }

    /// Whether `word` is of this kind.
    pub(super) fn judge(&self, word: &str, place: &Place<'_>) -> Result<(), Fault> {
        let mut fault = Fault::Unknown;
        for (beginning, base) in &self.0 {
            let judged = match (word.strip_prefix(beginning), base) {
                (Some(rest), Some(base)) => base.judge(rest, place),
                (Some(""), None) => Ok(()),
                _ => Err(Fault::Unknown),
            };
            match judged {
                Ok(()) => return Ok(()),
                Err(known @ (Fault::Outside | Fault::Secret)) => fault = known,
                Err(Fault::Unknown) => {}
            }
        }
        Err(fault)
    }
}

impl Base {
    fn judge(self, word: &str, place: &Place<'_>) -> Result<(), Fault> {
        let is_known = match self {
            Self::Text => true,
            Self::Path | Self::Folder => return place.path(word),
            Self::Node => {
                let file = word.split("::").next().unwrap_or_default();
                return place.path(file.split('[').next().unwrap_or_default());
            }
            Self::Rev => return place.inside(word),
            Self::Format => !word.starts_with('@') && !has_active_part(word),
            Self::Number => {
                let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
                digits.starts_with(|first: char| first.is_ascii_digit()) && is_name(digits)
            }
            Self::Word => !word.starts_with(['-', '@']) && is_name(word),
            // Without a dot it could be a sub-command.
            Self::Key => word.contains('.') && Self::Word.judge(word, place).is_ok(),
            Self::Url => {
                // curl reads braces and brackets as lists of URLs.
                !word.contains(['{', '}', '[', ']'])
                    && (URLS.destination(word).is_ok()
                        || place.reaches_loopback && is_loopback(word))
            }
            Self::Awk => awk::is_harmless(word),
            Self::Sed => sed::is_harmless(word),
            Self::Filter => filter::is_harmless(word),
            Self::Listed => place.lines.iter().any(|line| {
                let listed = place.command.iter().copied().chain([word]);
                line.iter().map(String::as_str).eq(listed)
            }),
        };
        is_known.then_some(()).ok_or(Fault::Unknown)
    }
}

/// Whether git would verify a signature, or curl write a file, to fill in `format`.
fn has_active_part(format: &str) -> bool {
    let is_active = |part: &str| {
        part.trim_start_matches(['-', '+', ' ']).starts_with('G') || part.starts_with("output")
    };
    format.contains("signature") || format.split('%').skip(1).any(is_active)
}

/// Whether `url` leads to this machine, whatever a name server says.
fn is_loopback(url: &str) -> bool {
    ANY_PORT.destination(url).is_ok_and(|found| {
        let address = found.address.map(|address| address.is_loopback());
        address.unwrap_or(found.host == "localhost")
    })
}

fn is_name(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.,:+-@%^~!*#".contains(&byte);
    !word.is_empty() && word.bytes().all(is_plain)
}

impl Place<'_> {
    /// Whether `path` is a path and nothing else, inside the root.
    pub(super) fn path(&self, path: &str) -> Result<(), Fault> {
        // To some programs these are a machine, a URL, a setting, a list of paths or an option.
        if path.contains([':', '=']) || path.starts_with(['@', '+']) {
            return Err(Fault::Unknown);
        }
        self.inside(path)
    }

    /// Whether `path` stays beneath the root, by its spelling and by where its links lead.
    fn inside(&self, path: &str) -> Result<(), Fault> {
        if path == "/dev/null" {
            return Ok(());
        }
        let given = Path::new(path);
        // There one file has several names: `SECRET~1.TXT`, or `secret.txt` with a dot behind it.
        if cfg!(windows) && (path.contains(['~', '\\']) || misread(given).is_some()) {
            return Err(Fault::Outside);
        }
        let path = match (self.root, given.is_absolute()) {
            (Some(root), true) => given.strip_prefix(root).map_err(|_| Fault::Outside)?,
            (None, true) => return Err(Fault::Outside),
            (_, false) => given,
        };
        let mut depth = 0_usize;
        for component in path.components() {
            depth = match component {
                Component::Normal(_) => depth + 1,
                Component::ParentDir => depth.checked_sub(1).ok_or(Fault::Outside)?,
                Component::CurDir => depth,
                Component::RootDir | Component::Prefix(_) => return Err(Fault::Outside),
            };
        }
        let place = self.folder.join(given);
        if secret(&place).is_some() {
            return Err(Fault::Secret);
        }
        match self.opened() {
            Some(Ok(policy)) if policy.leads_out(&place) => Err(Fault::Outside),
            Some(Ok(policy)) if policy.is_secret(&place) => Err(Fault::Secret),
            // Where no root is there are no links.
            None | Some(Ok(_) | Err(PathError::Missing { .. })) => Ok(()),
            Some(Err(_)) => Err(Fault::Outside),
        }
    }

    /// The root, opened once for a command.
    fn opened(&self) -> Option<&Result<PathPolicy, PathError>> {
        let open = |root| self.policy.get_or_init(|| PathPolicy::new(root));
        self.root.map(open)
    }
}
