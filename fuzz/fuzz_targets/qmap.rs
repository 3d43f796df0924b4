//! Chains of QMAP packets, of RNDIS messages and of Realtek descriptors. The first two bytes say how many bytes the
//! capture cut off.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::usb::qmap::{Checksums, Walk, HEADER};
use wire::usb::{realtek, rndis};

fuzz_target!(|input: &[u8]| {
    let Some((cut, bytes)) = input.split_first_chunk::<2>() else { return };
    let len = bytes.len() + usize::from(u16::from_le_bytes(*cut));
    for checksums in [Checksums::None, Checksums::Before, Checksums::Behind] {
        let mut end = 0;
        for item in Walk::new(bytes, len, checksums).flatten() {
            assert!(item.offset >= end && item.payload.len() <= item.payload_len);
            end = item.offset + HEADER;
        }
        assert!(end <= len);
    }
    assert!(rndis::Walk::new(bytes, len).count() <= len / rndis::HEADER + 1);
    assert!(realtek::RxWalk::new(bytes, len).count() <= len / realtek::RX_DESCRIPTOR + 1);
    let _ = realtek::tx_frame_len(bytes, len);
});
