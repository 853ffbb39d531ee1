//! `UrlDecisions`: which addresses a request may reach; `UrlPolicy` looks up names and awaits.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use amplifier_guard as guard;
use pyo3::prelude::*;

use crate::error::Error;

/// Decides which URLs may be requested and at which addresses; names are looked up by the caller.
///
/// Args:
///     schemes: Schemes that are allowed; None for `http` and `https`.
///     ports: Ports that are allowed; None for 80 and 443.
///     deny_private: Whether loopback, private and carrier-grade NAT addresses are refused;
///         link-local and metadata addresses always are.
#[pyclass(frozen, subclass, weakref, module = "amplifier_core._engine")]
pub(crate) struct UrlDecisions {
    policy: guard::UrlPolicy,
}

#[pymethods]
impl UrlDecisions {
    #[new]
    #[pyo3(signature = (*, schemes = None, ports = None, deny_private = true))]
    fn new(schemes: Option<Vec<String>>, ports: Option<Vec<u16>>, deny_private: bool) -> Self {
        let schemes =
            schemes.unwrap_or_else(|| guard::UrlPolicy::SCHEMES.map(str::to_owned).into());
        let ports = ports.unwrap_or_else(|| guard::UrlPolicy::PORTS.into());
        Self {
            policy: guard::UrlPolicy::new(schemes, ports, deny_private),
        }
    }

    /// Read a URL and judge all of it but the addresses of its host name.
    ///
    /// Raises:
    ///     UrlDenied: The URL may not be requested.
    fn destination(&self, url: &str) -> Result<Destination, Error> {
        let destination = self.policy.destination(url)?;
        Ok(Destination { destination })
    }

    /// Read what a redirect from `source` names as `location`, and judge it as any URL.
    ///
    /// Raises:
    ///     UrlDenied: The hop may not be requested.
    fn redirect(&self, source: &Destination, location: &str) -> Result<Destination, Error> {
        let destination = self.policy.redirect(&source.destination, location)?;
        Ok(Destination { destination })
    }

    /// Judge every address that was found for the name of a destination.
    ///
    /// Raises:
    ///     UrlDenied: There is no address, or one that is not allowed.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments from Python are extracted by value"
    )]
    fn judge(
        &self,
        destination: &Destination,
        addresses: Vec<String>,
    ) -> Result<CheckedUrl, Error> {
        let answers = addresses.iter().map(String::as_str);
        let checked = self
            .policy
            .check(destination.destination.clone(), answers)?;
        Ok(CheckedUrl { checked })
    }
}

/// Where a URL leads, the addresses of its name not yet known.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct Destination {
    destination: guard::Destination,
}

#[pymethods]
impl Destination {
    /// The URL in the one form that every client reads alike.
    #[getter]
    fn url(&self) -> &str {
        &self.destination.url
    }

    /// The host in ASCII, without brackets and trailing dot.
    #[getter]
    fn host(&self) -> &str {
        &self.destination.host
    }

    /// The port, that of the scheme where the URL names none.
    #[getter]
    fn port(&self) -> u16 {
        self.destination.port
    }

    /// The address, if the host is one; it has been judged.
    #[getter]
    fn address(&self) -> Option<String> {
        self.destination.address.map(|address| address.to_string())
    }
}

/// A URL that may be requested, at exactly these addresses.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct CheckedUrl {
    checked: guard::Checked,
}

#[pymethods]
impl CheckedUrl {
    /// The URL in the one form that every client reads alike; request this one.
    #[getter]
    fn url(&self) -> &str {
        &self.checked.url
    }

    /// The host in ASCII, for the `Host` header and the name in the certificate.
    #[getter]
    fn host(&self) -> &str {
        &self.checked.host
    }

    /// The port to connect to.
    #[getter]
    fn port(&self) -> u16 {
        self.checked.port
    }

    /// The addresses to connect to, none other.
    #[getter]
    fn addresses(&self) -> Vec<String> {
        let addresses = self.checked.addresses.iter();
        addresses.map(ToString::to_string).collect()
    }
}
