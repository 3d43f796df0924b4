//! Data frames: how the body divides, and A-MSDU subframes. The first byte says how much a snap length cut off.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ieee80211::{Amsdu, DataBody, Header};

fuzz_target!(|bytes: &[u8]| {
    let Some((cut, mpdu)) = bytes.split_first() else { return };
    let Ok(header) = Header::parse(mpdu, false) else { return };
    let body = mpdu.get(header.header_len..).unwrap_or_default();
    let air_len = body.len() + usize::from(*cut) * 16;
    if let Some(divided) = DataBody::divide(&header, body, air_len, None) {
        let sum = divided.security_len + divided.mesh_len + divided.amsdu_len + divided.llc_len + divided.payload_len;
        assert_eq!(sum, air_len);
    }
    assert!(Amsdu::new(body, air_len).count() <= body.len());
});
