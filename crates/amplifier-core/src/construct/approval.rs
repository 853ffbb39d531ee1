//! Questions to the user, and their answers.

use crate::json::Object;
use crate::model::{ApprovalRequest, ApprovalResponse};

impl ApprovalRequest {
    /// Asks for this action of a tool, at medium risk and without a time limit.
    #[must_use]
    pub fn new(tool_name: impl Into<String>, action: impl Into<String>) -> Self {
        Self {
            tool_name: tool_name.into(),
            action: action.into(),
            details: Object::new(),
            risk_level: "medium".to_owned(),
            timeout: None,
        }
    }
}

impl ApprovalResponse {
    /// The tool may act.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::ApprovalResponse;
    ///
    /// assert!(ApprovalResponse::approve().approved);
    /// assert_eq!(ApprovalResponse::deny("not today").reason.as_deref(), Some("not today"));
    /// ```
    #[must_use]
    pub fn approve() -> Self {
        Self {
            approved: true,
            reason: None,
            remember: false,
        }
    }

    /// The tool may not act, for this reason.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self {
            approved: false,
            reason: Some(reason.into()),
            remember: false,
        }
    }
}
