//! What shows that captures of several radios were merged.

/// What shows that a capture is of several radios, each on a channel of its own.
#[derive(Clone, Copy, Debug)]
pub enum SeveralRadios {
    /// The channel changes faster than a radio can be tuned.
    Fast {
        /// Changes that are.
        fast: u64,
        /// All changes.
        changes: u64,
    },
    /// At changes of the channel, the stamps step to another clock, and back.
    Clocks(Steps),
}

/// Steps of the hardware stamps against the capture's clock, from one frame to the next.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Steps to a distance that was there before.
    pub back: u64,
    /// All steps of more than a second.
    pub all: u64,
    /// Their median, s.
    pub median_s: f64,
}
