//! What is a matter of time: Block Acks that fail, and a station that sleeps.

use super::elements_of;
use super::station::{management, plain, Network, OWN};
use crate::peers::builtin::ADDRESS;

#[test]
fn a_block_ack_that_is_kept_back_makes_the_station_send_again() {
    let mut network = Network::joined("[[ap]]\nframe = \"ampdu\"\nnth = 2\ntimes = 1\naction = \"no_block_ack\"\n");
    network.ask_agreement();
    for (numbers, acknowledged) in [([0, 1, 2], true), ([3, 4, 5], false)] {
        network.send_up(&numbers, true);
        network.run_ms(5);
        assert_eq!(network.station.outcomes.last(), Some(&vec![acknowledged; 3]));
    }
    network.send_up_again(&[3, 4, 5], true);
    network.run_ms(5);
    assert_eq!(network.station.outcomes.last(), Some(&vec![true; 3]));
    assert_eq!(network.up(), [0, 1, 2, 3, 4, 5], "each once");
    let counters = network.ap.counters();
    assert_eq!((counters.duplicates, counters.block_acks_withheld), (3, 1));
}

#[test]
fn a_block_ack_that_is_late_comes_as_a_frame_of_its_own() {
    let mut network =
        Network::joined("[[ap]]\nframe = \"ampdu\"\ntimes = 1\naction = \"late_block_ack\"\nby_us = 2000\n");
    network.ask_agreement();
    network.send_up(&[0, 1, 2], true);
    network.run_ms(1);
    assert_eq!(network.station.outcomes.last(), Some(&vec![false; 3]));
    assert!(network.frames(0x94).is_empty());
    network.run_ms(5);
    let late = network.frames(0x94);
    assert_eq!(late.len(), 1);
    assert_eq!((&late[0][4..10], late[0][18..28].to_vec()), (&OWN[..], vec![0, 0, 7, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(network.up(), [0, 1, 2]);
}

#[test]
fn a_gap_is_waited_for_until_the_station_says_that_it_stays() {
    let mut network = Network::joined("");
    network.ask_agreement();
    network.send_up(&[1, 2], true);
    network.run_ms(5);
    assert!(network.up().is_empty());
    // A Block Ack request that starts behind the gap.
    let request = [&[0x84, 0, 0, 0][..], &ADDRESS.0, &OWN, &[0x04, 0, 0x10, 0]].concat();
    network.station.outbox.push(plain(request));
    network.run_ms(5);
    assert_eq!(network.up(), [1, 2]);
    // Without one: 100 ms.
    network.send_up(&[4], true);
    network.run_ms(90);
    assert_eq!(network.up(), [1, 2]);
    network.run_ms(20);
    assert_eq!(network.up(), [1, 2, 4]);
}

#[test]
fn what_is_given_up_is_followed_by_a_block_ack_request() {
    let mut network = Network::joined("");
    network.send_down(1, 100);
    network.run_ms(10);
    network.station.deaf = true;
    network.send_down(1, 100);
    while network.ap.counters().given_up == 0 {
        network.run_ms(1);
    }
    network.station.deaf = false;
    network.send_down(1, 100);
    network.run_ms(40);
    assert_eq!(network.down(), [0, 2]);
    // The frames had the numbers 1 to 3.
    let requests = network.frames(0x84);
    assert_eq!((requests.len(), &requests[0][16..20]), (1, &[0x04, 0, 0x30, 0][..]));
}

fn tims(network: &Network) -> Vec<(u8, bool, bool)> {
    let tim = |beacon: &Vec<u8>| elements_of(beacon, 12).tim.unwrap();
    network.frames(0x80).iter().map(tim).map(|tim| (tim.dtim_count, tim.group_traffic, tim.any_station)).collect()
}

#[test]
fn frames_are_kept_for_a_station_that_sleeps() {
    let mut network = Network::joined("");
    network.station.heard.clear();
    // Null data with the power management bit.
    let mut null = super::station::data_up(1, 0x10);
    null.truncate(26);
    null[0] = 0xc8;
    network.station.outbox.push(plain(null.clone()));
    network.run_ms(5);
    network.send_down(2, 100);
    network.wire_down([0xff; 6], 1, 100);
    network.run_ms(80);
    assert!(network.down().is_empty());
    network.run_ms(210);
    assert_eq!(network.down(), [2], "the group frame follows a beacon");
    let tims = tims(&network);
    assert!(tims.iter().all(|(count, group, station)| *station && (*count == 0 || !group)), "{tims:?}");
    assert_eq!(tims.iter().filter(|(_, group, _)| *group).count(), 1, "{tims:?}");

    let poll = [&[0xa4, 0x10, 0x01, 0xc0][..], &ADDRESS.0, &OWN].concat();
    network.station.outbox.push(plain(poll));
    network.run_ms(5);
    assert_eq!(network.down(), [2, 0]);
    let polled = network.frames(0x88);
    assert_eq!(polled[0][1] & 0x20, 0x20, "there is more");

    null[1] = 0x01;
    null[22] = 0x20;
    network.station.outbox.push(plain(null));
    network.run_ms(5);
    assert_eq!(network.down(), [2, 0, 1]);
    let counters = network.ap.counters();
    assert_eq!((counters.sleeps, counters.ps_polls, counters.given_up), (1, 1, 0));
    network.station.heard.clear();
    network.run_ms(250);
    assert!(super::timing::tims(&network).iter().all(|(_, group, station)| !group && !station));
}

#[test]
fn management_frames_to_the_access_point_say_whether_the_station_sleeps() {
    let mut network = Network::joined("");
    let action = |flags, sequence, to: &[u8; 6]| {
        let mut action = management(0xd0, &[127, 0]);
        action[1] = flags;
        action[4..10].copy_from_slice(to);
        action[22] = sequence;
        plain(action)
    };
    network.station.outbox.push(action(0x10, 0x10, &ADDRESS.0));
    network.run_ms(5);
    network.station.outbox.push(action(0, 0x20, &[0xff; 6]));
    network.run_ms(5);
    network.send_down(1, 100);
    network.run_ms(5);
    assert_eq!((network.down(), network.ap.counters().sleeps), (vec![], 1));
    network.station.outbox.push(action(0, 0x30, &ADDRESS.0));
    network.run_ms(5);
    assert_eq!(network.down(), [0]);
}

#[test]
fn what_cannot_be_acknowledged_is_sent_again() {
    let mut network = Network::joined("[[ap]]\nframe = \"data\"\ntimes = 2\naction = \"no_ack\"\n");
    network.send_up(&[1, 2], false);
    network.run_ms(5);
    let outcomes = network.station.outcomes.len();
    assert_eq!(network.station.outcomes[outcomes - 2..], [vec![false], vec![false]]);
    network.send_up_again(&[1, 2], false);
    network.run_ms(5);
    assert_eq!(network.up(), [1, 2]);
}
