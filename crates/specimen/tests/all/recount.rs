//! The truth against a second, simple reading of the bytes, which shares no code with the crate.

use std::collections::{BTreeMap, HashMap};

use txop_specimen::{write, AmpduReference, Container, Output, Scene, StampMeaning, Truth, PRESETS};

/// A record with what this test needs of it.
struct Frame {
    time_ns: u64,
    tsft_us: Option<u64>,
    flagged: bool,
    reference: Option<u32>,
    mac: Vec<u8>,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Reads nanosecond pcap with radiotap headers.
fn frames(file: &[u8]) -> Vec<Frame> {
    assert_eq!((u32_at(file, 0), u32_at(file, 20)), (0xa1b2_3c4d, 127));
    let (mut at, mut out) = (24, Vec::new());
    while at < file.len() {
        let time_ns = u64::from(u32_at(file, at)) * 1_000_000_000 + u64::from(u32_at(file, at + 4));
        let record = &file[at + 16..at + 16 + u32_at(file, at + 8) as usize];
        at += 16 + record.len();
        let present = u32_at(record, 4);
        let mut field = 8;
        let mut tsft_us = None;
        if present & 1 != 0 {
            tsft_us = Some(u64::from(u32_at(record, 8)) | u64::from(u32_at(record, 12)) << 32);
            field += 8;
        }
        let flags = record[field];
        field += 1 + usize::from(present & 4 != 0);
        field = field.next_multiple_of(2) + 4 + 3;
        field += if present & 1 << 19 != 0 { 3 } else { 0 };
        field = field.next_multiple_of(4);
        let reference = (present & 1 << 20 != 0).then(|| u32_at(record, field));
        let mac = record[usize::from(u16_at(record, 2))..].to_vec();
        out.push(Frame { time_ns, tsft_us, flagged: flags & 0x40 != 0, reference, mac });
    }
    out
}

/// CRC-32 of IEEE 802.3, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

impl Frame {
    fn kind(&self) -> u8 {
        self.mac[0] & 0xfc
    }
    fn is_data(&self) -> bool {
        self.mac[0] & 0x4c == 0x08
    }
    fn retry(&self) -> bool {
        self.mac[1] & 8 != 0
    }
    fn address(&self, at: usize) -> String {
        self.mac[at..at + 6].iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":")
    }
    fn bad(&self) -> bool {
        let (body, fcs) = self.mac.split_at(self.mac.len() - 4);
        self.flagged || crc(body) != u32_at(fcs, 0)
    }
    fn seq(&self) -> u16 {
        u16_at(&self.mac, 22) >> 4
    }
}

fn scene(name: &str, seconds: f64) -> Scene {
    let mut scene = Scene::preset(name).unwrap_or_else(|| panic!("no preset {name}"));
    scene.seconds = seconds;
    scene
}

fn play(scene: &Scene) -> (Vec<u8>, Truth) {
    let mut file = Vec::new();
    let truth = write(scene, &mut file).unwrap_or_else(|error| panic!("{error}"));
    (file, truth)
}

#[test]
fn the_same_scene_gives_the_same_bytes() {
    let first = play(&scene("ghosts", 0.5));
    assert!(first == play(&scene("ghosts", 0.5)));
    assert!(first.0 != play(&Scene { seed: 2, ..scene("ghosts", 0.5) }).0);
}

#[test]
fn the_sniffer_does_not_change_the_air() {
    let healthy = play(&scene("healthy", 0.5)).1;
    for name in ["ghosts", "deaf-sniffer", "no-tsft", "snapped", "hopping", "prism", "pcapng"] {
        let other = play(&scene(name, 0.5)).1;
        assert_eq!(healthy.airtime, other.airtime, "{name}");
        assert_eq!(other.frames + other.not_captured, healthy.frames, "{name}");
    }
}

