//! The access point with a station beside it, on the air.

mod hostile;
mod speed;
mod station;
mod timing;
mod uplink;

use station::Network;
use wire::ieee80211::{Action, Capabilities, Elements};

fn elements_of(frame: &[u8], fixed: usize) -> Capabilities {
    Capabilities::read(Elements::new(&frame[24 + fixed..]))
}

#[test]
fn a_station_joins_and_frames_go_both_ways() {
    let mut network = Network::joined("");
    network.station.retries = 7;
    network.send_down(3, 100);
    network.send_up(&[1, 2, 3], false);
    network.run_ms(20);
    assert_eq!(network.down(), [0, 1, 2]);
    assert_eq!(network.up(), [1, 2, 3]);
    let counters = network.ap.counters();
    assert_eq!((counters.from_wire, counters.to_wire, counters.associations), (3, 3, 1));
}

#[test]
fn frames_that_come_twice_are_handed_on_once() {
    let mut network = Network::joined("");
    network.send_up(&[7], false);
    network.run_ms(5);
    network.send_up_again(&[7], false);
    network.run_ms(5);
    assert_eq!((network.up(), network.ap.counters().duplicates), (vec![7], 1));
}

#[test]
fn agreements_go_both_ways_and_can_be_refused() {
    let mut network = Network::joined("");
    network.ask_agreement();
    network.send_down(40, 500);
    network.run_ms(50);
    network.send_up(&[0, 1, 2], true);
    network.run_ms(10);
    assert_eq!((network.down().len(), network.up()), (40, vec![0, 1, 2]));
    assert!(network.station.heard.iter().any(|heard| heard.2.ampdu == Some(false)), "some were aggregated");

    let mut network = Network::joined("[[ap]]\nframe = \"add_block_ack\"\naction = \"refuse\"\n");
    network.ask_agreement();
    network.run_ms(10);
    let answer = network.actions().into_iter().find_map(|action| match action {
        Action::AddbaResponse(response) => Some(response.status.number()),
        _ => None,
    });
    assert_eq!(answer, Some(37));
    network.send_up(&[1], true);
    network.run_ms(10);
    assert_eq!(network.up(), [1], "real access points answer an A-MPDU without an agreement");
    let mut network = Network::joined("[network]\nstrict_agreements = true\n");
    network.send_up(&[1], true);
    network.run_ms(10);
    assert!(network.up().is_empty(), "a strict one does not");
}

#[test]
fn it_parts_from_the_station_at_a_time_or_with_a_frame() {
    let script = "[[ap]]\nat_ms = 10\naction = \"disassociate\"\nreason = 4\n\
                  [[ap]]\nframe = \"data\"\nnth = 2\naction = \"deauthenticate\"\n";
    let mut network = Network::joined(script);
    network.run_ms(20);
    assert_eq!(network.reasons(), [(0xa0, 4)]);
    let mut network = Network::joined(script);
    network.send_up(&[1, 2], false);
    network.run_ms(5);
    assert_eq!((network.reasons(), network.up()), (vec![(0xc0, 3)], vec![1, 2]));
    // From now on it is a stranger.
    network.send_up(&[3], false);
    network.run_ms(5);
    assert_eq!((network.reasons(), network.up()), (vec![(0xc0, 3), (0xc0, 7)], vec![1, 2]));
}

#[test]
fn a_restart_is_noticed_by_the_next_frame() {
    let mut network = Network::joined("[[ap]]\nat_ms = 1\naction = \"forget\"\n");
    network.run_ms(5);
    assert!(network.reasons().is_empty());
    network.send_up(&[1], false);
    network.send_up(&[2], false);
    network.run_ms(5);
    assert_eq!(network.reasons(), [(0xc0, 7)], "once, not for every frame");
}

#[test]
fn the_network_goes_to_another_channel() {
    let mut network = Network::joined("[[ap]]\nat_ms = 1\naction = \"channel_switch\"\nchannel = 11\ncount = 3\n");
    network.run_ms(300);
    let counts: Vec<_> = network
        .frames(0x80)
        .iter()
        .filter_map(|beacon| elements_of(beacon, 12).channel_switch)
        .map(|switch| (switch.channel, switch.count))
        .collect();
    assert_eq!(counts, [(11, 3), (11, 2), (11, 1)]);
    let before = network.frames(0x80).len();
    network.run_ms(250);
    assert_eq!(network.frames(0x80).len(), before, "the station is still on the old channel");
    network.station.channel = 11;
    network.send_up(&[1], false);
    network.run_ms(250);
    assert_eq!(network.up(), [1]);
    assert_eq!(elements_of(network.frames(0x80).last().unwrap(), 12).channel_switch, None);
}

#[test]
fn beacons_stop_and_probes_are_not_answered() {
    let mut network = Network::joined("[[ap]]\nat_ms = 0\nfor_ms = 1000\naction = \"no_beacons\"\n");
    network.probe("");
    network.run_ms(900);
    assert_eq!((network.frames(0x80).len(), network.frames(0x50).len()), (1, 0), "one before the association");
    network.run_ms(500);
    network.probe("");
    network.run_ms(10);
    assert!(network.frames(0x80).len() >= 3 && network.frames(0x50).len() == 1);
}

