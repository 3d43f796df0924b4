//! The air of a link, as its PPDUs are shown to a sink.

mod beacon;
mod frame;
mod network;

use std::io::Write;

use capture::WriteError;
use link::engine::Packet;
use link::ppdu::{Contents, Ppdu};

use crate::air::AirRecorder;
use crate::on_air::OnAir;
use crate::settings::{CaptureSettings, CaptureStatus};
use beacon::beacon;
use frame::DataFrame;
pub use network::{address, Network};

/// Writes the PPDUs of a link.
pub struct AirCapture<W> {
    recorder: AirRecorder<W>,
    network: Network,
    beacons: u16,
}

impl<W: Write> AirCapture<W> {
    /// Begins the file.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn new(inner: W, network: Network, settings: &CaptureSettings) -> Result<Self, WriteError> {
        Ok(Self { recorder: AirRecorder::new(inner, settings)?, network, beacons: 0 })
    }

    /// Writes a PPDU, see [`AirRecorder::take`]. Errors are reported by [`Self::finish`].
    pub fn take<P: Packet>(&mut self, ppdu: &Ppdu<'_, P>) {
        let on_air = OnAir {
            start_ns: ppdu.start_ns,
            end_ns: ppdu.end_ns,
            mode: ppdu.mode,
            frequency_mhz: self.network.frequency_mhz(),
            signal_dbm: ppdu.signal_dbm,
            noise_dbm: ppdu.noise_dbm,
            // Those who collide begin together.
            collision_ns: ppdu.collided.then_some(ppdu.start_ns),
        };
        match ppdu.contents {
            Contents::Data { category, ampdu, qos, mpdus } => {
                self.recorder.take(&on_air, mpdus.len(), ampdu, |index, limit, out| match mpdus.get(index) {
                    Some(mpdu) => frame::data(ppdu, DataFrame { category, qos, limit }, mpdu, out),
                    None => 0,
                });
            }
            Contents::Beacon => {
                self.beacons = (self.beacons + 1) % 4_096;
                let (network, sequence, tsf_us) = (&self.network, self.beacons, self.recorder.tsf_us(&on_air));
                self.recorder.take(&on_air, 1, false, |_, _, out| {
                    let start = out.len();
                    beacon(network, tsf_us, sequence, out);
                    out.len() - start
                });
            }
            _ => self.recorder.take(&on_air, 1, false, |_, _, out| {
                let start = out.len();
                frame::control(ppdu, out);
                out.len() - start
            }),
        }
    }

    /// Hands over what is buffered, for those who follow the file.
    pub fn flush(&mut self) {
        self.recorder.flush();
    }

    /// Ends the file, and gives back what it was written to.
    pub fn finish(self) -> (W, CaptureStatus) {
        self.recorder.finish()
    }
}