#[test]
fn every_preset_plays_and_its_sums_agree() {
    for (name, _) in PRESETS {
        let mut scene = scene(name, 0.6);
        if *name == "dropout" {
            scene.flows[0].silent = vec![(0.2, 0.4)];
        }
        let (file, truth) = play(&scene);
        assert!(file.len() > 10_000 && truth.frames > 100, "{name}");
        let air = &truth.airtime;
        assert_eq!(air.busy_ns + air.idle_ns, air.observed_ns, "{name}");
        assert_eq!(truth.stations.iter().map(|s| s.airtime_ns).sum::<u64>(), air.busy_ns, "{name}");
        assert_eq!(air.by_phy.iter().map(|row| row.airtime_ns).sum::<u64>(), air.busy_ns, "{name}");
        assert_eq!(
            air.by_phy.iter().map(|p| p.ppdus).sum::<u64>(),
            truth.stations.iter().map(|s| s.ppdus).sum::<u64>()
        );
        for row in &truth.aggregation {
            assert_eq!(row.mpdus_per_ppdu.iter().sum::<u64>(), row.ppdus, "{name}");
            let mpdus: u64 = row.mpdus_per_ppdu.iter().zip(1..).map(|(count, size)| count * size).sum();
            assert_eq!(mpdus, row.mpdus, "{name}");
        }
        for flow in &truth.block_acks {
            assert_eq!(flow.left_out, flow.left_out_received + flow.left_out_not_received, "{name}");
            let fates =
                flow.left_out_late + flow.left_out_resent_acked + flow.left_out_resent_lost + flow.left_out_abandoned;
            assert_eq!(flow.left_out, fates, "{name}");
            assert!(flow.mpdus + flow.retransmissions >= flow.transmissions, "{name}");
        }
        for pair in &truth.exchanges {
            let answers = pair.acked + pair.block_acked + pair.cts;
            assert_eq!(pair.ppdus, answers + pair.answer_not_captured + pair.not_answered, "{name}");
        }
    }
}

#[test]
fn the_knobs_do_what_they_say() {
    let late = play(&scene("late-block-ack", 1.0)).1.block_acks.remove(0);
    let healthy = play(&scene("healthy", 1.0)).1.block_acks.remove(0);
    assert_eq!(healthy.left_out_received, 0);
    assert!(
        late.left_out_received > 200 && late.left_out_late > 100 && late.needless_retransmissions > 100,
        "{late:?}"
    );
    assert!(late.by_position_from_end[0].left_out * 10 > late.by_position_from_end[0].mpdus * 9);
    let lossy = play(&scene("lossy", 1.0)).1.block_acks.remove(0);
    assert!(lossy.left_out_received == 0 && lossy.left_out * 100 / lossy.transmissions > 15, "{lossy:?}");
    assert!(lossy.left_out_late == 0, "what was not received is not acknowledged without being sent again");
    let by_rate = play(&scene("ack-by-rate", 1.0)).1;
    for row in &by_rate.exchanges[0].by_rate {
        assert_eq!(row.answered > 0, row.label == "HT20 MCS2" || row.label.starts_with("1 Mb/s"), "{row:?}");
    }
    assert!(play(&scene("no-memory", 1.0)).1.block_acks[0].stale_bits < healthy.stale_bits);
    assert!(play(&scene("full-history", 1.0)).1.block_acks[0].stale_bits > healthy.stale_bits * 3);
    assert!(play(&scene("late-responses", 1.0)).1.exchanges[0].late_responses > 20);
    assert!(play(&scene("deaf-sniffer", 1.0)).1.block_acks[0].acked_not_captured > 50);
    assert!(play(&scene("upload", 1.0)).1.exchanges.iter().any(|pair| pair.cts > 100));
    assert!(play(&scene("power-save", 1.0)).1.stations[1].power_management_frames > 0);
}

