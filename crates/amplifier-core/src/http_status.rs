//! What the HTTP status of a failed request means: the one table, which everything else asks.

/// The kind of failure that an HTTP status reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusKind {
    /// The request cannot be served as it is: 400 and every 4xx without a kind of its own.
    InvalidRequest,
    /// The key is missing or wrong: 401.
    Authentication,
    /// The account has no credit: 402.
    Billing,
    /// The key may not do this: 403.
    Permission,
    /// What was asked for does not exist, or not any more: 404, 410.
    NotFound,
    /// The request is too large: 413.
    TooLarge,
    /// There were too many requests: 429.
    RateLimit,
    /// The server, or one behind it, took too long: 408, 504.
    Timeout,
    /// The server is overloaded: 529.
    Overloaded,
    /// The server failed, or was in a state that changes: 409 and every other 5xx.
    Server,
}

impl StatusKind {
    /// Every kind with its usual status and the name that providers use for it.
    const TABLE: [(Self, u16, &'static str); 10] = [
        (Self::InvalidRequest, 400, "invalid_request_error"),
        (Self::Authentication, 401, "authentication_error"),
        (Self::Billing, 402, "billing_error"),
        (Self::Permission, 403, "permission_error"),
        (Self::NotFound, 404, "not_found_error"),
        (Self::TooLarge, 413, "request_too_large"),
        (Self::RateLimit, 429, "rate_limit_error"),
        (Self::Timeout, 504, "timeout_error"),
        (Self::Overloaded, 529, "overloaded_error"),
        (Self::Server, 500, "api_error"),
    ];

    /// The kind of a status; `None` below 400, where nothing failed.
    #[must_use]
    pub fn of(status: u16) -> Option<Self> {
        Some(match status {
            ..400 => return None,
            401 => Self::Authentication,
            402 => Self::Billing,
            403 => Self::Permission,
            404 | 410 => Self::NotFound,
            408 | 504 => Self::Timeout,
            409 => Self::Server,
            413 => Self::TooLarge,
            429 => Self::RateLimit,
            529 => Self::Overloaded,
            400..500 => Self::InvalidRequest,
            500.. => Self::Server,
        })
    }

    /// The kind with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::TABLE.iter().find(|(_, _, known)| *known == name);
        found.map(|(kind, _, _)| *kind)
    }

    /// The name that providers use as the type of such an error.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let (_, name) = self.entry();
        name
    }

    /// The status that represents it if the actual one is unknown.
    #[must_use]
    pub fn status(self) -> u16 {
        let (status, _) = self.entry();
        status
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn may_pass(self) -> bool {
        match self {
            Self::RateLimit | Self::Timeout | Self::Overloaded | Self::Server => true,
            Self::InvalidRequest
            | Self::Authentication
            | Self::Billing
            | Self::Permission
            | Self::NotFound
            | Self::TooLarge => false,
        }
    }

    fn entry(self) -> (u16, &'static str) {
        let found = Self::TABLE.iter().find(|(kind, _, _)| *kind == self);
        found.map_or((400, "invalid_request_error"), |(_, status, name)| {
            (*status, *name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::StatusKind;

    #[test]
    fn each_kind_is_found_by_its_name_and_by_its_status() {
        for (kind, status, name) in StatusKind::TABLE {
            assert_eq!(StatusKind::named(name), Some(kind));
            assert_eq!(StatusKind::of(status), Some(kind));
            assert_eq!((kind.status(), kind.as_str()), (status, name));
        }
        assert_eq!(StatusKind::of(399), None);
    }

    #[test]
    fn the_statuses_that_may_pass_are_those_that_clients_retry() {
        let passing =
            (400..600).filter(|status| StatusKind::of(*status).is_some_and(StatusKind::may_pass));
        let expected = [408, 409, 429].into_iter().chain(500..600);
        assert!(passing.eq(expected));
    }
}
