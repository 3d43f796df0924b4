//! Bodies of management frames: fixed fields, elements, RSN, capabilities. Two bytes of Frame Control come first.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ieee80211::{Capabilities, Elements, FrameControl, Management};

fuzz_target!(|bytes: &[u8]| {
    let Some((fc, body)) = bytes.split_first_chunk::<2>() else { return };
    if let Some(management) = Management::parse(FrameControl(u16::from_le_bytes(*fc)), body) {
        let _ = format!("{management:?}");
        if let Some(ssid) = management.capabilities.ssid {
            let _ = ssid.to_string();
        }
    }
    let capabilities = Capabilities::read(Elements::new(body));
    assert!(usize::from(capabilities.elements) <= body.len() / 2);
});