#[test]
fn stations_and_ghosts_recounted() {
    for name in ["healthy", "late-and-lossy", "ghosts", "silent-damage", "upload", "legacy", "power-save"] {
        let (file, truth) = play(&scene(name, 0.6));
        let frames = frames(&file);
        assert_eq!(frames.len() as u64, truth.frames);
        assert_eq!(frames.iter().filter(|f| f.bad()).count() as u64, truth.bad_fcs, "{name}");
        #[derive(Default)]
        struct Row {
            sent: u64,
            received: u64,
            retries: u64,
            data: u64,
            mpdus: (u64, u64),
            bad: u64,
        }
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for frame in &frames {
            rows.entry(frame.address(4)).or_default().received += 1;
            if frame.mac.len() == 14 {
                continue;
            }
            let row = rows.entry(frame.address(10)).or_default();
            row.sent += 1;
            row.retries += u64::from(frame.retry());
            row.data += u64::from(frame.is_data());
            row.bad += u64::from(frame.bad());
            if frame.is_data() && !frame.bad() {
                row.mpdus.0 += 1;
                row.mpdus.1 += u64::from(frame.retry());
            }
        }
        for station in &truth.stations {
            let row = rows.remove(&station.address).unwrap_or_default();
            assert_eq!(
                (row.sent, row.received, row.retries, row.data, row.bad, row.mpdus),
                (
                    station.frames_sent,
                    station.frames_received,
                    station.retries_sent,
                    station.data_frames_sent,
                    station.bad_fcs_sent,
                    (station.mpdu_retry.frames, station.mpdu_retry.retries)
                ),
                "{name} {}",
                station.address
            );
        }
        rows.remove("ff:ff:ff:ff:ff:ff");
        let ghosts: BTreeMap<_, _> =
            truth.ghosts.iter().map(|g| (g.address.clone(), (g.frames_sent, g.frames_received))).collect();
        let seen: BTreeMap<_, _> = rows.into_iter().map(|(address, row)| (address, (row.sent, row.received))).collect();
        assert_eq!(seen, ghosts, "{name}");
        assert_eq!(truth.ghosts.is_empty(), truth.damaged == 0, "{name}");
        assert!(truth.ghosts.iter().all(|g| (1..=3).contains(&g.distance)));
    }
}

#[test]
fn block_acks_recounted() {
    for name in ["healthy", "late-block-ack", "late-and-lossy", "full-history", "no-memory", "upload"] {
        let (file, truth) = play(&scene(name, 1.5));
        for flow in &truth.block_acks {
            // Sequence number -> (left out and not sent again, acknowledged).
            let mut state: HashMap<u16, (bool, bool)> = HashMap::new();
            let mut ppdu: (Option<u32>, Vec<u16>) = (None, Vec::new());
            let (mut acks, mut new, mut stale, mut left_out, mut late) = (0, 0, 0, 0, 0);
            let (mut sent, mut retries) = (0, 0);
            for frame in frames(&file) {
                // QoS data in an A-MPDU (EAPOL frames are not).
                if frame.is_data() && frame.reference.is_some() && frame.address(10) == flow.originator {
                    if frame.address(4) != flow.recipient {
                        continue;
                    }
                    sent += 1;
                    retries += u64::from(frame.retry());
                    if ppdu.0 != frame.reference {
                        ppdu = (frame.reference, Vec::new());
                    }
                    ppdu.1.push(frame.seq());
                    let entry = state.entry(frame.seq()).or_default();
                    if !frame.retry() {
                        *entry = (false, false);
                    }
                    entry.0 = false;
                } else if frame.kind() == 0x84 {
                    ppdu.1.clear();
                } else if frame.kind() == 0x94 && frame.address(10) == flow.recipient {
                    acks += 1;
                    let ssn = u16_at(&frame.mac, 18) >> 4;
                    let set = |seq: u16| {
                        let offset = usize::from((seq + 4096 - ssn) % 4096);
                        offset < 64 && frame.mac[20 + offset / 8] >> (offset % 8) & 1 == 1
                    };
                    let before: Vec<bool> = ppdu.1.iter().map(|seq| state[seq].1).collect();
                    for seq in (0..64).map(|n| (ssn + n) % 4096).filter(|seq| set(*seq)) {
                        let Some(entry) = state.get_mut(&seq) else { continue };
                        new += u64::from(!entry.1);
                        stale += u64::from(entry.1);
                        late += u64::from(!entry.1 && entry.0);
                        *entry = (false, true);
                    }
                    for (seq, acked) in ppdu.1.drain(..).zip(before) {
                        if !acked && !set(seq) {
                            left_out += 1;
                            state.entry(seq).or_default().0 = true;
                        }
                    }
                }
            }
            assert_eq!(
                (sent, retries, acks, new, stale, left_out, late),
                (
                    flow.transmissions,
                    flow.retransmissions,
                    flow.block_acks,
                    flow.newly_acked,
                    flow.stale_bits,
                    flow.left_out,
                    flow.left_out_late
                ),
                "{name} {} to {}",
                flow.originator,
                flow.recipient
            );
            assert!(new > 50, "{name}");
        }
    }
}

