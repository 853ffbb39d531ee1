//! URL containment: which addresses a request may reach.

mod address;
mod metadata;

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

pub use address::Network;

use crate::shown::beginning as shown;
use crate::text::character::Class;
use crate::trace::refused;
use metadata::is_metadata_name;

/// The longest URL that is examined, in bytes.
const MAX_URL_BYTES: usize = 8192;
/// Names that never lead to a public machine: RFC 6761, 6762, 8375, and `internal`, which ICANN
/// keeps for private use.
const INSIDE: &str = "localhost localdomain local internal intranet lan home.arpa";

/// Why a URL was refused.
///
/// Messages show the scheme, host, port or address at fault, never user names, passwords, paths
/// or queries, which may hold secrets.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "its message says what each field is")]
pub enum UrlError {
    /// The URL is too long.
    #[error("the URL has {found} bytes, at most {MAX_URL_BYTES} are allowed")]
    TooLong { found: usize },
    /// A character that URL parsers treat differently.
    #[error("the URL contains `{character}` at byte {offset}; it must be percent-encoded")]
    Character {
        character: String,
        /// Where it is, in bytes from 0.
        offset: usize,
    },
    /// It is not a URL, or its parts are ambiguous.
    #[error("the URL cannot be read: {reason}")]
    Unreadable { reason: String },
    /// The scheme is not one of the allowed ones.
    #[error("URL scheme `{found}` is not allowed (allowed: {allowed})")]
    Scheme { found: String, allowed: String },
    /// A user name or a password, which can be mistaken for a host.
    #[error("the URL to `{host}` contains a user name or password; send credentials in a header")]
    Credentials { host: String },
    /// The port is not one of the allowed ones.
    #[error("port {found} of `{host}` is not allowed (allowed: {allowed})")]
    Port {
        host: String,
        found: u16,
        allowed: String,
    },
    /// The host name is one of a private network or of a metadata service.
    #[error("host `{host}` belongs to a private network")]
    InsideName { host: String },
    /// The host name has no address.
    #[error("host `{host}` has no address")]
    NoAddress { host: String },
    /// A resolver answered with something other than an IP address.
    #[error("host `{host}` resolves to `{answer}`, which is not an IP address")]
    NotAnAddress { host: String, answer: String },
    /// One of the addresses is not allowed.
    #[error("host `{host}` has the address `{address}`, which is not public ({network})")]
    Address {
        host: String,
        address: IpAddr,
        network: Network,
    },
    /// A redirect from an encrypted to an unencrypted connection.
    #[error("a redirect goes from https to http at `{host}`")]
    Downgrade { host: String },
}

/// The target of a URL before its addresses are known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Destination {
    /// The URL in the normalised form that every client reads in the same way; request this one.
    pub url: String,
    /// The host in ASCII, without brackets and trailing dot.
    pub host: String,
    /// The port, or the default one of the scheme.
    pub port: u16,
    /// The address, if the host is one; it has been checked.
    pub address: Option<IpAddr>,
}

/// A URL that may be requested, at exactly these addresses.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Checked {
    /// The URL in the normalised form that every client reads in the same way; request this one.
    pub url: String,
    /// The host in ASCII, for the `Host` header and the name in the certificate.
    pub host: String,
    /// The port to connect to.
    pub port: u16,
    /// The only addresses to connect to, in the order of the answers, each once.
    pub addresses: Vec<IpAddr>,
}

/// Decides which URLs may be requested and at which addresses.
///
/// It only decides: the caller looks up the names, passes in every answer and connects to the
/// addresses of [`Checked`], so that the checked address is the one connected to. Each redirect is
/// checked again.
#[doc = include_str!("../docs/url.md")]
#[derive(Clone, Debug)]
pub struct UrlPolicy {
    schemes: Vec<String>,
    ports: Vec<u16>,
    deny_private: bool,
}

impl UrlPolicy {
    /// The schemes that are allowed unless the caller names others.
    pub const SCHEMES: [&'static str; 2] = ["http", "https"];
    /// The ports that are allowed unless the caller names others.
    pub const PORTS: [u16; 2] = [80, 443];

    /// Allows `schemes` (lower case) and `ports`; without `deny_private`, loopback, private and
    /// carrier-grade NAT addresses as well as the names of private networks pass too.
    #[must_use]
    pub fn new(schemes: Vec<String>, ports: Vec<u16>, deny_private: bool) -> Self {
        Self {
            schemes,
            ports,
            deny_private,
        }
    }

    /// Reads a URL and checks everything except the addresses of its host name.
    pub fn destination(&self, url: &str) -> Result<Destination, UrlError> {
        let judge = || {
            expect_plain(url)?;
            let parsed = Url::parse(url).map_err(|error| unreadable(&error))?;
            self.expect_scheme(&parsed)?;
            let authority = authority(url)
                .ok_or_else(|| unreadable(&"it has no host between `//` and the path"))?;
            self.judge(&parsed, authority.contains('@'))
        };
        judge().inspect_err(|error| refused("url", error))
    }

    /// Reads the `location` of a redirect from `from`, and checks it like any URL.
    pub fn redirect(&self, from: &Destination, location: &str) -> Result<Destination, UrlError> {
        let judge = || {
            expect_plain(location)?;
            let base = Url::parse(&from.url).map_err(|error| unreadable(&error))?;
            let target = base.join(location).map_err(|error| unreadable(&error))?;
            self.expect_scheme(&target)?;
            let destination = self.judge(&target, false)?;
            if base.scheme() == "https" && target.scheme() == "http" {
                return Err(UrlError::Downgrade {
                    host: destination.host,
                });
            }
            Ok(destination)
        };
        judge().inspect_err(|error| refused("url", error))
    }

    /// Checks the answers of a resolver for the host name of `destination`: every address must be
    /// allowed. An address in the URL itself needs no answers.
    pub fn check<'answer>(
        &self,
        destination: Destination,
        answers: impl IntoIterator<Item = &'answer str>,
    ) -> Result<Checked, UrlError> {
        let Destination {
            url,
            host,
            port,
            address,
        } = destination;
        let judge = || {
            let mut addresses: Vec<IpAddr> = address.into_iter().collect();
            if address.is_none() {
                for answer in answers {
                    let address = answer.parse().map_err(|_| UrlError::NotAnAddress {
                        host: host.clone(),
                        answer: shown(answer),
                    })?;
                    self.expect_allowed(&host, address)?;
                    if !addresses.contains(&address) {
                        addresses.push(address);
                    }
                }
            }
            if addresses.is_empty() {
                return Err(UrlError::NoAddress { host });
            }
            Ok(Checked {
                url,
                host,
                port,
                addresses,
            })
        };
        judge().inspect_err(|error| refused("url", error))
    }

