//! Whatever comes off the air, the access point goes on.

use proptest::prelude::*;

use super::station::{mcs7, Network, OWN};
use crate::air::{Reception, Station, Tuned};
use crate::peers::builtin::ADDRESS;
use crate::peers::Peers;

const SCRIPT: &str = "[network]\namsdu_frames = 4\n\
    [[ap]]\nframe = \"data\"\nnth = 5\ntimes = 9\naction = \"no_ack\"\n\
    [[ap]]\nframe = \"ampdu\"\nnth = 2\naction = \"late_block_ack\"\nby_us = 100\n\
    [[ap]]\nframe = \"add_block_ack\"\nnth = 2\naction = \"delay\"\nby_us = 100\n\
    [[ap]]\nframe = \"association\"\nnth = 3\naction = \"cut\"\nlength = 3\n\
    [[ap]]\nframe = \"data\"\nnth = 30\naction = \"channel_switch\"\nchannel = 1\n";

proptest! {
    #[test]
    fn any_frames_do_no_harm(
        frames in prop::collection::vec(
            (
                prop::sample::select(vec![0x00u8, 0x20, 0x40, 0x84, 0x88, 0x94, 0xa0, 0xa4, 0xb0, 0xc0, 0xc8, 0xd0, 0x08]),
                any::<u8>(),
                prop::collection::vec(any::<u8>(), 0..120),
                prop::option::of(any::<bool>()),
                any::<bool>(),
            ),
            1..60,
        )
    ) {
        let mut network = Network::joined(SCRIPT);
        network.ask_agreement();
        network.send_down(20, 200);
        for (kind, flags, rest, ampdu, own) in frames {
            let mut mpdu = vec![kind, flags, 0, 0];
            if own {
                mpdu.extend(ADDRESS.0);
                mpdu.extend(OWN);
            }
            mpdu.extend(rest);
            let tuned = Tuned::channel(6).unwrap();
            let reception = Reception { mode: mcs7(), ampdu, last: true, tuned, signal_dbm: -45 };
            network.ap.receive(network.now_ns, &mpdu, &reception);
            network.run_ms(1);
        }
        network.run_ms(300);
        prop_assert!(network.ap.queue.len() + network.ap.sleep.len() <= 256);
        prop_assert!(network.ap.next_event().is_some());
    }
}

#[test]
fn a_flood_of_requests_does_not_fill_the_memory() {
    let mut network = Network::joined("");
    let reception =
        Reception { mode: mcs7(), ampdu: None, last: true, tuned: Tuned::channel(6).unwrap(), signal_dbm: -45 };
    let request = [&[0x40, 0, 0, 0][..], &[0xff; 6], &OWN, &[0xff; 6], &[0, 0, 0, 0]].concat();
    for _ in 0..10_000 {
        network.ap.receive(network.now_ns, &request, &reception);
    }
    assert!(network.ap.queue.len() <= 256 && network.ap.counters().dropped > 9_000);
    network.run_ms(2_000);
    assert!(network.ap.queue.len() < 10);
}
