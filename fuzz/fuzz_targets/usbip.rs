//! A host that sends anything to a virtual RTL8188CUS or RTL8188EU: it may be let go of, and nothing else may happen.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vusb::air::{ChannelSettings, Medium};
use vusb::chips::rtl8188cus::{Model, Rtl8188cus, Settings};
use vusb::device::Device;
use vusb::peers::silent::Silent;
use vusb::session::Session;

fuzz_target!(|data: &[u8]| {
    let medium = Medium::new(ChannelSettings::default(), 1, None);
    // The first byte chooses the chip.
    let Some((&choice, data)) = data.split_first() else { return };
    let model = if choice & 1 == 1 { Model::Rtl8188eu } else { Model::Rtl8188cus };
    let mut chip = Rtl8188cus::new(Settings::new(model), medium, Box::new(Silent));
    let mut session = Session::new(&chip, None);
    let mut now_ns = 0;
    // The first byte of each piece says how long it is and how much time goes by.
    let mut rest = data;
    while let Some((&first, after)) = rest.split_first() {
        let (piece, later) = after.split_at(usize::from(first).min(after.len()));
        if session.receive(now_ns, piece).is_err() {
            return;
        }
        now_ns += u64::from(first) * 10_000;
        chip.advance(now_ns);
        session.pump(now_ns, &mut chip);
        session.output().clear();
        rest = later;
    }
});
