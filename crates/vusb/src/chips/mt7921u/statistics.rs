//! What the chip counts, for `--stats` and in registers.

use serde::Serialize;

use super::assumptions::Assumptions;
use crate::air::AirCounters;
use crate::chips::dynamic_power::PowerCounters;
use crate::peers::PeerStatistics;

/// Registers and the firmware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mt7921uCounters"))]
pub struct ChipCounters {
    /// Register reads.
    pub reads: u64,
    /// Register writes.
    pub writes: u64,
    /// Bytes of firmware in the chip's memories.
    pub firmware_bytes: u64,
    /// Times that the firmware began to run.
    pub boots: u64,
    /// Commands to the firmware.
    pub commands: u64,
    /// Those among them that have no effect here.
    pub commands_without_effect: u64,
    /// Transfers to the endpoint of commands that were none.
    pub malformed: u64,
    /// Events of the firmware to the host, answers to commands included.
    pub events: u64,
    /// Events that got lost (a fault).
    pub events_lost: u64,
    /// Scans.
    pub scans: u64,
    /// Times that the firmware said that the connection is lost.
    pub beacon_losses: u64,
}

/// What the transmitter of an MT7921U has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mt7921uTxCounters"))]
pub struct TxCounters {
    /// Frames from the driver.
    pub frames: u64,
    /// Ethernet frames among them, for which the chip makes the 802.11 header.
    pub ethernet: u64,
    /// Transfers in which a descriptor and frame could not be found.
    pub malformed: u64,
    /// Frames with a status that the driver asked for.
    pub reported: u64,
    /// Frames at the driver's rate.
    pub driver_rate: u64,
    /// Frames that the chip encrypted.
    pub encrypted: u64,
    /// Frames for which there was no key, or no receiver.
    pub dropped: u64,
    /// PPDUs behind an RTS.
    pub rts: u64,
    /// Frames sent again.
    pub retries: u64,
    /// Frames given up after the last retry.
    pub given_up: u64,
    /// Times that a bulk OUT endpoint was NAKed because the buffer was full (counted once per wait).
    pub buffer_full: u64,
}

/// What the receiver of an MT7921U has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mt7921uRxCounters"))]
pub struct RxCounters {
    /// Frames that came off the air whole.
    pub frames: u64,
    /// Frames handed to the driver.
    pub delivered: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Those handed over as Ethernet frames.
    pub ethernet: u64,
    /// Frames that the filters kept back.
    pub filtered: u64,
    /// Frames that found the receive buffer full (they are not acknowledged either).
    pub overflows: u64,
    /// Frames that the chip decrypted.
    pub decrypted: u64,
    /// Frames with an integrity check that failed.
    pub integrity_errors: u64,
}

/// What an MT7921U has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mt7921uStatistics"))]
pub struct Statistics {
    /// Registers and the firmware.
    pub chip: ChipCounters,
    /// What is assumed of the chip.
    pub assumptions: Assumptions,
    /// The transmitter.
    pub tx: TxCounters,
    /// The receiver.
    pub rx: RxCounters,
    /// Power save.
    pub power: PowerCounters,
    /// The air.
    pub air: AirCounters,
    /// The access points.
    pub ap: PeerStatistics,
}

/// MPDUs of an A-MPDU at most, of each of the sixteen counters of their lengths but the last (assumed: the driver reads only the
/// counters; mt792x_core.c, mt792x_gstrings_stats, names them so).
const AMPDU_LENGTHS: [usize; 15] = [1, 10, 19, 28, 37, 46, 55, 79, 103, 127, 151, 175, 199, 223, 247];

