//! AVS headers, and the PHY arithmetic on what they describe.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::linktype::LinkType;

fuzz_target!(|record: &[u8]| txop_fuzz::radio(LinkType::IEEE802_11_AVS, record));
