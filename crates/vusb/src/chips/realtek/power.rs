//! Power save by the firmware (LPS): asked for by a command of the host while associated.
//!
//! rtw88 turns it on (ps.c, rtw_fw_set_pwr_mode). Neither driver of the RTL8188CUS in Linux 6.12 does: rtlwifi/usb.c sets
//! `fwctrl_lps` and `leisure_ps` to false, and rtl8xxxu has nothing of the kind; neither announces SUPPORTS_PS to mac80211, so
//! `iw set power_save on` is refused. What the vendor's firmware does is not known. This one does what IEEE 802.11-2020, 11.2.3
//! asks of a station: it announces power save with a Null frame, listens to beacons, fetches what the TIM says is buffered with
//! PS-Polls, and stays awake for group frames behind a DTIM beacon. Frames of the host go out at once, with the power
//! management bit set.

use serde::Serialize;
use wire::ieee80211::{FrameType, MacAddr, Mpdu, Seq};

use super::memory::Memory;
use crate::chips::station_power::{null, poll, Heard, Listening, NULL};

/// Register of the own address.
pub const MACID: u16 = 0x0610;
/// Register of the address of the network.
pub const BSSID: u16 = 0x0618;
/// Register of the number that the access point has given the station, bits 13:0.
pub const BCN_PSR_RPT: u16 = 0x06a8;

/// What power save has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PowerCounters {
    /// Times that the access point has acknowledged that the chip sleeps.
    pub announced: u64,
    /// Time asleep as far as the access point knows, ns. Listening to beacons counts as sleep.
    pub asleep_ns: u64,
    /// PS-Polls sent.
    pub polls: u64,
    /// Frames of the own network, to the station or to groups, that came while the receiver was off.
    pub missed: u64,
}

/// The state of power save.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct PowerSave {
    /// What the driver has asked for: not 0 is power save.
    mode: u8,
    /// Since when the access point knows that the chip sleeps.
    asleep_since_ns: Option<u64>,
    listening: Listening,
    counters: PowerCounters,
}

impl PowerSave {
    /// What it has done by now.
    pub fn counters(&self, now_ns: u64) -> PowerCounters {
        let asleep_ns = self.asleep_since_ns.map_or(0, |since_ns| now_ns.saturating_sub(since_ns));
        PowerCounters { asleep_ns: self.counters.asleep_ns + asleep_ns, ..self.counters }
    }

    /// Whether the access point knows that the chip sleeps.
    pub const fn is_asleep(&self) -> bool {
        self.asleep_since_ns.is_some()
    }

    /// Power was cut, or there is no network any more.
    pub fn clear(&mut self, now_ns: u64) {
        *self = Self { counters: self.counters(now_ns), ..Self::default() };
    }

    /// The driver asks for a mode. Gives the frame that says so to the access point.
    pub fn ask(&mut self, memory: &Memory, mode: u8) -> Option<Vec<u8>> {
        let changed = (mode != 0) != (self.mode != 0);
        self.mode = mode;
        let (own, network) = addresses(memory);
        // The driver numbers no frame of the firmware's.
        changed.then(|| null(network, own, Seq::default(), mode != 0))
    }

    /// The bits that a frame of the host needs, data or management: it must not say that the chip is awake.
    pub fn mark(&self, mpdu: &mut [u8]) {
        let mut mpdu = Mpdu::new(mpdu);
        let has_bit = mpdu.is_data() || mpdu.frame_type() == Some(FrameType::Management) && !mpdu.is_group();
        if self.asleep_since_ns.is_some() && has_bit && mpdu.kind() != Some(NULL) {
            mpdu.set_power_management(true);
        }
    }

