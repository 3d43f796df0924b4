//! usbmon records, both headers and byte orders, and usbmon's text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::pcap::ByteOrder;
use wire::usb::usbmon::{Packet, LONG_HEADER, SHORT_HEADER};
use wire::usb::usbmon_text;

fuzz_target!(|record: &[u8]| {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for header_len in [SHORT_HEADER, LONG_HEADER] {
            let Ok(packet) = Packet::parse(record, order, header_len) else { continue };
            let _ = (packet.id(), packet.time_us(), packet.setup(), packet.transfer_flags(), packet.iso_errors());
            assert!(packet.data().len() + packet.iso_descriptors().count() * 16 <= record.len());
        }
    }
    let text = String::from_utf8_lossy(record);
    if let Ok(line) = usbmon_text::parse(&text) {
        assert!(line.data().len() <= usbmon_text::DATA_MAX);
    }
});
