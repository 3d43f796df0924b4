//! Packets as MediaTek's second generation of "connac" chips (MT7921) puts them on USB. Little endian. The fields are those of
//! Linux drivers/net/wireless/mediatek/mt76: mt76_connac2_mac.h (MT_TXD*, MT_TXS*, MT_RXD*, MT_PRXV_*), mt76_connac_mcu.h
//! (struct mt76_connac2_mcu_txd, mt76_connac2_mcu_uni_txd and mt76_connac2_mcu_rxd), mt792x.h (mt792x_skb_add_usb_sdio_hdr).
//!
//! Towards the device: a header of 4 bytes with the length of what follows it; a descriptor of 64 bytes and a frame, a command, or
//! a part of the firmware; padding. Towards the host: one packet in each transfer, which begins with its length and its kind.

/// Bytes in front of each packet towards the device.
pub const USB_HEADER: usize = 4;
/// Bytes of the descriptor of a frame (mt76_connac.h, MT_SDIO_TXD_SIZE).
pub const TX_DESCRIPTOR: usize = 64;
/// Bytes of the descriptor of a command.
pub const COMMAND_DESCRIPTOR: usize = 32;
/// Bytes of a receive descriptor without its groups.
pub const RX_DESCRIPTOR: usize = 24;
/// Bytes in front of what an event says.
pub const EVENT_HEADER: usize = 36;
/// The station that a received frame has when its sender is none that the chip knows: beyond every table of the driver.
pub const UNKNOWN_STATION: u16 = 0x3ff;

/// Kinds of packets towards the host (mt76_connac.h, enum rx_pkt_type).
pub mod kind {
    /// What happened to frames.
    pub const TX_STATUS: u8 = 0;
    /// A received frame.
    pub const FRAME: u8 = 2;
    /// An event of the firmware.
    pub const EVENT: u8 = 7;
}

/// Numbers of modulations (mt76.h, MT_PHY_TYPE_*).
pub mod phy {
    /// DSSS and CCK.
    pub const CCK: u8 = 0;
    /// OFDM.
    pub const OFDM: u8 = 1;
    /// HT with a mixed preamble.
    pub const HT: u8 = 2;
    /// VHT.
    pub const VHT: u8 = 4;
    /// HE, single user.
    pub const HE_SU: u8 = 8;
}

mod command;
mod receive;
mod transmit;

pub use command::{Command, CommandId, EventHeader};
pub use receive::{Addressed, RxDescriptor};
pub use transmit::{HeaderFormat, TxDescriptor, TxStatus};

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(4 * at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The packet of a transfer to the device: what follows the header, without padding. `None`: there is less than the header says.
pub fn packet(transfer: &[u8]) -> Option<&[u8]> {
    let [low, high, _, _] = transfer.first_chunk::<USB_HEADER>()?;
    let len = usize::from(u16::from_le_bytes([*low, *high]));
    transfer.get(USB_HEADER..USB_HEADER + len)
}

/// A transfer with a packet, as drivers make it: padded to 4 bytes, and 4 more.
pub fn transfer(packet: &[u8]) -> Vec<u8> {
    let mut bytes = (packet.len() as u32 & 0xffff).to_le_bytes().to_vec();
    bytes.extend_from_slice(packet);
    bytes.resize(bytes.len().next_multiple_of(4) + 4, 0);
    bytes
}

/// How a rate is numbered: modulation, index and streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RateNumber {
    /// One of [`phy`].
    pub phy: u8,
    /// MCS, or the number of a legacy rate.
    pub index: u8,
    /// Streams, from 1 on.
    pub streams: u8,
}

impl RateNumber {
    /// The 14 bits of descriptors and statuses (MT_TX_RATE_*).
    pub const fn bits(self) -> u32 {
        self.index as u32 & 0x3f | (self.phy as u32 & 0xf) << 6 | (self.streams.saturating_sub(1) as u32 & 7) << 10
    }

