//! Handshakes and protected frames of a capture, with a key file before them: the first two bytes say how long that is. What
//! follows are MPDUs, each behind its length in two bytes.
#![no_main]

use std::sync::Arc;

use decrypt::{Keys, Sessions};
use libfuzzer_sys::fuzz_target;
use wire::ieee80211::Header;

fuzz_target!(|bytes: &[u8]| {
    let Some((text, mut rest)) = chunk(bytes) else { return };
    // A passphrase costs milliseconds: only PMKs are tried on frames.
    let keys = if text.windows(3).any(|word| word == b"psk") { None } else { Keys::parse(text).ok() };
    let mut sessions = Sessions::new(Arc::new(keys.unwrap_or_default()));
    while let Some((mpdu, after)) = chunk(rest) {
        rest = after;
        let Ok(header) = Header::parse(mpdu, false) else { continue };
        let body = mpdu.get(header.header_len..).unwrap_or_default();
        if header.fc.protected() {
            let _ = sessions.decrypt(&header, Some(body));
        } else {
            sessions.eapol(&header, body.get(8..).unwrap_or_default());
            sessions.network(header.addr3.unwrap_or_default(), body);
        }
    }
    let counted: u64 = sessions.pairs().map(|pair| pair.counts().protected).sum();
    assert!(counted <= sessions.total().protected);
});

fn chunk(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}
