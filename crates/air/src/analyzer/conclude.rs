//! The report of what has been counted.

use hashbrown::HashSet;
use wire::ieee80211::MacAddr;

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
    /// What was chosen, for the head of the report. `bss`: the rows of the network.
    fn selection(
        &self,
        selection: &Selection,
        counts: &Counts,
        source: &summary::Source,
        bss: &[report::Bss],
    ) -> Option<report::Selection> {
        let Selection { bssid, channel, interface } = selection;
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

    pub(super) fn report(
        &mut self,
        options: &Options,
        counts: &Counts,
        networks: &Networks,
        source: &summary::Source,
    ) -> Report {
        self.finish();
        let accounts = &self.accounts;
        let Accounts { stations, links, flows, medium, claims, .. } = accounts;
        let has_mesh = claims.has_mesh();
        let is_ap = |address: &MacAddr| {
            acts_as_ap(address, stations, has_mesh) && claims.kind(*address).is_none_or(|kind| kind == "ap")
        };
        // Where nothing can be aggregated, every MPDU is a PPDU.
        let grouped = self.calibration.grouping != Grouping::None || counts.none_may_aggregate();

        let ghosts = ghost::find(stations, counts.fcs_known());
        let ghost_addresses: HashSet<u64> = ghosts.iter().map(|ghost| ghost.address.as_u64()).collect();
        let is_ghost = |address: u64| ghost_addresses.contains(&address);

        let selection = &options.selection;
        let mut rows: Vec<&Link> =
            links.iter().map(|(_, link)| link).filter(|link| selection.has(link, links)).collect();
        rows.sort_by(|a, b| (b.mpdus, b.frames).cmp(&(a.mpdus, a.frames)).then((a.ta, a.ra).cmp(&(b.ta, b.ra))));
        let totals = medium.totals();
        let pair = options.pair.or_else(|| suffering(&rows, totals.observed_ns)).or_else(|| busiest(&rows));
        let chosen: Vec<&Link> = match pair {
            Some((a, b)) => {
                rows.iter().copied().filter(|l| (l.ta == a && l.ra == b) || (l.ta == b && l.ra == a)).collect()
            }
            None => Vec::new(),
        };
        let mut block_acks = flows.report();
        let place = CapturedBy::new(self.main_interface, counts.interfaces());
        let counted = Counted { stations, claims, links, flows: &block_acks, totals: &totals, place };
        let mut hearing = accounts.listener.report(&counted, pair);
        let unordered = limits::doubled(counts, &self.calibration, links)
            .or_else(|| limits::disorder(counts))
            .or_else(|| limits::reversed(counts))
            .or_else(|| limits::merged(counts, &self.calibration, self.main_interface))
            .or_else(|| limits::interleaved(&self.calibration));
        let why = unordered.as_ref().map(|limit| limit.sentence.text().to_owned()).or_else(|| {
            let moved = counts.tally.order.moved > 0;
            moved.then(|| "records up to 1 ms apart stay as they stand where others were put in order".to_owned())
        });
        if let Some(limit) = &unordered {
            // Who answered what cannot be determined.
            hearing.silence_is_evidence = false;
            hearing.doubts = vec![limit.sentence.clone()];
        }
        let no_address = stations.table.by_key(&MacAddr::ZERO.as_u64());
        let known = Known {
            addressless: no_address.map_or(0, |station| station.sent.saturating_sub(station.sent_bad)),
            counts,
            source,
            calibration: &self.calibration,
            jumps: self.clock.jumps(),
            main_interface: self.main_interface,
            chosen_mhz: selection.channel.and(counts.main_channel()),
            links,
            stations,
            medium,
            span_ns: accounts.listener.span_ns(),
            hearing: &hearing,
            unordered: unordered.as_ref(),
            joint_ppdus: self.lanes.iter().map(|lane| lane.matcher.not_judged).sum(),
            unattributed_acks: accounts.unattributed_acks,
        };
        if selection.bssid.is_some() {
            let chosen: HashSet<(String, String)> =
                rows.iter().map(|link| (link.ta.to_string(), link.ra.to_string())).collect();
            block_acks.retain(|flow| chosen.contains(&(flow.originator.clone(), flow.recipient.clone())));
        }
        let untimely = untimely(&known);
        let timely = untimely.is_none();
        let rated = timely && medium.duration_known_share().is_some_and(|share| share > 0.5);
        let bss = summary::networks(networks, claims, &is_ghost)
            .into_iter()
            .filter(|row| selection.bssid.is_none_or(|chosen| row.bssid == chosen.to_string()))
            .collect::<Vec<_>>();
        let chosen_part = self.selection(selection, counts, source, &bss);
        let summary = summary::build(counts, source, chosen_part, limits(&known, untimely));
        let has_copies = is_limited(&summary.limits, "duplicates");
        let grounds = waterfall::Grounds {
            grouped,
            stamped: counts.stamped() > 0,
            channels: counts.channels(self.main_interface),
            observed_ns: totals.observed_ns,
            unobserved_ns: totals.unobserved_ns,
            hopped_ns: totals.hopped_ns,
            management_ns: medium.management_ns(),
            untimed: (medium.untimed(), medium.untimed() + medium.timed()),
            hearing: &hearing,
            place,
            limits: &summary.limits,
        };
        let mut waterfalls: Vec<report::Waterfall> = match rated {
            true => chosen.iter().filter_map(|link| self.waterfall(link, &is_ap, &totals, &grounds)).collect(),
            false => Vec::new(),
        };
        // A pair that was asked for comes in the order asked, as does one that loses most; else the direction with more payload comes first.
        let asked =
            pair.filter(|pair| options.pair.is_some() || Some(*pair) != busiest(&rows)).map(|(ta, _)| ta.to_string());
        waterfalls.sort_by_key(|waterfall| {
            (asked.as_ref().is_some_and(|ta| *ta != waterfall.ta), std::cmp::Reverse(waterfall.payload_bytes))
        });

        let late_after_ns = exchange::late_after_ns(self.calibration.spread_ns());
        let exchanges: Vec<report::Exchange> = rows
            .iter()
            .filter_map(|link| {
                let stats = link.exchange.as_ref().filter(|stats| stats.ppdus() > 0)?;
                Some(stats.report(link.ta.to_string(), link.ra.to_string(), late_after_ns))
            })
            .collect();
        let link_rows: Vec<report::Link> = rows
            .iter()
            .map(|link| summary::link(link, link.direction(is_ap(&link.ta), is_ap(&link.ra)), rated))
            .collect();
        let ack_verdicts = self.verdicts(
            &Judged { exchanges: &exchanges, flows: &block_acks, links: &link_rows, hearing: &hearing, grouped },
            unordered.or_else(|| limits::heard_twice(counts)),
        );

        let mut station_rows: Vec<(u64, &Station)> = stations.table.iter().map(|(a, s)| (*a, s)).collect();
        station_rows.sort_by(|(a, x), (b, y)| {
            (y.airtime.total(), y.sent, y.received).cmp(&(x.airtime.total(), x.sent, x.received)).then(a.cmp(b))
        });
        let ends = selection.ends(links);
        station_rows.retain(|(address, _)| has(ends.as_ref(), *address));
        let is_left_out = |address: u64| is_ghost(address) || !has(ends.as_ref(), address);
        let members = summary::members(networks);
        let (multi_link_devices, unclear_links) = accounts.devices.report(stations, claims, &is_left_out, rated);

        let fcs_known = counts.fcs_known();
        let happenings = accounts.happenings.report(&Context { claims, links, stations, fcs_known });
        let mut report = Report {
            format: report::FORMAT,
            version: report::FORMAT_VERSION,
            tool: concat!("txop ", env!("CARGO_PKG_VERSION")).to_owned(),
            origin: source.origin.to_owned(),
            path: source.path.clone(),
            frames: counts.tally.wlan,
            bad_fcs: counts.fcs_bad,
            summary,
            timing: self.calibration.report(self.clock.jumps(), place, why.as_deref()),
            stations: station_rows
                .iter()
                .map(|(address, station)| {
                    summary::station(
                        MacAddr::from_u64(*address),
                        station,
                        is_ghost(*address),
                        claims,
                        &members,
                        has_mesh,
                        rated,
                    )
                })
                .collect(),
            bss,
            access_points: access_point::access_points(claims, stations, links, &is_left_out, source.window.is_some())
                .into_iter()
                .filter(|row| selection.bssid.is_none_or(|chosen| row.bssid == chosen.to_string()))
                .collect(),
            links: link_rows,
            multi_link_devices,
            unclear_links,
            ghost_effect: summary::ghost_effect(counts, stations, links, &ghosts),
            ghosts: ghost::report(&ghosts, stations),
            exchanges,
            block_acks,
            ack_verdicts,
            aggregation: rows
                .iter()
                .flat_map(|link| {
                    link.aggregates.iter().map(move |(tid, aggregates)| {
                        aggregates.report(link.ta.to_string(), link.ra.to_string(), *tid, grouped)
                    })
                })
                .collect(),
            multi_user: multi_user::multi_user(rows.iter().copied()),
            multi_user_ppdus: accounts.allocations.report(&|ta| !is_left_out(ta.as_u64())),
            airtime: medium.report(timely, selection.bssid.is_some()),
            waterfall: waterfalls.first().map(|w| w.steps.clone()).unwrap_or_default(),
            waterfalls,
            capabilities: capability::audit(claims, stations, links, &is_left_out),
            steadiness: chosen
                .iter()
                .filter(|link| timely && link.mpdus > 0)
                .filter_map(|link| {
                    let direction = link.direction(is_ap(&link.ta), is_ap(&link.ra));
                    steadiness::build(link, direction, medium, &hearing)
                })
                .collect(),
            floods: accounts.floods.report(has_copies, &|kind| {
                let kind = kind.split(' ').next().unwrap_or(kind);
                happenings.iter().any(|found| found.kind == "attack" && found.code.starts_with(kind))
            }),
            happenings,
            contents: Some(accounts.contents.report(&counts.tally.named, rated)),
            events: accounts.events.report(),
            decryption: source.decryption.clone(),
            traffic: accounts.traffic.as_ref().map(|traffic| traffic.report()),
            rate_timeline: stations.rates_over_time(&|address| has(ends.as_ref(), address)),
            block_ack_log: accounts.block_acks.as_ref().map(|log| log.report()),
            hearing,
        };
        if !timely && is_limited(&report.summary.limits, "clock-jumps") {
            // By the hardware clock, which is not the capture's.
            report.stations.iter_mut().for_each(|row| (row.first_seen_us, row.last_seen_us) = (None, None));
        }
        summary::cut_rows(&mut report, claims.aps_not_kept);
        report
    }

    /// Where the time of one direction went.
    fn waterfall(
        &self,
        link: &Link,
        is_ap: &dyn Fn(&MacAddr) -> bool,
        totals: &Totals,
        grounds: &waterfall::Grounds<'_>,
    ) -> Option<report::Waterfall> {
        let Accounts { stations, links, .. } = &self.accounts;
        let reverse = links.by_key(&(link.ra.as_u64(), link.ta.as_u64()));
        let elsewhere = || links.iter().filter(|(_, other)| other.ta == link.ta && other.ra != link.ra);
        let receiver = stations.table.by_key(&link.ra.as_u64());
        let direction = waterfall::Direction {
            name: link.direction(is_ap(&link.ta), is_ap(&link.ra)),
            link,
            reverse,
            elsewhere_ns: elsewhere().map(|(_, other)| other.spent.total()).sum(),
            elsewhere_mpdus: elsewhere().map(|(_, other)| other.medium_mpdus).sum(),
            receiver_sleeps: receiver.map_or((0, 0), |station| (station.pm_frames, station.sent)),
        };
        waterfall::build(direction, totals, grounds)
    }

    /// The answers to "not received, or too slow to acknowledge?". `withheld`: why none can be given.
    fn verdicts(&self, judged: &Judged<'_>, withheld: Option<report::Limit>) -> Vec<report::AckVerdict> {
        let Judged { exchanges, flows, links: link_rows, hearing, grouped } = *judged;
        let Accounts { stations, links, .. } = &self.accounts;
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

/// Fewest data MPDUs of a link for a sentence about its losses, and the share of retries among them (%) from which it suffers.
const MIN_MPDUS: u64 = 50;
const MUCH_RETRIED: u64 = 10;
/// Share of the observed time, one in so many, that is worth explaining when it is lost to retries.
const WORTH: i64 = 200;

/// The two ends of the link that loses most to retries, where that is worth a word, and clearly more than the link with most payload
/// loses.
fn suffering(rows: &[&Link], observed_ns: i64) -> Option<(MacAddr, MacAddr)> {
    let lost = |link: &Link| (link.airtime.retry, link.retry_bytes);
    let suffers = |link: &&Link| {
        let are_stations = link.ta != link.ra && !link.ra.is_group() && !link.ta.is_group();
        are_stations
            && !link.is_doubled()
            && link.medium_mpdus >= MIN_MPDUS
            && link.timed_mpdus > 0
            && link.mpdu_retries * 100 >= link.mpdus * MUCH_RETRIED
    };
    let most = rows.iter().copied().filter(suffers).max_by_key(|link| (lost(link), link.ta, link.ra))?;
    let is_worth_it = most.airtime.retry.saturating_mul(WORTH) >= observed_ns || most.mpdu_retries * 2 >= most.mpdus;
    let pair = (most.ta, most.ra);
    let busiest_loses = busiest(rows).map_or((0, 0), |(a, b)| {
        let ends = |link: &&&Link| (link.ta, link.ra) == (a, b) || (link.ta, link.ra) == (b, a);
        rows.iter().filter(ends).map(|link| lost(link)).max().unwrap_or_default()
    });
    let is_clear =
        lost(most).0 > 2 * busiest_loses.0 || (most.airtime.retry == 0 && lost(most).1 > 2 * busiest_loses.1);
    (is_worth_it && is_clear).then_some(pair)
}

/// The two ends of the link with most payload.
fn busiest(rows: &[&Link]) -> Option<(MacAddr, MacAddr)> {
    rows.iter()
        .filter(|link| !link.ra.is_group() && link.mpdus > 0)
        .max_by_key(|link| (link.payload_bytes, link.mpdus))
        .map(|link| (link.ta, link.ra))
}
