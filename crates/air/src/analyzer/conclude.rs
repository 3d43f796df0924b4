//! The report of what has been counted.

use hashbrown::HashSet;
use wire::ieee80211::MacAddr;

use super::pair::{busiest, suffering};
use super::{has, Accounts, Options, Running};
use crate::calibrate::Grouping;
use crate::captured_by::CapturedBy;
use crate::happenings::Context;
use crate::hearing::Counted;
use crate::limits::{self, is_limited, limits, untimely, Known};
use crate::link::Link;
use crate::medium::Totals;
use crate::network::Networks;
use crate::report::{self, Report};
use crate::selection::Selection;
use crate::station::{Station, Stations};
use crate::summary::Counts;
use crate::verdict::{Heard, Receiver};
use crate::{access_point, capability, exchange, ghost, multi_user, steadiness, summary, verdict, waterfall};

impl Running {
    pub(super) fn report(
        &mut self,
        options: &Options,
        counts: &Counts,
        networks: &Networks,
        source: &summary::Source,
    ) -> Report {
        self.finish();
        Conclusion::new(self, options, counts, networks, source).report()
    }
}

/// What all sections of a report are made of.
struct Conclusion<'a> {
    running: &'a Running,
    accounts: &'a Accounts,
    options: &'a Options,
    counts: &'a Counts,
    networks: &'a Networks,
    source: &'a summary::Source,
    /// Links of the chosen network, or all, most data first.
    rows: Vec<&'a Link>,
    /// The explained pair.
    pair: Option<(MacAddr, MacAddr)>,
    /// Its directions.
    chosen: Vec<&'a Link>,
    totals: Totals,
    /// The interface that the accounts of the medium are about.
    place: CapturedBy,
    /// MPDUs could be grouped to PPDUs. Where nothing can be aggregated, every MPDU is a PPDU.
    grouped: bool,
    has_mesh: bool,
    ghosts: Vec<ghost::Verdict>,
    ghost_addresses: HashSet<u64>,
    /// Addresses of the chosen network; `None`: all.
    ends: Option<HashSet<u64>>,
    /// Records that are out of order, or in the file twice.
    unordered: Option<report::Limit>,
}

impl<'a> Conclusion<'a> {
    fn new(
        running: &'a Running,
        options: &'a Options,
        counts: &'a Counts,
        networks: &'a Networks,
        source: &'a summary::Source,
    ) -> Self {
        let accounts = &running.accounts;
        let Accounts { stations, links, medium, claims, .. } = accounts;
        let ghosts = ghost::find(stations, counts.fcs_known());
        let ghost_addresses = ghosts.iter().map(|ghost| ghost.address.as_u64()).collect();
        let selection = &options.selection;
        let mut rows: Vec<&Link> =
            links.iter().map(|(_, link)| link).filter(|link| selection.has(link, links)).collect();
        rows.sort_by(|a, b| (b.mpdus, b.frames).cmp(&(a.mpdus, a.frames)).then((a.ta, a.ra).cmp(&(b.ta, b.ra))));
        let totals = medium.totals();
        let pair = options.pair.or_else(|| suffering(&rows, totals.observed_ns)).or_else(|| busiest(&rows));
        let is_of =
            |link: &Link, (a, b): (MacAddr, MacAddr)| (link.ta == a && link.ra == b) || (link.ta == b && link.ra == a);
        let chosen = rows.iter().copied().filter(|link| pair.is_some_and(|pair| is_of(link, pair))).collect();
        Self {
            pair,
            chosen,
            totals,
            place: CapturedBy::new(running.main_interface, counts.interfaces()),
            grouped: running.calibration.grouping != Grouping::None || counts.none_may_aggregate(),
            has_mesh: claims.has_mesh(),
            ghosts,
            ghost_addresses,
            ends: selection.ends(links),
            unordered: unordered(running, counts),
            running,
            accounts,
            options,
            counts,
            networks,
            source,
            rows,
        }
    }

