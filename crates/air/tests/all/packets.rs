//! Packets joined with the MPDUs that carried them: captures made by hand, whose truth is known, and a real one.

use std::io::Cursor;
use std::sync::Arc;

use capture::{Bound, PcapSettings, PcapWriter, Reader, Window};
use decrypt::Keys;
use txop_air::report::{Report, Traffic};
use txop_air::{analyze_reader, Options};
use wire::linktype::LinkType;

const AP: [u8; 6] = [2, 0, 0, 0, 0, 1];
const STATION: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// An open network: an access point sends TCP to a station.
struct Stage {
    writer: PcapWriter<Vec<u8>>,
    at_us: i64,
}

impl Stage {
    fn new() -> Self {
        let settings = PcapSettings::nanos(LinkType::IEEE802_11_RADIOTAP);
        Self { writer: PcapWriter::new(Vec::new(), settings).unwrap(), at_us: 1_000_000 }
    }

    /// Writes a frame at `rate_500kbps`, `gap_us` after the one before.
    fn frame(&mut self, rate_500kbps: u8, gap_us: i64, mpdu: &[u8]) {
        self.at_us += gap_us;
        // TSFT, Flags, Rate, Channel.
        let mut record = vec![0, 0, 22, 0, 0x0f, 0, 0, 0];
        record.extend((self.at_us as u64).to_le_bytes());
        record.extend([0, rate_500kbps]);
        record.extend(2_437u16.to_le_bytes());
        record.extend([0xc0, 0]);
        record.extend(mpdu);
        self.writer.write(self.at_us * 1_000, record.len() as u32, &record).unwrap();
    }

