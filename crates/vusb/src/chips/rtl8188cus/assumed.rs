//! What is assumed of a chip, whichever model it is.

use super::assumptions::Assumptions;
use super::eu_assumptions::{AggregateLimit, EuAssumptions};
use super::reports;

/// What the blocks of the chip go by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assumed {
    pub mac: Assumptions,
    pub aggregate_limit: AggregateLimit,
    pub reports: reports::Assumptions,
}

impl From<Assumptions> for Assumed {
    fn from(mac: Assumptions) -> Self {
        Self { mac, aggregate_limit: AggregateLimit::Fixed, reports: reports::Assumptions::default() }
    }
}

impl From<EuAssumptions> for Assumed {
    fn from(assumed: EuAssumptions) -> Self {
        Self { mac: assumed.mac(), aggregate_limit: assumed.aggregate_limit, reports: assumed.reports() }
    }
}