    /// The rate of 14 bits.
    pub const fn of_bits(bits: u32) -> Self {
        Self { phy: (bits >> 6 & 0xf) as u8, index: (bits & 0x3f) as u8, streams: (bits >> 10 & 7) as u8 + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate() -> impl Strategy<Value = RateNumber> {
        (0u8..16, 0u8..64, 1u8..9).prop_map(|(phy, index, streams)| RateNumber { phy, index, streams })
    }

    fn received() -> impl Strategy<Value = RxDescriptor> {
        let first = (0u16..1024, 0u8..14, 0u8..4, any::<Option<[u8; 6]>>(), any::<[bool; 5]>());
        let second = (any::<Option<(u16, [u8; 6], u16, u16)>>(), 5u8..16, 0u8..16, any::<u8>());
        let third = (0u8..4, any::<u32>(), rate(), 0u8..4, 0u8..4, [-110i8..17, -110i8..17]);
        (first, second, third).prop_map(|(first, (translated, half, tid, channel), third)| {
            let (station, cipher, key_id, packet_number, [integrity_error, michael_error, ampdu, fragment, ldpc]) =
                first;
            let (addressed, tsf_us, rate, bandwidth, guard, signal_dbm) = third;
            let addressed =
                [Addressed::Other, Addressed::Own, Addressed::Group, Addressed::All][usize::from(addressed)];
            let header_len = 2 * half;
            RxDescriptor {
                station,
                cipher,
                key_id,
                packet_number,
                integrity_error,
                michael_error,
                translated,
                header_len,
                ampdu,
                fragment,
                tid,
                channel,
                addressed,
                tsf_us,
                rate,
                bandwidth,
                guard,
                ldpc,
                signal_dbm,
            }
        })
    }

    proptest! {
        #[test]
        fn received_frames_are_read_back(descriptor in received(), frame: Vec<u8>) {
            let packet = descriptor.emit(&frame);
            let read = RxDescriptor::parse(&packet).unwrap();
            prop_assert_eq!(read, (descriptor, &frame[..]));
        }

        #[test]
        fn statuses_are_read_back(
            station in 0u16..1024, packet_id: u8, arrived: bool, rate in rate(), bandwidth in 0u8..4, ampdu: bool, tid in 0u8..8,
            sequence in 0u16..4096, tsf_us: u32, count in 0usize..4,
        ) {
            let status = TxStatus { station, packet_id, arrived, rate, bandwidth, ampdu, tid, sequence, tsf_us };
            let packet = TxStatus::emit(&vec![status; count]);
            prop_assert_eq!(usize::from(u16::from_le_bytes([packet[0], packet[1]])), packet.len());
            prop_assert_eq!(TxStatus::parse(&packet), vec![status; count]);
        }

        #[test]
        fn commands_and_events_are_read_back(
            number: u8, extended: u8, unified in 0u16..0x8000, plain: bool, sequence: u8, acknowledge: bool, query: bool, body: Vec<u8>,
        ) {
            let extended = if number == CommandId::EXTENDED { extended } else { 0 };
            let id = if plain { CommandId::Plain(number, extended) } else { CommandId::Unified(unified) };
            let command = Command { id, sequence, acknowledge, query, body: &body };
            let transfer = transfer(&command.emit());
            prop_assert_eq!(Command::parse(packet(&transfer).unwrap()), Some(command));
            let event = EventHeader { id: number, extended, sequence, unsolicited: query };
            let bytes = event.emit(&body);
            prop_assert_eq!(EventHeader::parse(&bytes), Some((event, &body[..])));
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let _ = (packet(&bytes), TxDescriptor::parse(&bytes), TxStatus::parse(&bytes));
            let _ = (Command::parse(&bytes), EventHeader::parse(&bytes), RxDescriptor::parse(&bytes));
        }
    }

    /// As mt76_connac2_mac_write_txwi writes them.
    #[test]
    fn fields_of_a_descriptor() {
        let rate = RateNumber { phy: phy::OFDM, index: 11, streams: 1 };
        let descriptor = TxDescriptor::new(100, 16, 19)
            .with(2, 31, 1)
            .with(6, 16, rate.bits())
            .with(3, 1, 1)
            .with(3, 28, 1)
            .with(5, 0, 7)
            .with(5, 10, 1)
            .with(1, 24, 1)
            .with(1, 20, 5);
        let read = TxDescriptor::parse(&descriptor.emit()).unwrap();
        assert_eq!((read.queue(), read.station(), read.own_address(), read.tid()), (16, 19, 1, 5));
        assert_eq!((read.fixed_rate(), read.packet_id(), read.attempts()), (Some(rate), Some(7), 15));
        assert_eq!(
            (read.format(), read.protect(), read.alone(), read.no_ack()),
            (HeaderFormat::Ieee80211, true, true, false)
        );
        assert_eq!(
            (read.sequence(), read.starts_block_ack(), read.has_ethertype(), read.is_qos()),
            (None, false, false, false)
        );
        assert_eq!(TxDescriptor::default().format(), HeaderFormat::Ethernet);
    }
}
