//! What a perfect monitor is shown.

use wire::phy::Mode;

use crate::engine::{AccessCategory, Packet, Sink};
use crate::ppdu::{Contents, DataMpdu, Ppdu};
use crate::wlan::link::WlanLink;
use crate::wlan::radio::host;

/// Thermal noise in 20 MHz with a receiver of 6 dB noise figure, dBm.
const NOISE_DBM: i8 = -95;

/// The Duration field: what is reserved after the end of a PPDU, rounded up to µs (9.2.5).
fn duration_us(ns: u64) -> u16 {
    ns.div_ceil(1_000).min(32_767) as u16
}

/// A control frame or beacon as the monitor sees it.
pub(crate) struct Plain {
    pub(crate) span_ns: (u64, u64),
    pub(crate) from: usize,
    pub(crate) to: Option<usize>,
    pub(crate) mode: Mode,
    pub(crate) reserved_ns: u64,
    pub(crate) collided: bool,
}

impl<P: Packet + 'static> WlanLink<P> {
    fn signal_dbm(&self, from: usize, to: Option<usize>) -> i8 {
        let snr_db = match (from, to) {
            (0, Some(station)) => self.snr_down_db.get(station - 1).copied().flatten(),
            (0, None) => self.radios[0].settings.snr_db,
            (station, _) => self.radios[station].settings.snr_db,
        };
        match snr_db {
            Some(snr_db) => (f64::from(NOISE_DBM) + snr_db).clamp(-127.0, 20.0) as i8,
            None if from == 0 => -40,
            None => -45,
        }
    }

    pub(crate) fn show(&self, plain: &Plain, contents: Contents<'_, P>, sink: &mut impl Sink<P>) {
        if !sink.wants_air() {
            return;
        }
        let (start_ns, end_ns) = plain.span_ns;
        sink.air(&Ppdu {
            start_ns,
            end_ns,
            duration_us: duration_us(plain.reserved_ns),
            mode: plain.mode,
            from: host(plain.from),
            to: plain.to.map(host),
            signal_dbm: self.signal_dbm(plain.from, plain.to),
            noise_dbm: NOISE_DBM,
            collided: plain.collided,
            contents,
        });
    }

    pub(crate) fn show_data(
        &self,
        from: usize,
        category: AccessCategory,
        span_ns: (u64, u64),
        collided: bool,
        sink: &mut impl Sink<P>,
    ) {
        if !sink.wants_air() {
            return;
        }
        let own = &self.radios[from];
        let Some(made) = own.lanes[category.priority()].made.front() else { return };
        let peer = &own.peers[made.peer];
        let Some(originator) = &peer.originators[category.priority()] else { return };
        let mpdu = |&sequence: &u16| {
            let mpdu = originator.mpdu(sequence);
            // This transmission is counted already.
            DataMpdu { sequence, retry: mpdu.sent > 1, packet: &mpdu.packet.packet }
        };
        let rate = self.phy.rate(made.chain.rate(made.attempts));
        let plain = Plain {
            span_ns,
            from,
            to: Some(peer.radio),
            mode: rate.mode,
            reserved_ns: rate.gap_ns + self.answer_ns(from, category),
            collided,
        };
        let (many, only);
        let mpdus: &[DataMpdu<'_, P>] = match &made.sequences[..] {
            [sequence] => {
                only = [mpdu(sequence)];
                &only
            }
            sequences => {
                many = sequences.iter().map(mpdu).collect::<Vec<_>>();
                &many
            }
        };
        self.show(&plain, Contents::Data { category, ampdu: made.ampdu, qos: peer.qos, mpdus }, sink);
    }
}
