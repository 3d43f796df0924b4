//! What a sniffer has of PPDUs that overlap.

use random::mix;

use crate::on_air::OnAir;
use crate::settings::Collisions;

/// How much stronger than the others a PPDU must be to be received in spite of them. What decides it in receivers differs with
/// the rate; 10 dB is the usual value of models with one threshold (`CPThresh_` of ns-2).
const CAPTURE_DB: i16 = 10;

/// First byte of a damaged frame: a protocol version, a type and a subtype that do not exist (IEEE Std 802.11-2020, 9.2.4.1).
const NO_KIND: u8 = 0xff;

/// A PPDU that overlaps with others, until these are known.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Party {
    pub(crate) ppdu: OnAir,
    pub(crate) aggregated: bool,
    /// The bytes of each MPDU without FCS, cut perhaps, and its whole length.
    pub(crate) mpdus: Vec<(Vec<u8>, usize)>,
}

/// PPDUs that began in the same slot.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Overlap {
    /// When the slot began.
    pub(crate) begin_ns: u64,
    pub(crate) parties: Vec<Party>,
}

impl Overlap {
    /// The PPDU that the sniffer follows, and whether it is damaged.
    pub(crate) fn followed(&mut self, collisions: Collisions) -> Option<(Party, bool)> {
        let signals = || self.parties.iter().map(|party| i16::from(party.ppdu.signal_dbm));
        let strongest = signals().enumerate().max_by_key(|&(_, dbm)| dbm);
        let captured = strongest.filter(|&(index, dbm)| {
            let mut others = signals().enumerate().filter(|&(other, _)| other != index);
            collisions == Collisions::Strongest && others.all(|(_, other)| dbm - other >= CAPTURE_DB)
        });
        let lasts = |party: &Party| party.ppdu.end_ns.saturating_sub(party.ppdu.start_ns);
        let longest = || self.parties.iter().enumerate().max_by_key(|(_, party)| lasts(party)).map(|(index, _)| index);
        let index = captured.map(|(index, _)| index).or_else(longest)?;
        Some((self.parties.swap_remove(index), captured.is_none()))
    }
}

/// Where the damage of an MPDU begins in the sequence of [`mix`]: it depends on the moment and the place in the PPDU only.
pub(crate) const fn damage_key(start_ns: u64, index: usize) -> u64 {
    mix(mix(start_ns).wrapping_add(index as u64))
}

/// Makes noise of a frame. Its preamble collided as well, and so the receiver's estimate of the channel is wrong for all of it.
/// Its kind becomes one that does not exist, so that no program takes the noise behind it for addresses.
pub(crate) fn damage(frame: &mut [u8], key: u64) {
    for (place, bytes) in (0u64..).zip(frame.chunks_mut(8)) {
        let noise = mix(key.wrapping_add(place)).to_le_bytes();
        bytes.iter_mut().zip(noise).for_each(|(byte, noise)| *byte ^= noise);
    }
    if let Some(first) = frame.first_mut() {
        *first = NO_KIND;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::phy::Mode;

    fn party(signal_dbm: i8, end_ns: u64) -> Party {
        let mode = Mode::from_legacy_rate(12, None).expect("6 Mbit/s");
        let (frequency_mhz, collision_ns) = (5_180, Some(0));
        let ppdu = OnAir { start_ns: 0, end_ns, mode, frequency_mhz, signal_dbm, noise_dbm: -95, collision_ns };
        Party { ppdu, aggregated: false, mpdus: Vec::new() }
    }

    #[test]
    fn who_is_followed() {
        let followed = |collisions, parties: &[(i8, u64)]| {
            let parties = parties.iter().map(|&(dbm, end_ns)| party(dbm, end_ns)).collect();
            let (party, damaged) = Overlap { begin_ns: 0, parties }.followed(collisions).expect("a party");
            (party.ppdu.end_ns, damaged)
        };
        type Case = (&'static [(i8, u64)], (u64, bool), (u64, bool));
        let cases: [Case; 5] = [
            (&[(-50, 1), (-60, 2)], (2, true), (1, false)),
            (&[(-50, 1), (-59, 2)], (2, true), (2, true)),
            (&[(-50, 2), (-50, 1)], (2, true), (2, true)),
            (&[(-40, 1), (-60, 3), (-45, 2)], (3, true), (3, true)),
            (&[(i8::MAX, 1), (i8::MIN, 3)], (3, true), (1, false)),
        ];
        for (parties, damaged, strongest) in cases {
            assert_eq!(followed(Collisions::Damaged, parties), damaged, "{parties:?}");
            assert_eq!(followed(Collisions::Strongest, parties), strongest, "{parties:?}");
        }
        assert!(Overlap { begin_ns: 0, parties: Vec::new() }.followed(Collisions::Damaged).is_none());
    }

    #[test]
    fn nothing_of_a_damaged_frame_is_left() {
        let mut flipped = [0u32; 64];
        for start_ns in 0..1_000 {
            let frame: Vec<u8> = (0..64).collect();
            let mut damaged = frame.clone();
            damage(&mut damaged, damage_key(start_ns, 0));
            assert_eq!(damaged[0], NO_KIND);
            for (count, (before, after)) in flipped.iter_mut().zip(frame.iter().zip(&damaged)) {
                *count += (before ^ after).count_ones();
            }
        }
        // Half of the 8,000 bits of each place.
        assert!(flipped[1..].iter().all(|bits| (3_700..4_300).contains(bits)), "{flipped:?}");
    }
}
