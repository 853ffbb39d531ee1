//! Findings, as Python takes them.

use amplifier_guard::Finding;

/// A finding as its kind, its pointer, and its characters from and to.
pub(crate) type FindingFields = (&'static str, String, usize, usize);

/// The fields of each finding.
pub(crate) fn fields(findings: &[Finding]) -> Vec<FindingFields> {
    findings
        .iter()
        .map(|one| (one.kind.as_str(), one.pointer.clone(), one.start, one.end))
        .collect()
}