    fn expect_scheme(&self, url: &Url) -> Result<(), UrlError> {
        if self.schemes.iter().any(|scheme| scheme == url.scheme()) {
            return Ok(());
        }
        Err(UrlError::Scheme {
            found: shown(url.scheme()),
            allowed: self.schemes.join(", "),
        })
    }

    fn judge(&self, url: &Url, named_user: bool) -> Result<Destination, UrlError> {
        let no_host = || unreadable(&"it has no host");
        let (host, address) = match url.host().ok_or_else(no_host)? {
            Host::Domain(name) => (expect_name(name)?, None),
            Host::Ipv4(address) => (address.to_string(), Some(address.into())),
            Host::Ipv6(address) => (address.to_string(), Some(address.into())),
        };
        if named_user || !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials { host });
        }
        let port = url.port_or_known_default().ok_or_else(no_host)?;
        if !self.ports.contains(&port) {
            let allowed: Vec<_> = self.ports.iter().map(u16::to_string).collect();
            return Err(UrlError::Port {
                host,
                found: port,
                allowed: allowed.join(", "),
            });
        }
        match address {
            Some(address) => self.expect_allowed(&host, address)?,
            None if is_metadata_name(&host) || self.deny_private && is_inside(&host) => {
                return Err(UrlError::InsideName { host });
            }
            None => {}
        }
        let mut url = url.clone();
        if address.is_none() {
            // With a trailing dot it would be a different name for certificates and cookies.
            let renamed = url.set_host(Some(&host));
            renamed.map_err(|error| unreadable(&error))?;
        }
        Ok(Destination {
            url: url.into(),
            host,
            port,
            address,
        })
    }

    fn expect_allowed(&self, host: &str, address: IpAddr) -> Result<(), UrlError> {
        let network = Network::of(address);
        match network {
            Network::Public => Ok(()),
            Network::Loopback | Network::Private | Network::Shared if !self.deny_private => Ok(()),
            _ => Err(UrlError::Address {
                host: host.to_owned(),
                address,
                network,
            }),
        }
    }
}

/// Refuses what readers of URLs strip, translate or stop at. Other invisible characters are
/// percent-encoded, and in a host name dropped or refused, before any check.
fn expect_plain(url: &str) -> Result<(), UrlError> {
    if url.len() > MAX_URL_BYTES {
        return Err(UrlError::TooLong { found: url.len() });
    }
    let path_end = url.find(['?', '#']).unwrap_or(url.len());
    let odd = url.char_indices().find(|&(offset, character)| {
        matches!(Class::of(character), Class::Control | Class::Separator)
            || (character == '\\' && offset < path_end)
            || (character.is_whitespace()
                && (offset == 0 || offset + character.len_utf8() == url.len()))
    });
    match odd {
        Some((offset, character)) => Err(UrlError::Character {
            character: character.escape_default().to_string(),
            offset,
        }),
        None => Ok(()),
    }
}

/// The part between `//` and the path, as it was written; clients differ on where it is when a
/// slash is missing or there is a third.
fn authority(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once(':')?;
    let rest = rest.strip_prefix("//")?;
    let authority = rest.split(['/', '?', '#']).next();
    authority.filter(|part| !part.is_empty())
}

fn unreadable(reason: &dyn fmt::Display) -> UrlError {
    let reason = reason.to_string();
    UrlError::Unreadable { reason }
}

/// A host name without its trailing dot, if it can be looked up at all.
fn expect_name(name: &str) -> Result<String, UrlError> {
    let bare = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        (1..=63).contains(&label.len()) && label.bytes().all(is_plain)
    };
    if bare.len() <= 253 && bare.split('.').all(is_label) {
        return Ok(bare.to_owned());
    }
    let reason = format!("`{}` is not a host name", shown(name));
    Err(unreadable(&reason))
}

/// Whether a host name belongs to a private network by its last labels.
fn is_inside(host: &str) -> bool {
    INSIDE.split(' ').any(|inside| {
        let rest = host.strip_suffix(inside);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}
