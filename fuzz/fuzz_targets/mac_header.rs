//! MAC headers. The first byte says whether the driver pads them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ieee80211::Header;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, mpdu)) = bytes.split_first() else { return };
    let _ = wire::fcs::check(mpdu);
    if let Ok(header) = Header::parse(mpdu, first & 1 != 0) {
        assert!(header.header_len <= mpdu.len());
        let _ = (header.receiver(), header.transmitter(), header.source(), header.destination(), header.bssid());
        let _ = (header.is_amsdu(), header.bandwidth_signalling(), header.fc.kind());
    }
});
