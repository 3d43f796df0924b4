//! What is known of the PHY rate of a mode.

use wire::phy::Mode;

/// The PHY rate of a mode, or else the lowest and the highest that it may have, Mbit/s.
pub fn rates_mbit_s(mode: &Mode) -> (Option<f64>, Option<f64>, Option<f64>) {
    let mbit_s = |kbps| f64::from(kbps) / 1000.0;
    let known = mode.rate_kbps().map(mbit_s);
    let range = mode.rate_range_kbps().filter(|_| known.is_none());
    (known, range.map(|(low, _)| mbit_s(low)), range.map(|(_, high)| mbit_s(high)))
}