    fn report(self) -> Report {
        let Accounts { stations, links, medium, claims, .. } = self.accounts;
        let Self { counts, source, .. } = self;
        let mut block_acks = self.accounts.flows.report();
        let hearing = self.hearing(&block_acks);
        self.keep_chosen(&mut block_acks);
        let bss = self.networks_shown();
        let (summary, timely) = self.summary(&hearing, &bss);
        let rated = timely && medium.duration_known_share().is_some_and(|share| share > 0.5);
        let waterfalls = self.waterfalls(&hearing, &summary.limits, rated);
        let exchanges = self.exchanges();
        let link_rows: Vec<report::Link> = self
            .rows
            .iter()
            .map(|link| summary::link(link, link.direction(self.is_ap(&link.ta), self.is_ap(&link.ra)), rated))
            .collect();
        let ack_verdicts = self.verdicts(&Judged {
            exchanges: &exchanges,
            flows: &block_acks,
            links: &link_rows,
            hearing: &hearing,
            grouped: self.grouped,
        });
        let is_left_out = |address: u64| self.is_left_out(address);
        let (multi_link_devices, unclear_links) = self.accounts.devices.report(stations, claims, &is_left_out, rated);
        let happenings =
            self.accounts.happenings.report(&Context { claims, links, stations, fcs_known: counts.fcs_known() });
        let mut report = Report {
            format: report::FORMAT,
            version: report::FORMAT_VERSION,
            tool: concat!("txop ", env!("CARGO_PKG_VERSION")).to_owned(),
            origin: source.origin.to_owned(),
            path: source.path.clone(),
            frames: counts.tally.wlan,
            bad_fcs: counts.fcs_bad,
            timing: self.timing(),
            stations: self.stations(rated),
            access_points: self.access_points(),
            links: link_rows,
            multi_link_devices,
            unclear_links,
            ghost_effect: summary::ghost_effect(counts, stations, links, &self.ghosts),
            ghosts: ghost::report(&self.ghosts, stations),
            exchanges,
            block_acks,
            ack_verdicts,
            aggregation: self.aggregation(),
            multi_user: multi_user::multi_user(self.rows.iter().copied()),
            multi_user_ppdus: self.accounts.allocations.report(&|ta| !is_left_out(ta.as_u64())),
            airtime: medium.report(timely, self.options.selection.bssid.is_some()),
            waterfall: waterfalls.first().map(|w| w.steps.clone()).unwrap_or_default(),
            waterfalls,
            capabilities: capability::audit(claims, stations, links, &is_left_out),
            steadiness: self.steadiness(timely, &hearing),
            floods: self.floods(&summary, &happenings),
            happenings,
            contents: Some(self.accounts.contents.report(&counts.tally.named, rated)),
            events: self.accounts.events.report(),
            decryption: source.decryption.clone(),
            traffic: self.accounts.traffic.as_ref().map(|traffic| traffic.report()),
            rate_timeline: stations.rates_over_time(&|address| has(self.ends.as_ref(), address)),
            block_ack_log: self.accounts.block_acks.as_ref().map(|log| log.report()),
            bss,
            hearing,
            summary,
        };
        if !timely && is_limited(&report.summary.limits, "clock-jumps") {
            // By the hardware clock, which is not the capture's.
            report.stations.iter_mut().for_each(|row| (row.first_seen_us, row.last_seen_us) = (None, None));
        }
        summary::cut_rows(&mut report, claims.aps_not_kept);
        report
    }

    fn is_ap(&self, address: &MacAddr) -> bool {
        let Accounts { stations, claims, .. } = self.accounts;
        acts_as_ap(address, stations, self.has_mesh) && claims.kind(*address).is_none_or(|kind| kind == "ap")
    }

    fn is_ghost(&self, address: u64) -> bool {
        self.ghost_addresses.contains(&address)
    }

    /// A ghost, or of another network than the chosen one.
    fn is_left_out(&self, address: u64) -> bool {
        self.is_ghost(address) || !has(self.ends.as_ref(), address)
    }

    /// What the sniffer captured of what was sent.
    fn hearing(&self, flows: &[report::BlockAckFlow]) -> report::Hearing {
        let Accounts { stations, links, claims, listener, .. } = self.accounts;
        let counted = Counted { stations, claims, links, flows, totals: &self.totals, place: self.place };
        let mut hearing = listener.report(&counted, self.pair);
        if let Some(limit) = &self.unordered {
            // It is unknown who answered what.
            hearing.silence_is_evidence = false;
            hearing.doubts = vec![limit.sentence.clone()];
        }
        hearing
    }

