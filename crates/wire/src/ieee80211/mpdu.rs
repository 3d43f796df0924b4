//! A view over the bytes of an MPDU, for code that handles whole frames: radios, their queues, monitors.

use super::elements::u16_at;
use super::header::QosControl;
use super::{FrameControl, FrameKind, FrameType, MacAddr, Seq};

/// Where Duration/ID, the addresses and Sequence Control begin.
const DURATION: usize = 2;
const ADDRESS_1: usize = 4;
const ADDRESS_2: usize = 10;
const ADDRESS_3: usize = 16;
const SEQUENCE_CONTROL: usize = 22;
/// Where Address 4 begins, or QoS Control without it, and where QoS Control begins behind it.
const ADDRESS_4: usize = 24;
const QOS_BEHIND_ADDRESS_4: usize = 30;

/// An MPDU, with or without its FCS, looked at where it stands. Drivers hand any bytes to a radio, so every length is good:
/// a field that the bytes do not reach is `None`, and what is claimed of a frame is `false` as long as it cannot be known.
///
/// [`Header`](super::Header) is the same as a representation: all of it at once, or an error.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu<T>(T);

impl<T: AsRef<[u8]>> Mpdu<T> {
    /// A view over `bytes`, which begin with Frame Control.
    #[inline]
    pub const fn new(bytes: T) -> Self {
        Self(bytes)
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    #[inline]
    fn half(&self, offset: usize) -> Option<u16> {
        u16_at(self.bytes(), offset)
    }

    /// Frame Control; `None` for other protocol versions, too: their layout is not known. Of a frame of one byte
    /// its type and subtype, without flags.
    #[inline]
    pub fn frame_control(&self) -> Option<FrameControl> {
        let fc = match *self.bytes() {
            [] => return None,
            [low] => FrameControl(u16::from(low)),
            [low, high, ..] => FrameControl(u16::from_le_bytes([low, high])),
        };
        (fc.version() == 0).then_some(fc)
    }

    /// What kind of frame it is.
    #[inline]
    pub fn kind(&self) -> Option<FrameKind> {
        self.frame_control().map(FrameControl::kind)
    }

    /// Management, control, data or extension.
    #[inline]
    pub fn frame_type(&self) -> Option<FrameType> {
        self.frame_control().map(FrameControl::frame_type)
    }

    /// A data frame of any subtype.
    #[inline]
    pub fn is_data(&self) -> bool {
        self.frame_type() == Some(FrameType::Data)
    }

    /// A data frame that has a frame body (Null has none).
    #[inline]
    pub fn carries_data(&self) -> bool {
        self.frame_control().is_some_and(FrameControl::carries_data)
    }

    /// Retry.
    #[inline]
    pub fn retry(&self) -> bool {
        self.frame_control().is_some_and(FrameControl::retry)
    }

    /// Power Management.
    #[inline]
    pub fn power_management(&self) -> bool {
        self.frame_control().is_some_and(FrameControl::power_management)
    }

    /// Protected Frame.
    #[inline]
    pub fn protected(&self) -> bool {
        self.frame_control().is_some_and(FrameControl::protected)
    }

    /// The Duration/ID field.
    #[inline]
    pub fn duration_id(&self) -> Option<u16> {
        self.half(DURATION)
    }

    /// Address 1, the receiver.
    #[inline]
    pub fn receiver(&self) -> Option<MacAddr> {
        MacAddr::read(self.bytes(), ADDRESS_1)
    }

    /// The receiver is a group address.
    #[inline]
    pub fn is_group(&self) -> bool {
        self.receiver().is_some_and(MacAddr::is_group)
    }

    /// The six bytes where frames have Address 2, the transmitter; CTS and Ack have none, and end before.
    #[inline]
    pub fn transmitter(&self) -> Option<MacAddr> {
        MacAddr::read(self.bytes(), ADDRESS_2)
    }

    /// The six bytes where data and management frames have Address 3.
    #[inline]
    pub fn address_3(&self) -> Option<MacAddr> {
        MacAddr::read(self.bytes(), ADDRESS_3)
    }

    /// The two bytes where data and management frames have Sequence Control.
    #[inline]
    pub fn sequence_control(&self) -> Option<u16> {
        self.half(SEQUENCE_CONTROL)
    }

    /// The sequence number in them.
    #[inline]
    pub fn sequence(&self) -> Option<Seq> {
        self.sequence_control().map(|control| Seq::new(control >> 4))
    }

    /// Where QoS Control begins, in QoS data.
    #[inline]
    fn qos_offset(&self) -> Option<usize> {
        let fc = self.frame_control().filter(|fc| fc.is_qos_data())?;
        Some(if fc.to_ds() && fc.from_ds() { QOS_BEHIND_ADDRESS_4 } else { ADDRESS_4 })
    }

    /// QoS Control, in QoS data.
    #[inline]
    pub fn qos(&self) -> Option<QosControl> {
        self.half(self.qos_offset()?).map(QosControl)
    }

    /// The TID of QoS data.
    #[inline]
    pub fn tid(&self) -> Option<u8> {
        self.qos().map(QosControl::tid)
    }

    /// The body of a management frame: what follows its header; empty when it is cut before, and for other frames.
    #[inline]
    pub fn management_body(&self) -> &[u8] {
        match self.frame_control() {
            Some(fc) if fc.frame_type() == FrameType::Management => {
                self.bytes().get(if fc.order() { 28 } else { 24 }..).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// The body of a control frame with two addresses: what follows them.
    #[inline]
    pub fn control_body(&self) -> &[u8] {
        match self.frame_type() {
            Some(FrameType::Control) => self.bytes().get(ADDRESS_3..).unwrap_or_default(),
            _ => &[],
        }
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Mpdu<T> {
    fn write<const N: usize>(&mut self, offset: usize, bytes: [u8; N]) {
        if let Some(field) = self.0.as_mut().get_mut(offset..offset + N) {
            field.copy_from_slice(&bytes);
        }
    }

    /// Replaces Frame Control. Here and below: nothing happens where the frame ends before the field.
    pub fn set_frame_control(&mut self, fc: FrameControl) {
        self.write(0, fc.0.to_le_bytes());
    }

    fn change(&mut self, change: impl FnOnce(FrameControl) -> FrameControl) {
        if let Some(fc) = self.frame_control() {
            self.set_frame_control(change(fc));
        }
    }

    /// Sets or clears Retry.
    pub fn set_retry(&mut self, retry: bool) {
        self.change(|fc| fc.with_retry(retry));
    }

    /// Sets or clears More Data.
    pub fn set_more_data(&mut self, more: bool) {
        self.change(|fc| fc.with_more_data(more));
    }

    /// Sets or clears Power Management.
    pub fn set_power_management(&mut self, sleeps: bool) {
        self.change(|fc| fc.with_power_management(sleeps));
    }

    /// Replaces the Duration/ID field.
    pub fn set_duration_id(&mut self, duration_id: u16) {
        self.write(DURATION, duration_id.to_le_bytes());
    }

    /// Replaces Address 3.
    pub fn set_address_3(&mut self, address: MacAddr) {
        self.write(ADDRESS_3, address.0);
    }

    /// Replaces the sequence number; the fragment number stays.
    pub fn set_sequence(&mut self, sequence: Seq) {
        if let Some(control) = self.sequence_control() {
            self.write(SEQUENCE_CONTROL, (sequence.value() << 4 | control & 0x000f).to_le_bytes());
        }
    }

    /// Replaces QoS Control, in QoS data.
    pub fn set_qos(&mut self, qos: QosControl) {
        if let Some(offset) = self.qos_offset() {
            self.write(offset, qos.0.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Header;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The view says what the representation says, of every frame that has one.
        #[test]
        fn as_the_header(mut bytes in proptest::collection::vec(any::<u8>(), 0..48)) {
            if let Some(first) = bytes.first_mut() {
                *first &= 0xfc;
            }
            let mpdu = Mpdu::new(&bytes);
            let Ok(header) = Header::parse(&bytes, false) else { return Ok(()) };
            prop_assert_eq!(mpdu.frame_control(), Some(header.fc));
            prop_assert_eq!((mpdu.duration_id(), mpdu.receiver()), (Some(header.duration_id), Some(header.addr1)));
            prop_assert_eq!((mpdu.qos(), mpdu.is_group()), (header.qos, header.addr1.is_group()));
            prop_assert_eq!(mpdu.is_data(), header.fc.frame_type() == FrameType::Data);
            if let Some(sequence) = header.sequence {
                prop_assert_eq!(mpdu.sequence(), Some(Seq::new(sequence)));
                prop_assert_eq!((mpdu.transmitter(), mpdu.address_3()), (header.addr2, header.addr3));
            }
            if header.fc.frame_type() == FrameType::Management {
                prop_assert_eq!(mpdu.management_body(), &bytes[header.header_len..]);
            }
        }

        /// What is set is there afterwards, and nothing else has changed; no length does any harm.
        #[test]
        fn fields_are_set_where_they_are(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
            number: u16,
            flag: bool,
        ) {
            let mut changed = bytes.clone();
            let mut mpdu = Mpdu::new(&mut changed);
            mpdu.set_retry(flag);
            mpdu.set_more_data(flag);
            mpdu.set_power_management(flag);
            mpdu.set_duration_id(number);
            mpdu.set_sequence(Seq::new(number));
            mpdu.set_qos(QosControl(number));
            mpdu.set_address_3(MacAddr::BROADCAST);
            let (before, after) = (Mpdu::new(&bytes), Mpdu::new(&changed));
            prop_assert_eq!(before.kind(), after.kind());
            prop_assert_eq!((before.receiver(), before.transmitter()), (after.receiver(), after.transmitter()));
            if let Some(fc) = after.frame_control().filter(|_| bytes.len() > 1) {
                prop_assert_eq!((fc.more_data(), fc.power_management()), (flag, flag));
            }
            prop_assert_eq!(after.duration_id(), before.duration_id().map(|_| number));
            prop_assert_eq!(after.sequence(), before.sequence().map(|_| Seq::new(number)));
            prop_assert_eq!(after.sequence_control().map(|it| it & 15), before.sequence_control().map(|it| it & 15));
            prop_assert_eq!(after.qos(), before.qos().map(|_| QosControl(number)));
        }
    }

    #[test]
    fn other_protocol_versions_are_of_no_kind() {
        let mpdu = Mpdu::new([0x89u8, 0x01]);
        assert_eq!((mpdu.kind(), mpdu.is_data(), mpdu.frame_control()), (None, false, None));
        assert_eq!(Mpdu::new([0xd4u8]).kind(), Some(FrameKind::Ack));
        assert_eq!(Mpdu::new([0u8; 0]).kind(), None);
    }
}