    /// A frame was acknowledged.
    pub fn acknowledged(&mut self, now_ns: u64, mpdu: &[u8]) {
        let mpdu = Mpdu::new(mpdu);
        if mpdu.kind() != Some(NULL) {
            return;
        }
        if !mpdu.power_management() {
            self.counters = self.counters(now_ns);
            (self.asleep_since_ns, self.listening) = (None, Listening::default());
        } else if self.mode != 0 && self.asleep_since_ns.is_none() {
            self.asleep_since_ns = Some(now_ns);
            self.counters.announced += 1;
        }
    }

    /// A frame comes: whether the receiver is on for it, and a frame that it makes the firmware send.
    pub fn hears(&mut self, memory: &Memory, frame: &[u8]) -> (bool, Option<Vec<u8>>) {
        if self.asleep_since_ns.is_none() {
            return (true, None);
        }
        let (own, network) = addresses(memory);
        match self.listening.hears(own, network, memory.u16(BCN_PSR_RPT) & 0x3fff, &Mpdu::new(frame)) {
            Heard::Beacon(for_chip) => (true, for_chip.then(|| self.poll(memory))),
            Heard::On => (true, None),
            heard => {
                self.counters.missed += u64::from(heard == Heard::Missed);
                (false, None)
            }
        }
    }

    /// The receiver has accepted a frame: a frame that it makes the firmware send.
    pub fn accepted(&mut self, memory: &Memory, frame: &[u8]) -> Option<Vec<u8>> {
        let (own, network) = addresses(memory);
        let more = self.listening.accepted(own, network, &Mpdu::new(frame));
        (more && self.asleep_since_ns.is_some()).then(|| self.poll(memory))
    }

    fn poll(&mut self, memory: &Memory) -> Vec<u8> {
        self.listening.polls();
        self.counters.polls += 1;
        let (own, network) = addresses(memory);
        poll(memory.u16(BCN_PSR_RPT), network, own)
    }
}

