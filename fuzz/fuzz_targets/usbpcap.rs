//! USBPcap records, and the descriptors that their control transfers carry.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::usb::{descriptors, usbpcap};

fuzz_target!(|record: &[u8]| {
    if let Ok(packet) = usbpcap::Packet::parse(record) {
        let _ = (packet.kind(), packet.stage(), packet.setup(), packet.iso_errors(), packet.function());
        assert!(packet.data().len() <= record.len());
        let _ = (descriptors::Device::parse(packet.data()), descriptors::string(packet.data()));
    }
    if let Some(parts) = descriptors::configuration(record) {
        assert!(parts.count() <= record.len() / 2);
    }
});