    /// Removes flows of other networks than the chosen one.
    fn keep_chosen(&self, flows: &mut Vec<report::BlockAckFlow>) {
        if self.options.selection.bssid.is_some() {
            let chosen: HashSet<(String, String)> =
                self.rows.iter().map(|link| (link.ta.to_string(), link.ra.to_string())).collect();
            flows.retain(|flow| chosen.contains(&(flow.originator.clone(), flow.recipient.clone())));
        }
    }

    /// The rows of networks.
    fn networks_shown(&self) -> Vec<report::Bss> {
        summary::networks(self.networks, &self.accounts.claims, &|address| self.is_ghost(address))
            .into_iter()
            .filter(|row| self.is_chosen(&row.bssid))
            .collect()
    }

    /// Does a row of this network belong into the report?
    fn is_chosen(&self, bssid: &str) -> bool {
        self.options.selection.bssid.is_none_or(|chosen| bssid == chosen.to_string())
    }

    /// The summary, and whether times are good for anything.
    fn summary(&self, hearing: &report::Hearing, bss: &[report::Bss]) -> (report::Summary, bool) {
        let Self { counts, source, running, .. } = *self;
        let Accounts { stations, links, medium, claims, .. } = self.accounts;
        let no_address = stations.table.by_key(&MacAddr::ZERO.as_u64());
        let known = Known {
            addressless: no_address.map_or(0, |station| station.sent.saturating_sub(station.sent_bad)),
            counts,
            source,
            calibration: &running.calibration,
            jumps: running.clock.jumps(),
            main_interface: running.main_interface,
            chosen_mhz: self.options.selection.channel.and(counts.main_channel()),
            claims,
            links,
            stations,
            medium,
            span_ns: self.accounts.listener.span_ns(),
            hearing,
            unordered: self.unordered.as_ref(),
            joint_ppdus: running.lanes.iter().map(|lane| lane.matcher.not_judged).sum(),
            unattributed_acks: self.accounts.unattributed_acks,
        };
        let untimely = untimely(&known);
        let timely = untimely.is_none();
        (summary::build(counts, source, self.selection(bss), limits(&known, untimely)), timely)
    }

    /// What was chosen, for the head of the report. `bss`: the rows of the network.
    fn selection(&self, bss: &[report::Bss]) -> Option<report::Selection> {
        let Self { counts, source, .. } = self;
        let Selection { bssid, channel, interface } = &self.options.selection;
        if bssid.is_none() && channel.is_none() && interface.is_none() {
            return None;
        }
        let frequency_mhz = channel.and_then(|_| counts.main_channel());
        Some(report::Selection {
            bssid: bssid.map(|bssid| bssid.to_string()),
            ssid: bssid.and_then(|_| bss.iter().find_map(|row| row.ssid.clone())),
            bss_frames: bssid.map(|_| self.accounts.bss_frames),
            channel: frequency_mhz.and_then(wire::phy::Band::channel_number),
            frequency_mhz,
            frames: counts.tally.wlan,
            frames_elsewhere: counts.tally.elsewhere.iter().map(|(_, frames)| frames).sum(),
            frames_without_channel: counts.tally.without_channel,
            interface: *interface,
            interface_name: interface
                .and_then(|at| source.interfaces.get(at as usize))
                .filter(|name| !name.is_empty())
                .cloned(),
            records_on_other_interfaces: source.on_other_interfaces,
        })
    }

    /// What stamps mean, and why what the next frame shows of them is not used.
    fn timing(&self) -> report::Timing {
        let why = self.unordered.as_ref().map(|limit| limit.sentence.text().to_owned()).or_else(|| {
            let moved = self.counts.tally.order.moved > 0;
            moved.then(|| "records up to 1 ms apart stay as they stand where others were put in order".to_owned())
        });
        self.running.calibration.report(self.running.clock.jumps(), self.place, why.as_deref())
    }