/// Its own, and that of its network.
fn addresses(memory: &Memory) -> (MacAddr, MacAddr) {
    (MacAddr(memory.array(MACID)), MacAddr(memory.array(BSSID)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::station_power::buffered;

    /// First and second byte of Frame Control.
    const BEACON: u8 = 0x80;
    const NULL: u8 = 0x48;
    const PS_POLL: u8 = 0xa4;
    const TO_DS: u8 = 0x01;
    const POWER_MANAGEMENT: u8 = 0x10;
    const MORE_DATA: u8 = 0x20;
    const BEACON_ELEMENTS: usize = 24 + 12;
    const TIM: u8 = 5;

    const OWN: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const NETWORK: [u8; 6] = [2, 0, 0, 0, 0, 2];

    fn buffered_in(frame: &[u8], aid: u16) -> (bool, bool) {
        buffered(&Mpdu::new(frame), aid)
    }

    fn beacon(control: u8, bitmap: &[u8]) -> Vec<u8> {
        let mut frame = vec![BEACON, 0, 0, 0];
        frame.extend([0xff; 6]);
        frame.extend(NETWORK);
        frame.extend(NETWORK);
        frame.resize(BEACON_ELEMENTS, 0);
        frame.extend([0, 1, b'x', TIM, 3 + bitmap.len() as u8, 0, 1, control]);
        frame.extend(bitmap);
        frame
    }

    fn frame(to: [u8; 6], flags: u8) -> Vec<u8> {
        let mut frame = vec![0x88, 0x02 | flags, 0, 0];
        frame.extend(to);
        frame.extend(NETWORK);
        frame.resize(60, 0);
        frame
    }

    fn asleep() -> (PowerSave, Memory) {
        let (mut power, mut memory) = (PowerSave::default(), Memory::default());
        memory.write(MACID, &OWN);
        memory.write(BSSID, &NETWORK);
        memory.write(BCN_PSR_RPT, &(0xc000u16 | 17).to_le_bytes());
        let announcement = power.ask(&memory, 1).unwrap();
        assert_eq!((announcement[0], announcement[1]), (NULL, TO_DS | POWER_MANAGEMENT));
        assert_eq!(power.ask(&memory, 2), None);
        // Until the access point knows, everything is heard.
        assert_eq!(power.hears(&memory, &frame(OWN, 0)), (true, None));
        power.acknowledged(1_000, &announcement);
        (power, memory)
    }

    #[test]
    fn the_bitmap_of_the_tim() {
        assert_eq!(buffered_in(&beacon(0, &[0]), 17), (false, false));
        assert_eq!(buffered_in(&beacon(1, &[0, 0, 2]), 17), (true, true));
        // The bitmap begins with byte 2.
        assert_eq!(buffered_in(&beacon(2, &[2]), 17), (true, false));
        assert_eq!(buffered_in(&beacon(2, &[2]), 1), (false, false));
        assert_eq!(buffered_in(&beacon(0, &[]), 17), (false, false));
    }

    #[test]
    fn frames_wait_for_beacon_and_poll() {
        let (mut power, memory) = asleep();
        assert_eq!(power.hears(&memory, &frame(OWN, 0)), (false, None));
        assert_eq!(power.hears(&memory, &beacon(0, &[0])), (true, None));
        let (heard, poll) = power.hears(&memory, &beacon(2, &[2]));
        let poll = poll.unwrap();
        assert!(heard);
        assert_eq!((&poll[..4], &poll[4..10], &poll[10..]), (&[PS_POLL, 0, 17, 0xc0][..], &NETWORK[..], &OWN[..]));
        // One frame, and more of them; then the last.
        assert_eq!(power.hears(&memory, &frame(OWN, MORE_DATA)), (true, None));
        assert_eq!(power.accepted(&memory, &frame(OWN, MORE_DATA)), Some(poll));
        assert_eq!(power.hears(&memory, &frame(OWN, 0)), (true, None));
        assert_eq!(power.accepted(&memory, &frame(OWN, 0)), None);
        assert_eq!(power.hears(&memory, &frame(OWN, 0)), (false, None));
        assert_eq!(power.counters(5_000), PowerCounters { announced: 1, asleep_ns: 4_000, polls: 2, missed: 2 });
    }

    #[test]
    fn group_frames_follow_their_beacon() {
        let (mut power, memory) = asleep();
        assert_eq!(power.hears(&memory, &frame([0xff; 6], 0)), (false, None));
        power.hears(&memory, &beacon(1, &[0]));
        assert_eq!(power.hears(&memory, &frame([0xff; 6], MORE_DATA)), (true, None));
        assert_eq!(power.hears(&memory, &frame([0xff; 6], 0)), (true, None));
        assert_eq!(power.hears(&memory, &frame([0xff; 6], 0)), (false, None));
    }

    #[test]
    fn the_host_s_frames_do_not_wake_it() {
        let (mut power, memory) = asleep();
        let mut data = frame(NETWORK, 0);
        power.mark(&mut data);
        assert_eq!(data[1] & POWER_MANAGEMENT, POWER_MANAGEMENT);
        for (to, marked) in [(NETWORK, POWER_MANAGEMENT), ([0xff; 6], 0)] {
            let mut management = frame(to, 0);
            (management[0], management[1]) = (0xd0, 0);
            power.mark(&mut management);
            assert_eq!(management[1], marked, "{to:?}");
        }
        let mut awake = power.ask(&memory, 0).unwrap();
        power.mark(&mut awake);
        assert_eq!(awake[1] & POWER_MANAGEMENT, 0);
        power.acknowledged(3_000, &awake);
        assert_eq!(power.hears(&memory, &frame(OWN, 0)), (true, None));
        assert_eq!(power.counters(9_000).asleep_ns, 2_000);
    }

    proptest::proptest! {
        #[test]
        fn any_frame_is_survived(frames: Vec<Vec<u8>>) {
            let (mut power, memory) = asleep();
            for frame in &frames {
                power.hears(&memory, frame);
                power.accepted(&memory, frame);
                power.acknowledged(1, frame);
                buffered_in(frame, 2_007);
            }
        }
    }
}