    /// A QoS data frame from the access point to the station.
    fn data(&mut self, sequence: u16, retry: bool, rate_500kbps: u8, packet: &[u8]) {
        let mut mpdu = vec![0x88, 0x02 | u8::from(retry) << 3, 44, 0];
        mpdu.extend([STATION, AP, AP].concat());
        mpdu.extend((sequence << 4).to_le_bytes());
        mpdu.extend([0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
        mpdu.extend(packet);
        self.frame(rate_500kbps, 2_000, &mpdu);
    }

    /// The station acknowledges, a SIFS after a frame that took `air_us`.
    fn ack(&mut self, air_us: i64) {
        let mpdu = [&[0xd4, 0, 0, 0][..], &AP].concat();
        self.frame(48, air_us + 10, &mpdu);
    }

    fn report(self, options: Options) -> Report {
        let reader = Reader::from_read(Cursor::new(self.writer.into_inner())).unwrap();
        analyze_reader(reader, "stage".to_owned(), options, &mut ()).unwrap()
    }

    fn traffic(self) -> Traffic {
        self.report(Options { packets: true, ..Options::default() }).traffic.expect("it was asked for")
    }
}

fn ipv4(protocol: u8, transport: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend((20 + transport.len() as u16).to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    packet.extend(transport);
    packet
}

fn tcp(sequence: u32, payload: usize) -> Vec<u8> {
    let mut segment = vec![0, 80, 0x30, 0x39];
    segment.extend(sequence.to_be_bytes());
    segment.extend([0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    segment.resize(20 + payload, 0x5a);
    ipv4(6, &segment)
}

/// Duration of an OFDM frame of `bytes` with FCS, µs.
fn ofdm_us(bytes: usize, mbit_s: usize) -> i64 {
    (20 + 4 * (16 + 6 + 8 * bytes).div_ceil(4 * mbit_s)) as i64
}

#[test]
fn a_lost_segment_is_its_attempts() {
    let mut stage = Stage::new();
    let air_us = |packet: &[u8]| ofdm_us(26 + 8 + packet.len() + 4, 54);
    let first = tcp(1, 1_000);
    stage.data(1, false, 108, &first);
    stage.ack(air_us(&first) - 20);
    // Seven attempts at falling rates, and none is acknowledged.
    for (attempt, rate) in [108, 108, 96, 72, 48, 48, 48].into_iter().enumerate() {
        stage.data(2, attempt > 0, rate, &tcp(1_001, 1_000));
    }
    let third = tcp(2_001, 500);
    stage.data(3, false, 108, &third);
    stage.ack(air_us(&third) - 20);
    // Again, and acknowledged this time; then again though no receiver needs it.
    let again = tcp(1_001, 1_000);
    stage.data(4, false, 108, &again);
    stage.ack(air_us(&again) - 20);
    stage.data(5, false, 108, &again);

    let traffic = stage.traffic();
    assert_eq!((traffic.packets, traffic.flow_count), (5, 1));
    let flow = &traffic.flows[0];
    assert_eq!((flow.protocol.as_str(), flow.source_port, flow.destination_port), ("TCP", Some(80), Some(12_345)));
    assert_eq!((flow.mpdus, flow.attempts, flow.acknowledged), (5, 11, Some(3)));
    assert_eq!((flow.tcp_segments, flow.tcp_sent_again, flow.tcp_payload_bytes), (Some(5), Some(2), Some(4_500)));
    assert_eq!((flow.tcp_copy_not_acknowledged, flow.tcp_copy_acknowledged), (Some(1), Some(1)));
    let expected: i64 = [(1_000, 54), (1_000, 54), (1_000, 54), (1_000, 48), (1_000, 36), (1_000, 24), (1_000, 24)]
        .into_iter()
        .chain([(1_000, 24), (500, 54), (1_000, 54), (1_000, 54)])
        .map(|(payload, mbit_s)| ofdm_us(26 + 8 + 40 + payload + 4, mbit_s))
        .sum();
    // 2.4 GHz adds the 6 µs of the signal extension to each.
    let airtime = flow.airtime_us.unwrap();
    assert!((airtime - expected as f64).abs() <= 11.0 * 6.0 + 0.1, "{airtime} against {expected}");

    let lost = &traffic.tcp_sent_again[0];
    assert_eq!(
        (lost.tcp_sequence, lost.copy_before.as_str(), lost.mpdu_sequence),
        (1_001, "not-acknowledged", Some(2))
    );
    assert_eq!((lost.attempts, lost.attempts_missed, lost.needless), (Some(7), Some(false), false));
    let rates: Vec<_> = lost.rates.iter().map(|rate| (rate.label.as_str(), rate.attempts)).collect();
    assert_eq!(rates, [("54 Mb/s", 2), ("48 Mb/s", 1), ("36 Mb/s", 1), ("24 Mb/s", 3)]);
    let said = lost.sentence.text();
    assert!(said.contains("7 attempts of MPDU 2 (2 at 54 Mb/s, 1 at 48 Mb/s"), "{said}");
    assert!(said.contains("no acknowledgement was captured"), "{said}");
    assert_eq!(traffic.tcp_sent_again[1].copy_before, "acknowledged");
}

#[test]
fn a_repeated_mpdu_without_the_retry_bit_is_no_new_segment() {
    let mut stage = Stage::new();
    stage.data(1, false, 108, &tcp(1, 1_000));
    stage.data(1, false, 108, &tcp(1, 1_000));
    let flow = &stage.traffic().flows[0];
    assert_eq!((flow.tcp_segments, flow.tcp_sent_again, flow.attempts), (Some(1), Some(0), 2));
}

#[test]
fn a_segment_whose_copy_was_never_seen_is_told_apart() {
    let mut stage = Stage::new();
    for (number, sequence) in [1, 2_001, 1_001].into_iter().enumerate() {
        stage.data(number as u16, false, 108, &tcp(sequence, 1_000));
    }
    let traffic = stage.traffic();
    assert_eq!(traffic.flows[0].tcp_copy_not_captured, Some(1));
    let again = &traffic.tcp_sent_again[0];
    assert_eq!((again.copy_before.as_str(), again.attempts, again.after_us), ("not-captured", None, None));
}

#[test]
fn a_retry_that_others_overtook_is_not_said_to_be_sent_again_by_tcp() {
    let mut stage = Stage::new();
    for (number, retry, sequence) in
        [(0, false, 1), (2, false, 2_001), (1, true, 1_001), (3, false, 4_001), (4, false, 3_001)]
    {
        stage.data(number, retry, 108, &tcp(sequence, 1_000));
    }
    let traffic = stage.traffic();
    let flow = &traffic.flows[0];
    assert_eq!((flow.tcp_copy_not_captured, flow.tcp_not_captured_retries), (Some(2), Some(1)));
    let said: Vec<&str> = traffic.tcp_sent_again.iter().map(|again| again.sentence.text()).collect();
    assert!(said[0].contains("came in an 802.11 retry") && said[1].contains("lost before this hop"), "{said:?}");
    let of_all = traffic.sentences[0].text();
    assert!(
        of_all.contains("2 of 5 TCP segments") && of_all.contains("not captured in 2, of which 1 came in"),
        "{of_all}"
    );
}

#[test]
fn an_attempt_before_the_capture_is_said() {
    let mut stage = Stage::new();
    stage.data(1, true, 108, &tcp(1, 1_000));
    stage.data(2, false, 108, &tcp(1, 1_000));
    let again = &stage.traffic().tcp_sent_again[0];
    assert_eq!((again.attempts, again.attempts_missed), (Some(1), Some(true)));
}

#[test]
fn packets_of_an_amsdu_are_all_looked_at() {
    let mut stage = Stage::new();
    let mut body = Vec::new();
    for sequence in [1, 101] {
        let msdu = [&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0][..], &tcp(sequence, 100)].concat();
        body.extend([STATION, AP].concat());
        body.extend((msdu.len() as u16).to_be_bytes());
        body.extend(msdu);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    let mut mpdu = vec![0x88, 0x02, 44, 0];
    mpdu.extend([STATION, AP, AP].concat());
    mpdu.extend([0x10, 0, 0x80, 0]);
    mpdu.extend(body);
    stage.frame(108, 0, &mpdu);
    let flow = &stage.traffic().flows[0];
    assert_eq!((flow.packets, flow.mpdus, flow.tcp_segments), (2, 1, Some(2)));
}

#[test]
fn dhcp_is_joined_with_its_attempts() {
    let mut stage = Stage::new();
    let mut message = vec![2, 1, 6, 0, 0, 0, 0, 7];
    message.resize(16, 0);
    message.extend([10, 0, 0, 2]);
    message.resize(28, 0);
    message.extend(STATION);
    message.resize(236, 0);
    message.extend([99, 130, 83, 99, 53, 1, 5, 255]);
    let datagram = [&[0, 67, 0, 68, 0, 0, 0, 0][..], &message].concat();
    stage.data(9, false, 108, &ipv4(17, &datagram));
    stage.data(9, true, 48, &ipv4(17, &datagram));
    stage.ack(ofdm_us(26 + 8 + 28 + message.len() + 4, 24) - 20);
    let dhcp = stage.traffic().dhcp;
    assert_eq!((dhcp.len(), dhcp[0].message.as_str(), dhcp[0].transaction.as_str()), (1, "ACK", "00000007"));
    assert_eq!((dhcp[0].address.as_deref(), dhcp[0].attempts, dhcp[0].acknowledged), (Some("10.0.0.2"), 2, Some(true)));
}

#[test]
fn nobody_asked_nobody_looks() {
    let mut stage = Stage::new();
    stage.data(1, false, 108, &tcp(1, 1_000));
    let report = stage.report(Options::default());
    assert!(report.traffic.is_none() && report.decryption.is_none());
}

/// The sample capture of Wireshark with the network "Coherer", where there is one.
fn coherer(line: &str, window: Option<Window>) -> Option<Report> {
    let path = corpus::find("wlan/wireshark_wpa-Induction.pcap.gz")?;
    let keys = Some(Arc::new(Keys::parse(line.as_bytes()).unwrap()));
    let options = Options { keys, window, ..Options::default() };
    let reader = Reader::open(&path, capture::Options::default()).unwrap();
    Some(analyze_reader(reader, "coherer".to_owned(), options, &mut ()).unwrap())
}

#[test]
fn a_window_knows_the_handshake_before_it() {
    let passphrase = "psk Coherer Induction";
    let Some(whole) = coherer(passphrase, None).and_then(|report| report.decryption) else { return };
    let from = |nanoseconds| Some(Bound::SinceFirst(nanoseconds));
    // The handshake is in the sixth second.
    let late = Window { from: from(20_000_000_000), to: None };
    let report = coherer(passphrase, Some(late)).unwrap();
    let decryption = report.decryption.unwrap();
    assert!(decryption.decrypted > 0 && decryption.decrypted < whole.decrypted, "{}", decryption.decrypted);
    let early = coherer(passphrase, Some(Window { from: None, to: from(20_000_000_000) })).unwrap().decryption.unwrap();
    assert_eq!(early.decrypted + decryption.decrypted, whole.decrypted);
    assert_eq!(early.protected + decryption.protected, whole.protected);
    assert!(report.traffic.unwrap().flows.iter().any(|flow| flow.protocol == "TCP"));
}

#[test]
fn what_cannot_be_decrypted_has_its_reason() {
    let state = |line: &str| {
        let decryption = coherer(line, None)?.decryption?;
        let said: Vec<String> = decryption.sentences.iter().map(|said| said.text().to_owned()).collect();
        Some((decryption.pairs[0].state.clone(), decryption.decrypted, said.join("\n")))
    };
    let Some((wrong, decrypted, said)) = state("psk Coherer \"not this one\"") else { return };
    assert_eq!((wrong.as_str(), decrypted), ("wrong-key", 0));
    assert!(said.contains("the MIC did not match") && !said.contains("not this one"), "{said}");
    assert_eq!(state("psk Elsewhere Induction").unwrap().0, "no-key-for-network");
    assert_eq!(state("psk Coherer Induction").unwrap().0, "keys");
}

/// CCMP between pairs, TKIP for groups.
#[test]
fn both_ciphers_of_a_mixed_network_are_decrypted() {
    let Some(report) = coherer("psk Coherer Induction", None) else { return };
    let decryption = report.decryption.unwrap();
    assert_eq!((decryption.decrypted, decryption.protected), (276, 279));
    let group = &decryption.groups[0].mpdus;
    assert_eq!((group.protected, group.decrypted, group.no_key, group.other_key), (76, 73, 3, 0));
}