/// Counters of the MAC that a read sets back to zero: the driver adds them up (Linux mt76/mt792x_mac.c,
/// mt792x_mac_update_mib_stats and mt792x_phy_update_channel).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counted {
    /// Time in us: the medium was busy, the chip sent, it received frames of its network, it received others.
    pub busy_us: u32,
    /// See [`Counted::busy_us`].
    pub tx_us: u32,
    /// See [`Counted::busy_us`].
    pub rx_us: u32,
    /// See [`Counted::busy_us`].
    pub others_us: u32,
    /// A-MPDUs sent.
    pub tx_ampdus: u32,
    /// MPDUs sent, retries included.
    pub tx_mpdus: u32,
    /// MPDUs that were acknowledged.
    pub tx_acknowledged: u32,
    /// A-MPDUs without a Block Ack.
    pub block_acks_missed: u32,
    /// PPDUs without an ACK.
    pub acks_missed: u32,
    /// RTS sent.
    pub rts: u32,
    /// RTS without a CTS.
    pub rts_failed: u32,
    /// MPDUs received.
    pub rx_mpdus: u32,
    /// A-MPDUs received.
    pub rx_ampdus: u32,
    /// Bytes of their MPDUs.
    pub rx_ampdu_bytes: u32,
    /// A-MPDUs sent, by length.
    lengths: [u16; 16],
}

impl Counted {
    /// An A-MPDU of this many MPDUs was sent.
    pub fn ampdu(&mut self, mpdus: usize) {
        self.tx_ampdus = self.tx_ampdus.wrapping_add(1);
        let at = AMPDU_LENGTHS.iter().position(|&most| mpdus <= most).unwrap_or(AMPDU_LENGTHS.len());
        if let Some(count) = self.lengths.get_mut(at) {
            *count = count.wrapping_add(1);
        }
    }

    /// The host reads a register: its count, if it is one of these, which starts again.
    pub fn take(&mut self, address: u32) -> Option<u32> {
        // MT_TX_AGG_CNT and MT_TX_AGG_CNT2: two lengths in each word.
        let word = match address {
            0x820e_d7dc..0x820e_d7ec => Some((address - 0x820e_d7dc) / 4),
            0x820e_d7ec..0x820e_d7fc => Some((address - 0x820e_d7ec) / 4 + 4),
            _ => None,
        };
        if let Some(pair) = word.and_then(|word| self.lengths.chunks_exact_mut(2).nth(word as usize)) {
            let value = pair.iter().rev().fold(0, |value, &count| value << 16 | u32::from(count));
            pair.fill(0);
            return Some(value);
        }
        let slot = match address {
            // MT_MIB_SDR9, SDR36, SDR37, MT_WF_RMAC_MIB_AIRTIME14.
            0x820e_d02c => &mut self.busy_us,
            0x820e_d054 => &mut self.tx_us,
            0x820e_d058 => &mut self.rx_us,
            0x820e_53b8 => &mut self.others_us,
            // MT_MIB_SDR12, SDR14, SDR15, MB_BSDR2, MB_BSDR3, MB_BSDR0, MB_BSDR1, SDR5, SDR22, SDR23.
            0x820e_d558 => &mut self.tx_ampdus,
            0x820e_d564 => &mut self.tx_mpdus,
            0x820e_d568 => &mut self.tx_acknowledged,
            0x820e_d518 => &mut self.block_acks_missed,
            0x820e_d520 => &mut self.acks_missed,
            0x820e_d688 => &mut self.rts,
            0x820e_d690 => &mut self.rts_failed,
            0x820e_d780 => &mut self.rx_mpdus,
            0x820e_d770 => &mut self.rx_ampdus,
            0x820e_d774 => &mut self.rx_ampdu_bytes,
            _ => return None,
        };
        Some(std::mem::take(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_starts_a_count_again() {
        let mut counted = Counted { tx_us: 7, ..Counted::default() };
        assert_eq!([counted.take(0x820e_d054), counted.take(0x820e_d054)], [Some(7), Some(0)]);
        assert_eq!(counted.take(0x820e_d050), None);
        for mpdus in [1, 2, 10, 64, 256] {
            counted.ampdu(mpdus);
        }
        assert_eq!(counted.take(0x820e_d7dc), Some(2 << 16 | 1));
        assert_eq!(counted.take(0x820e_d7e8), Some(1 << 16), "56 to 79");
        assert_eq!(counted.take(0x820e_d7f8), Some(1 << 16), "beyond 247");
        assert_eq!((counted.take(0x820e_d558), counted.take(0x820e_d7dc)), (Some(5), Some(0)));
    }
}