    /// Where the time of the explained pair went, in both directions.
    fn waterfalls(&self, hearing: &report::Hearing, limits: &[report::Limit], rated: bool) -> Vec<report::Waterfall> {
        let Self { counts, totals, .. } = self;
        let medium = &self.accounts.medium;
        let grounds = waterfall::Grounds {
            grouped: self.grouped,
            stamped: counts.stamped() > 0,
            channels: counts.channels(self.running.main_interface),
            observed_ns: totals.observed_ns,
            unobserved_ns: totals.unobserved_ns,
            hopped_ns: totals.hopped_ns,
            longest_pause_ns: totals.longest_pause_ns,
            management_ns: medium.management_ns(),
            untimed: (medium.untimed(), medium.untimed() + medium.timed()),
            hearing,
            place: self.place,
            limits,
        };
        let mut waterfalls: Vec<report::Waterfall> = match rated {
            true => self.chosen.iter().filter_map(|link| self.waterfall(link, &grounds)).collect(),
            false => Vec::new(),
        };
        // A pair that was asked for comes in the order asked, as does one that loses most; else the direction with more payload comes first.
        let asked = self
            .pair
            .filter(|pair| self.options.pair.is_some() || Some(*pair) != busiest(&self.rows))
            .map(|(ta, _)| ta.to_string());
        waterfalls.sort_by_key(|waterfall| {
            (asked.as_ref().is_some_and(|ta| *ta != waterfall.ta), std::cmp::Reverse(waterfall.payload_bytes))
        });
        waterfalls
    }

    /// Where the time of one direction went.
    fn waterfall(&self, link: &Link, grounds: &waterfall::Grounds<'_>) -> Option<report::Waterfall> {
        let Accounts { stations, links, .. } = self.accounts;
        let reverse = links.by_key(&(link.ra.as_u64(), link.ta.as_u64()));
        let elsewhere = || links.iter().filter(|(_, other)| other.ta == link.ta && other.ra != link.ra);
        let receiver = stations.table.by_key(&link.ra.as_u64());
        let direction = waterfall::Direction {
            name: link.direction(self.is_ap(&link.ta), self.is_ap(&link.ra)),
            link,
            reverse,
            elsewhere_ns: elsewhere().map(|(_, other)| other.spent.total()).sum(),
            elsewhere_mpdus: elsewhere().map(|(_, other)| other.medium_mpdus).sum(),
            receiver_sleeps: receiver.map_or((0, 0), |station| (station.pm_frames, station.sent)),
        };
        waterfall::build(direction, &self.totals, grounds)
    }

    /// PPDUs and their responses, link by link.
    fn exchanges(&self) -> Vec<report::Exchange> {
        let late_after_ns = exchange::late_after_ns(self.running.calibration.spread_ns());
        self.rows
            .iter()
            .filter_map(|link| {
                let stats = link.exchange.as_ref().filter(|stats| stats.ppdus() > 0)?;
                Some(stats.report(link.ta.to_string(), link.ra.to_string(), late_after_ns))
            })
            .collect()
    }

    /// The answers to "not received, or too slow to acknowledge?".
    fn verdicts(&self, judged: &Judged<'_>) -> Vec<report::AckVerdict> {
        let Judged { exchanges, flows, links: link_rows, hearing, grouped } = *judged;
        let Accounts { stations, links, .. } = self.accounts;
        let withheld = self.unordered.clone().or_else(|| limits::heard_twice(self.counts));
        let retries = verdict::RetriesOf::new(link_rows, flows);
        let mut ack_verdicts = verdict::block_ack(flows, &retries, !hearing.doubts.is_empty());
        ack_verdicts.extend(verdict::ack(
            exchanges,
            &retries,
            Heard {
                control_frames: hearing.control_frames,
                acks: hearing.acks,
                all: hearing.silence_is_evidence,
                grouped,
            },
            &|address| Receiver::of(stations, address),
        ));
        if let Some(limit) = withheld {
            ack_verdicts.iter_mut().for_each(|verdict| verdict.withhold(&limit.code, &limit.sentence));
        } else if let Some(limit) = limits::repeated(links) {
            let of_doubled: HashSet<(String, String)> = links
                .iter()
                .map(|(_, link)| link)
                .filter(|link| link.is_doubled())
                .flat_map(|link| [(link.ta, link.ra), (link.ra, link.ta)])
                .map(|(ta, ra)| (ta.to_string(), ra.to_string()))
                .collect();
            ack_verdicts
                .iter_mut()
                .filter(|verdict| of_doubled.contains(&(verdict.originator.clone(), verdict.recipient.clone())))
                .for_each(|verdict| verdict.withhold(&limit.code, &limit.sentence));
        }
        ack_verdicts
    }

