//! NCM and MBIM transfer blocks. The first two bytes say how many bytes the capture cut off.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::usb::ntb;

fuzz_target!(|input: &[u8]| {
    let Some((cut, bytes)) = input.split_first_chunk::<2>() else { return };
    let Some(header) = ntb::Header::parse(bytes) else { return };
    let len = bytes.len() + usize::from(u16::from_le_bytes(*cut));
    let block = ntb::parse(&header, bytes, len);
    assert!(block.datagrams.len() <= bytes.len());
    assert!(block.datagrams.iter().all(|datagram| datagram.offset + datagram.len <= len));
});
