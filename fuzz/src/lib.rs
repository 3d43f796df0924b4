//! What several fuzz targets do.

use wire::linktype::LinkType;

/// Decodes a link header of the given kind, and does the PHY arithmetic on what it describes.
pub fn radio(link: LinkType, record: &[u8]) {
    let Ok(radio) = wire::radio::decode(link, record) else { return };
    assert!(radio.header_len <= record.len());
    let band = radio.frequency_mhz.and_then(wire::phy::Band::from_frequency_mhz);
    for length in [0, 14, 1_500, 65_535, 4_194_304, usize::MAX >> 16] {
        let _ = (radio.mode.duration(length, band), radio.mode.data_ns(length));
    }
    let _ = (radio.mode.preamble_ns(), radio.mode.rate_kbps(), radio.mode.nss(), radio.mode.label());
    if let Some(again) = wire::phy::Mode::from_key(radio.mode.key()) {
        assert_eq!(again.key(), radio.mode.key());
    }
    if let Some(length) = radio.l_sig.and_then(|l_sig| l_sig.length) {
        let _ = wire::phy::l_sig_duration_ns(length, &radio.mode);
    }
    if let Some(band) = band {
        let _ = wire::phy::control_response_rate(&radio.mode, None, band);
        let _ = wire::phy::response_gap_ns(band, &radio.mode);
    }
}
