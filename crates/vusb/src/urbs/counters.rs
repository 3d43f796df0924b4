//! What is counted of URBs.

/// What a session has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UrbCounters {
    /// URBs that came.
    pub submitted: u64,
    /// URBs that went back with status 0.
    pub succeeded: u64,
    /// URBs that ended with a STALL.
    pub stalled: u64,
    /// URBs that ended with babble.
    pub babbled: u64,
    /// URBs that went back with another status.
    pub failed: u64,
    /// URBs that the host took back in time.
    pub unlinked: u64,
    /// Bytes of OUT data taken, endpoint 0 not counted.
    pub out_bytes: u64,
    /// Bytes of IN data given, endpoint 0 not counted.
    pub in_bytes: u64,
}

impl UrbCounters {
    /// Adds what another session has done.
    pub fn add(&mut self, other: &Self) {
        self.submitted += other.submitted;
        self.succeeded += other.succeeded;
        self.stalled += other.stalled;
        self.babbled += other.babbled;
        self.failed += other.failed;
        self.unlinked += other.unlinked;
        self.out_bytes += other.out_bytes;
        self.in_bytes += other.in_bytes;
    }
}
