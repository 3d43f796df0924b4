//! Frames of the access point that no packet is in.

/// Length of the beacons on a channel, FCS included: those of an open 802.11n access point with WMM and a name of four
/// bytes. In 2.4 GHz there are the elements DSSS Parameter Set and ERP more.
pub const fn beacon_len(channel: u16) -> usize {
    if channel <= 14 {
        164
    } else {
        158
    }
}
