//! Block Acks and their requests, of every variant.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ieee80211::{BlockAck, BlockAckReq, Seq};

fuzz_target!(|body: &[u8]| {
    if let Some(ack) = BlockAck::parse(body) {
        let _ = (ack.window(), ack.acknowledges(Seq::new(body.len() as u16)));
        assert!(ack.records().count() <= body.len());
        let _ = format!("{ack:?}");
    }
    if let Some(request) = BlockAckReq::parse(body) {
        assert!(request.records().count() <= body.len());
    }
});