#[test]
fn nothing_overlaps_and_responses_keep_sifs() {
    for name in ["healthy", "legacy", "upload", "ack-by-rate", "vht", "he"] {
        let mut scene = scene(name, 0.6);
        scene.sniffer.stamp = StampMeaning::PpduStart;
        scene.sniffer.ampdu_reference = AmpduReference::PpduId;
        let (file, truth) = play(&scene);
        let frames = frames(&file);
        // The capture clock shows the end of the PPDU, plus 20 us; the TSF counter its start.
        let zero = frames[0].tsft_us.unwrap_or(0);
        let first_end = frames[0].time_ns;
        let mut ppdus: Vec<(i64, i64, u8)> = Vec::new();
        let mut last_reference = None;
        for frame in &frames {
            if frame.reference.is_some() && frame.reference == last_reference {
                continue;
            }
            last_reference = frame.reference;
            let start_us = frame.tsft_us.unwrap_or(0) as i64 - zero as i64;
            ppdus.push((start_us * 1000, frame.time_ns as i64 - first_end as i64, frame.kind()));
        }
        // Duration of the first one: what makes the busy time come out; it is the same offset for all.
        let sum: i64 = ppdus.iter().map(|(start, end, _)| end - start).sum();
        let offset = (truth.airtime.busy_ns as i64 - sum) / ppdus.len() as i64;
        let sifs = if scene.frequency_mhz < 3000 { 10_000 } else { 16_000 };
        for pair in ppdus.windows(2) {
            let gap = pair[1].0 - (pair[0].1 + offset);
            let response = matches!(pair[1].2, 0xd4 | 0xc4 | 0x94);
            assert!(gap >= sifs - 2_000, "{name}: {gap} ns");
            assert!(!response || gap <= 18_000, "{name}: response after {gap} ns");
        }
        // 226 bytes at 1 Mb/s, or 6 Mb/s.
        assert!((200_000..3_000_000).contains(&offset), "{name}: {offset}");
    }
}

#[test]
fn scenes_that_contradict_themselves_are_refused() {
    let mut bad = [(); 6].map(|()| Scene::default());
    bad[0].seconds = f64::NAN;
    bad[1].frequency_mhz = 2413;
    bad[2].flows[0].to = txop_specimen::Node::Station(9);
    bad[3].flows[0].from = txop_specimen::Node::Station(1);
    bad[4].flows[0].rates = txop_specimen::Rates::fixed(txop_specimen::legacy(108));
    bad[5].flows[1].offered = txop_specimen::Offered::TcpAcksOf(7);
    for (index, scene) in bad.iter().enumerate() {
        let error = write(scene, std::io::sink()).err().unwrap_or_else(|| panic!("{index} was played"));
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{index}");
    }
}

#[test]
fn a_long_scene_wraps_sequence_numbers() {
    let mut scene = scene("late-and-lossy", 4.0);
    scene.output = Output { container: Container::PcapNanos, ..scene.output };
    let truth = play(&scene).1;
    assert!(truth.block_acks[0].mpdus > 2 * 4096, "{}", truth.block_acks[0].mpdus);
}
