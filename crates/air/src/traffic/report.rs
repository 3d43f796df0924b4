//! The rows and sentences about packets.

use wire::ieee80211::MacAddr;
use wire::ip::Flow;
use wire::phy::Mode;

use super::{Cause, DhcpRow, Fate, FlowRow, Loss, Traffic};
use crate::micros::us;
use crate::report;
use sentence::{sentence, Figure, Sentence};

/// Rows of flows in a report.
const MAX_ROWS: usize = 256;
const TCP: u8 = 6;

impl Traffic {
    /// What is known so far.
    pub fn report(&self) -> report::Traffic {
        let mut rows: Vec<&FlowRow> = self.flows.iter().collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.bytes), row.first_ns));
        report::Traffic {
            packets: self.packets,
            packets_left_out: self.packets_left_out,
            flows: rows.iter().take(MAX_ROWS).map(|row| row.report()).collect(),
            flow_count: self.flows.len() as u64,
            mpdus_left_out: self.lanes.refused(),
            tcp_sent_again: self.losses.iter().filter_map(|loss| self.loss(loss)).collect(),
            tcp_sent_again_left_out: self.losses_left_out,
            dhcp: self.dhcp.iter().map(DhcpRow::report).collect(),
            dhcp_left_out: self.dhcp_left_out,
            sentences: rows
                .iter()
                .filter(|row| row.sent_again() > 0)
                .take(MAX_ROWS)
                .filter_map(|row| row.sentence())
                .collect(),
        }
    }

    fn loss(&self, loss: &Loss) -> Option<report::TcpSentAgain> {
        let row = self.flows.get(loss.flow as usize)?;
        let (source, destination) = ends(&row.key.flow?);
        let fate = loss.copy.and_then(|(_, fate)| fate);
        let after_ns = loss.copy.map(|(sent_ns, _)| loss.at_ns.saturating_sub(sent_ns));
        let rates: Vec<report::RateAttempts> = fate.map(rates).unwrap_or_default();
        Some(report::TcpSentAgain {
            record: loss.number,
            at_us: us(loss.at_ns),
            ta: row.key.ta.to_string(),
            ra: row.key.ra.to_string(),
            tcp_sequence: loss.segment.sequence,
            payload_bytes: loss.segment.payload_len,
            copy_before: match loss.cause {
                Cause::NotAcknowledged => "not-acknowledged",
                Cause::Acknowledged => "acknowledged",
                Cause::NotCaptured => "not-captured",
            }
            .to_owned(),
            needless: loss.was_received,
            after_us: after_ns.map(us),
            mpdu_sequence: fate.map(|fate| fate.sequence),
            attempts: fate.map(|fate| u32::from(fate.attempts)),
            attempts_missed: fate.map(|fate| fate.begins_with_retry),
            attempts_span_us: fate.zip(loss.copy).map(|(fate, (sent_ns, _))| us(fate.last_ns.saturating_sub(sent_ns))),
            sentence: words(loss, fate, after_ns, &rates, &source, &destination),
            rates,
            source,
            destination,
        })
    }
}

/// "Sent again ... after ...: the copy before it was seven attempts at ...".
fn words(
    loss: &Loss,
    fate: Option<Fate>,
    after_ns: Option<i64>,
    rates: &[report::RateAttempts],
    source: &str,
    destination: &str,
) -> Sentence {
    let bytes = Figure::sized(loss.segment.payload_len.into());
    let Some((fate, after_ns)) = fate.zip(after_ns) else {
        let said = sentence!(
            "TCP segment {sequence} ({bytes}) from {source} to {destination}: {none} copies of it are known before \
             record {record}, though later bytes are",
            bytes = bytes,
            none = Figure::count(0, 1);
            sequence = loss.segment.sequence,
            source = source,
            destination = destination,
            record = loss.number
        );
        return said.with(if loss.is_retry {
            "; it came in an 802.11 retry: most likely others overtook it while it was repeated"
        } else {
            "; it was overtaken or lost before this hop, or not captured"
        });
    };
    let at: Vec<String> = rates.iter().map(|rate| format!("{} at {}", rate.attempts, rate.label)).collect();
    let said = sentence!(
        "TCP segment {sequence} ({bytes}) from {source} to {destination}, retransmitted in record {record} after {after} ms: \
         the copy before it was {attempts} {noun} of MPDU {mpdu} ({at}){missed}, {acknowledged}",
        bytes = bytes,
        after = Figure::of(after_ns as f64 / 1e6, "ms", 1, 1),
        attempts = Figure::total(u64::from(fate.attempts));
        sequence = loss.segment.sequence,
        source = source,
        destination = destination,
        record = loss.number,
        noun = if fate.attempts == 1 { "attempt" } else { "attempts" },
        mpdu = fate.sequence,
        at = at.join(", "),
        missed = if fate.begins_with_retry { " and others before that were not captured" } else { "" },
        acknowledged = if fate.acknowledged { "and was acknowledged" } else { "and no acknowledgement was captured" }
    );
    if !loss.was_received {
        return said;
    }
    said.and("; ", sentence!("{peer} TCP acknowledgement of it was captured before", peer = Figure::count(1, 1)))
}