    /// The rows of stations, most airtime first.
    fn stations(&self, rated: bool) -> Vec<report::Station> {
        let Accounts { stations, claims, .. } = self.accounts;
        let mut rows: Vec<(u64, &Station)> = stations.table.iter().map(|(a, s)| (*a, s)).collect();
        rows.sort_by(|(a, x), (b, y)| {
            (y.airtime.total(), y.sent, y.received).cmp(&(x.airtime.total(), x.sent, x.received)).then(a.cmp(b))
        });
        rows.retain(|(address, _)| has(self.ends.as_ref(), *address));
        let members = summary::members(self.networks);
        rows.iter()
            .map(|(address, station)| {
                summary::station(
                    MacAddr::from_u64(*address),
                    station,
                    self.is_ghost(*address),
                    claims,
                    &members,
                    self.has_mesh,
                    rated,
                )
            })
            .collect()
    }

    fn access_points(&self) -> Vec<report::AccessPoint> {
        let Accounts { stations, links, claims, .. } = self.accounts;
        let is_left_out = |address: u64| self.is_left_out(address);
        access_point::access_points(claims, stations, links, &is_left_out, self.source.window.is_some())
            .into_iter()
            .filter(|row| self.is_chosen(&row.bssid))
            .collect()
    }

    fn aggregation(&self) -> Vec<report::Aggregation> {
        let of_link = |link: &&'a Link| {
            let link = *link;
            link.aggregates.iter().map(move |(tid, aggregates)| (link, *tid, aggregates))
        };
        self.rows
            .iter()
            .flat_map(of_link)
            .map(|(link, tid, aggregates)| {
                aggregates.report(link.ta.to_string(), link.ra.to_string(), tid, self.grouped)
            })
            .collect()
    }

    fn steadiness(&self, timely: bool, hearing: &report::Hearing) -> Vec<report::Steadiness> {
        self.chosen
            .iter()
            .filter(|link| timely && link.mpdus > 0)
            .filter_map(|link| {
                let direction = link.direction(self.is_ap(&link.ta), self.is_ap(&link.ra));
                steadiness::build(link, direction, &self.accounts.medium, hearing)
            })
            .collect()
    }

    /// Floods that are not among the happenings as attacks.
    fn floods(&self, summary: &report::Summary, happenings: &[report::Happening]) -> Vec<report::Flood> {
        let has_copies = is_limited(&summary.limits, "duplicates");
        self.accounts.floods.report(has_copies, &|kind| {
            let kind = kind.split(' ').next().unwrap_or(kind);
            happenings.iter().any(|found| found.kind == "attack" && found.code.starts_with(kind))
        })
    }
}

/// Why times, and who answered what, are unknown.
fn unordered(running: &Running, counts: &Counts) -> Option<report::Limit> {
    limits::doubled(counts, &running.calibration, &running.accounts.links)
        .or_else(|| limits::disorder(counts))
        .or_else(|| limits::reversed(counts))
        .or_else(|| limits::merged(counts, &running.calibration, running.main_interface))
        .or_else(|| limits::interleaved(&running.calibration))
}

/// What verdicts are drawn from.
#[derive(Clone, Copy)]
struct Judged<'a> {
    exchanges: &'a [report::Exchange],
    flows: &'a [report::BlockAckFlow],
    links: &'a [report::Link],
    hearing: &'a report::Hearing,
    /// MPDUs could be grouped to PPDUs.
    grouped: bool,
}

fn acts_as_ap(address: &MacAddr, stations: &Stations, has_mesh: bool) -> bool {
    stations.table.by_key(&address.as_u64()).is_some_and(|station| station.acts_as_ap(has_mesh))
}
