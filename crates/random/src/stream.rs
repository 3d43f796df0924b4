//! Who draws: every consumer of random numbers, in one place.

/// A consumer of random numbers. With a seed and an index (of a flow, a host, a radio; 0 where there is one) it names a stream that no other consumer
/// draws from. The numbers are part of what a seed stands for: a new consumer gets a new one, and none is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Stream {
    /// How much later than asked for a flow begins; by flow.
    FlowStart = 1,
    /// What a congestion control draws; by flow.
    Congestion = 2,
    /// Losses of the wire in front of the link, towards the link.
    PathDown = 3,
    /// Losses of the wire in front of the link, towards the server.
    PathUp = 4,
    /// Losses of a pipe, by sending host.
    Pipe = 5,
    /// Backoffs on the modelled 802.11 link.
    WlanBackoff = 6,
    /// MPDUs lost on the modelled 802.11 link.
    WlanLoss = 7,
    /// Answers that are not given, or get lost, on the modelled 802.11 link.
    WlanAnswer = 8,
    /// Rates that rate control tries out on the modelled 802.11 link.
    WlanRate = 9,
    /// The hash that spreads flows over queues, by radio.
    FlowHash = 10,
    /// Beacons that an SDIO card misses.
    SdioBeacon = 11,
    /// Backoffs on the air of virtual chips.
    AirBackoff = 12,
    /// Frames lost on the air of virtual chips.
    AirLoss = 13,
    /// Block Acks of a virtual chip that come too early for an MPDU (a fault).
    LateBlockAck = 14,
    /// What happens on the air of a specimen.
    SpecimenAir = 15,
    /// What the sniffer of a specimen makes of it.
    SpecimenSniffer = 16,
    /// Contents of frames of a specimen.
    SpecimenContents = 17,
    /// What a cell grants to a modem, downlink.
    CellGrant = 18,
    /// What a device of recorded replies answers to requests that were not recorded.
    UnrecordedReply = 19,
}

#[cfg(test)]
impl Stream {
    /// The last one: consumers are numbered from 1 to it.
    pub(crate) const LAST: u32 = Self::UnrecordedReply as u32;
}
