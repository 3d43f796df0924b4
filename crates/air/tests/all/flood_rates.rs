//! How often floods and attacks are found in captures that have them, and in captures that have none: each kind in captures made
//! at random, beside a network with traffic.

use crate::handmade::{element, Address, Handmade, BROADCAST};

const AP: Address = [2, 0, 0, 0, 0, 1];

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `least` on, below `end`.
    fn within(&mut self, least: u64, end: u64) -> u64 {
        least + self.next() % (end - least)
    }

    fn address(&mut self, is_group: bool) -> Address {
        let b = self.next().to_le_bytes();
        [b[0] & 0xfc | 0x02 | u8::from(is_group), b[1], b[2], b[3], b[4], b[5]]
    }
}

fn station(number: u64) -> Address {
    [2, 0, 0, 0, 9, number as u8]
}

/// A slice of a network's life: a beacon, data of its stations and their ACKs, now and then a station that joins or leaves.
fn life(capture: &mut Handmade, random: &mut Random) {
    capture.beacon(AP, 0x0011, &[element(0, b"lab"), element(3, &[6])].concat());
    for _ in 0..random.within(1, 6) {
        let who = station(random.within(1, 9));
        capture.uplink(who, AP, &[0x5a; 40]);
        capture.frame(0x00d4, [who, who, who], &[]);
        if random.within(0, 2) == 0 {
            capture.frame(0x0208, [who, AP, AP], &[0x5a; 40]);
        }
    }
    let who = station(random.within(1, 9));
    match random.within(0, 40) {
        0 => capture.frame(0x00c0, [AP, who, AP], &[3, 0]),
        1 => capture.frame(0x00c0, [who, AP, AP], &[4, 0]),
        2 => {
            capture.frame(0x00b0, [AP, who, AP], &[0, 0, 1, 0, 0, 0]);
            capture.frame(0x00b0, [who, AP, AP], &[0, 0, 2, 0, 0, 0]);
            capture.frame(0x0000, [AP, who, AP], &[0x11, 0, 10, 0]);
            capture.frame(0x0010, [who, AP, AP], &[0x11, 0, 0, 0, 1, 0xc0]);
        }
        // A scan.
        3 => {
            (0..3).for_each(|_| capture.frame(0x0040, [BROADCAST, random.address(false), BROADCAST], &element(0, b"")))
        }
        4 => capture.frame(0x0010, [who, AP, AP], &[0x11, 0, 17, 0, 1, 0xc0]),
        _ => {}
    }
}

/// Puts one frame of the kind into a capture.
fn attack(kind: &str, capture: &mut Handmade, random: &mut Random, victim: Address) {
    match kind {
        "beacon-flood" => {
            let is_group = random.within(0, 2) == 0;
            let from = random.address(is_group);
            let name = random.next().to_le_bytes();
            let body = [[0; 8].as_slice(), &[100, 0, 1, 0], &element(0, &name)].concat();
            capture.frame(0x0080, [BROADCAST, from, from], &body);
        }
        "deauthentication-flood" => capture.frame(0x00c0, [victim, AP, AP], &[7, 0]),
        "disassociation-flood" => capture.frame(0x00a0, [BROADCAST, AP, AP], &[8, 0]),
        "authentication-flood" => {
            capture.frame(0x00b0, [AP, random.address(false), AP], &[0, 0, 1, 0, 0, 0]);
        }
        "association-flood" => capture.frame(0x0000, [AP, random.address(false), AP], &[0x11, 0, 10, 0]),
        "own-addressee" => capture.frame(0x00c0, [AP, AP, AP], &[7, 0]),
        _ => {
            let from = random.address(true);
            capture.frame(0x00b0, [AP, from, AP], &[0, 0, 1, 0, 0, 0]);
        }
    }
}

const KINDS: [&str; 7] = [
    "beacon-flood",
    "deauthentication-flood",
    "disassociation-flood",
    "authentication-flood",
    "association-flood",
    "own-addressee",
    "group-sources",
];

/// A capture with so many frames of the kind, one or several between two slices of life.
fn made(kind: Option<&str>, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let mut capture = Handmade::on(2_437);
    let victim = station(random.within(1, 9));
    let (frames, at_once) = (random.within(60, 200), random.within(1, 12));
    let mut left = if kind.is_some() { frames } else { 0 };
    for slice in 0..120 {
        life(&mut capture, &mut random);
        for _ in 0..if slice < 10 { 0 } else { left.min(at_once) } {
            attack(kind.unwrap_or_default(), &mut capture, &mut random, victim);
            left -= 1;
        }
    }
    let attacks = capture.report().happenings.into_iter().filter(|happening| happening.kind == "attack");
    attacks.map(|happening| happening.code).collect()
}

/// At least 95 % of the captures that have the kind, at most 1 % of twice as many that have none.
fn check(captures: u64) {
    for kind in KINDS {
        let found = (0..captures).filter(|seed| made(Some(kind), *seed).iter().any(|code| code == kind)).count() as u64;
        println!("{kind}: found in {found} of {captures}");
        assert!(found * 100 >= captures * 95, "{kind} is found in {found} of {captures}");
    }
    let wrong: Vec<Vec<String>> =
        (0..2 * captures).map(|seed| made(None, 1_000 + seed)).filter(|codes| !codes.is_empty()).collect();
    println!("without an attack: named in {} of {}", wrong.len(), 2 * captures);
    assert!(wrong.len() as u64 * 100 <= 2 * captures, "{wrong:?}");
}

#[test]
fn each_kind_is_found_and_none_where_there_is_none() {
    check(5);
}

#[test]
#[ignore = "slow: 900 captures"]
fn each_kind_is_found_in_many_captures() {
    check(100);
}