fn rates(fate: Fate) -> Vec<report::RateAttempts> {
    let known = fate.rates.into_iter().filter(|rate| rate.attempts > 0);
    known
        .map(|rate| report::RateAttempts {
            label: Mode::from_key(rate.mode).unwrap_or_default().label(),
            attempts: u32::from(rate.attempts),
        })
        .collect()
}

/// Source and destination as text, with ports.
fn ends(flow: &Flow) -> (String, String) {
    let end = |address: std::net::IpAddr, port: u16| std::net::SocketAddr::new(address, port).to_string();
    (end(flow.source, flow.ports.0), end(flow.destination, flow.ports.1))
}

fn protocol(flow: Option<&Flow>) -> String {
    match flow.map(|flow| flow.protocol) {
        None => "ARP".to_owned(),
        Some(1) => "ICMP".to_owned(),
        Some(TCP) => "TCP".to_owned(),
        Some(17) => "UDP".to_owned(),
        Some(58) => "ICMPv6".to_owned(),
        Some(other) => format!("IP protocol {other}"),
    }
}

/// `None` for group addresses, which are not acknowledged.
fn if_acknowledged<T>(ra: MacAddr, value: T) -> Option<T> {
    (!ra.is_group()).then_some(value)
}

impl FlowRow {
    fn report(&self) -> report::PacketFlow {
        let flow = self.key.flow.as_ref();
        let ports = flow.map(|flow| flow.ports).filter(|ports| *ports != (0, 0));
        let tcp = |value: u64| self.direction.is_some().then_some(value);
        report::PacketFlow {
            ta: self.key.ta.to_string(),
            ra: self.key.ra.to_string(),
            protocol: protocol(flow),
            source: flow.map(|flow| flow.source.to_string()),
            source_port: ports.map(|(port, _)| port),
            destination: flow.map(|flow| flow.destination.to_string()),
            destination_port: ports.map(|(_, port)| port),
            first_us: us(self.first_ns),
            last_us: us(self.last_ns),
            packets: self.packets,
            bytes: self.bytes,
            mpdus: self.mpdus,
            attempts: self.attempts,
            acknowledged: if_acknowledged(self.key.ra, self.acknowledged),
            airtime_us: (self.timed > 0).then(|| us(self.airtime_ns)),
            tcp_payload_bytes: tcp(self.payload_bytes),
            tcp_segments: tcp(self.segments),
            tcp_sent_again: tcp(self.sent_again()),
            tcp_copy_not_acknowledged: tcp(self.not_acknowledged),
            tcp_copy_acknowledged: tcp(self.acknowledged_before),
            tcp_copy_not_captured: tcp(self.not_captured),
            tcp_not_captured_retries: tcp(self.not_captured_retries),
            tcp_needless: tcp(self.was_received),
            tcp_keep_alives: tcp(self.keep_alives),
            tcp_missing_bytes: self.direction.as_ref().map(|direction| direction.missing()),
        }
    }

    fn sentence(&self) -> Option<Sentence> {
        let (source, destination) = ends(self.key.flow.as_ref()?);
        let again = self.sent_again();
        Some(sentence!(
            "{source} to {destination}, from {ta} to {ra}: {again} of {segments} TCP segments came behind later ones or again; the \
             copy before was captured without an acknowledgement of its MPDU in {lost}, acknowledged in {acknowledged}, and \
             not captured in {unseen}, of which {retries} came in 802.11 retries (most likely overtaken while they were repeated)",
            again = Figure::count(again, self.segments),
            segments = Figure::total(self.segments),
            lost = Figure::counted(self.not_acknowledged, again, "case"),
            acknowledged = Figure::count(self.acknowledged_before, again),
            unseen = Figure::count(self.not_captured, again),
            retries = Figure::count(self.not_captured_retries, self.not_captured);
            source = source,
            destination = destination,
            ta = self.key.ta,
            ra = self.key.ra
        ))
    }
}

impl DhcpRow {
    fn report(&self) -> report::DhcpMessage {
        let name = self.message.name().map_or_else(|| format!("type {}", self.message.kind), str::to_owned);
        report::DhcpMessage {
            record: self.number,
            at_us: us(self.at_ns),
            ta: self.ta.to_string(),
            ra: self.ra.to_string(),
            message: name,
            transaction: format!("{:08x}", self.message.transaction),
            client: self.message.client.to_string(),
            address: self.message.address.map(|address| address.to_string()),
            attempts: self.attempts,
            acknowledged: if_acknowledged(self.ra, self.acknowledged),
        }
    }
}