#[test]
fn a_hidden_network_answers_who_knows_its_name() {
    let mut network = Network::joined("[network]\nhidden = true\n");
    for name in ["", "other", "txop"] {
        network.probe(name);
        network.run_ms(10);
    }
    assert_eq!(network.frames(0x50).len(), 1);
}

#[test]
fn answers_are_refused_kept_back_cut_and_delayed() {
    let mut network = Network::new(
        "[[ap]]\nframe = \"association\"\ntimes = 1\naction = \"refuse\"\nstatus = 17\n\
         [[ap]]\nframe = \"association\"\nnth = 2\ntimes = 1\naction = \"ignore\"\n\
         [[ap]]\nframe = \"association\"\nnth = 3\ntimes = 1\naction = \"cut\"\nlength = 4\n\
         [[ap]]\nframe = \"association\"\nnth = 4\ntimes = 1\naction = \"no_ack\"\n\
         [[ap]]\nframe = \"association\"\nnth = 5\naction = \"delay\"\nby_us = 30000\n",
    );
    network.authenticate();
    let mut answers = Vec::new();
    for at in 0..5 {
        network.associate();
        network.run_ms(10);
        answers.push(network.frames(0x10).last().cloned());
        assert_eq!(network.station.outcomes.last(), Some(&vec![at != 3]), "acknowledged: {at}");
        network.station.heard.clear();
    }
    let status = |frame: &Option<Vec<u8>>| frame.as_ref().map(|frame| (frame[26], frame.len() > 28));
    assert_eq!(answers.iter().map(status).collect::<Vec<_>>(), [Some((17, true)), None, Some((0, false)), None, None]);
    network.run_ms(25);
    assert_eq!(network.frames(0x10)[0][26], 0, "late, but yes");
}

#[test]
fn who_has_not_authenticated_is_sent_away() {
    let mut network = Network::new("");
    network.run_ms(5);
    network.associate();
    network.run_ms(10);
    assert_eq!(network.reasons(), [(0xc0, 9)]);
    // Data between authentication and association, from a queue of before: no reason to authenticate again.
    network.authenticate();
    network.send_up(&[1], false);
    network.run_ms(5);
    assert_eq!(network.reasons(), [(0xc0, 9), (0xa0, 7)]);
    network.join();
    assert_eq!(network.reasons().len(), 2);
    let mut network = Network::new("[[ap]]\nframe = \"authentication\"\naction = \"refuse\"\nstatus = 13\n");
    network.authenticate();
    assert_eq!(network.frames(0xb0)[0][28], 13);
}

#[test]
fn agreements_are_ended_and_made_again() {
    let mut network = Network::joined("[[ap]]\nat_ms = 50\naction = \"delete_block_ack\"\n");
    network.ask_agreement();
    network.send_down(1, 100);
    network.run_ms(60);
    let ended: Vec<_> = network
        .actions()
        .into_iter()
        .filter_map(|action| match action {
            Action::Delba(end) => Some((end.initiator, end.tid)),
            _ => None,
        })
        .collect();
    assert_eq!(ended, [(true, 0), (false, 0)]);
    let requests =
        |network: &Network| network.actions().iter().filter(|action| matches!(action, Action::AddbaRequest(_))).count();
    assert_eq!(requests(&network), 1);
    network.send_down(1, 100);
    network.run_ms(10);
    assert_eq!(requests(&network), 2);
}

#[test]
fn amsdus_carry_all_frames_in_order_both_ways() {
    let mut network = Network::joined("[network]\namsdu_frames = 4\n");
    network.ask_agreement();
    network.send_down(60, 300);
    network.run_ms(50);
    assert_eq!(network.down(), (0..60).collect::<Vec<_>>());
    let amsdus = network.station.heard.iter().filter(|heard| heard.1[0] == 0x88 && heard.1[24] & 0x80 != 0).count();
    assert!(amsdus >= 10 && network.ap.counters().amsdus_sent == amsdus as u64, "{amsdus}");

    network.send_up_amsdu(&[5, 6, 7]);
    network.run_ms(10);
    assert_eq!((network.up(), network.ap.counters().amsdus_received), (vec![5, 6, 7], 1));

    // Not in A-MPDUs of a station that has not agreed to it.
    let mut network = Network::new("[network]\namsdu_frames = 4\n");
    network.station.agreement = 0x1002;
    network.join();
    network.send_down(1, 300);
    network.run_ms(10);
    network.send_down(60, 300);
    network.run_ms(50);
    assert_eq!((network.down().len(), network.ap.counters().amsdus_sent), (61, 0));
}

#[test]
fn a_network_without_ht_has_no_qos() {
    let mut network = Network::joined("[network]\nht = false\n");
    network.send_down(2, 100);
    network.run_ms(10);
    assert_eq!(network.down(), [0, 1]);
    assert!(network.station.heard.iter().all(|heard| heard.1[0] & 0x8c != 0x88));
}

#[test]
fn shipped_scripts_are_for_this_access_point() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/access-point");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let script = crate::fault::Script::open(&path).unwrap();
        assert!(script.is_about_ap() && script.fault.is_empty(), "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 15, "{seen}");
}
