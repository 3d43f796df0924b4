//! What the commands mean, in words.

use sentence::{sentence, Figure, Sentence};

use crate::report::{Report, Sdio, Spread, Verdict};

/// Packets and commands below which nothing is concluded from a share.
const ENOUGH: u64 = 20;
/// Share of the reads of Interrupt Pending that find nothing, from which on the host polls.
const POLLS: f64 = 0.5;
/// A controller without time of its own has answered when the host looks.
const AT_ONCE_US: f64 = 0.05;

/// All conclusions about a command log.
pub(crate) fn verdicts(report: &Report) -> Vec<Verdict> {
    let Some(sdio) = &report.sdio else { return Vec::new() };
    let log = if report.summary.window.is_some() { "window" } else { "log" };
    [Some(commands(sdio)), polling(sdio), errors(sdio), Some(times(sdio)), Some(interrupts(sdio, log))]
        .into_iter()
        .flatten()
        .collect()
}

fn verdict(code: &str, tone: &str, text: Sentence, evidence: Vec<Sentence>) -> Verdict {
    Verdict::new(code, tone, None, text, evidence)
}

/// The sentence with `, 62/s` behind it, where there is a rate.
fn with_rate(said: Sentence, per_s: Option<f64>, n: u64) -> Sentence {
    match per_s {
        Some(per_s) => said.and(", ", sentence!("{per_s}/s", per_s = Figure::rounded(per_s, "per second", n))),
        None => said,
    }
}

/// `12.3 µs (n = 45)`: the median.
fn median(spread: Option<Spread>) -> Option<Sentence> {
    let spread = spread?;
    Some(sentence!(
        "{median} µs (n = {n})",
        median = Figure::rounded(spread.median, "µs", spread.n),
        n = Figure::total(spread.n)
    ))
}

/// `35 % of them CMD52 (7 of 20)`.
fn share_of_cmd52(sdio: &Sdio) -> Sentence {
    let io = sdio.cmd52 + sdio.cmd53;
    match sdio.cmd52_share {
        Some(share) => sentence!(
            "{share} of them CMD52 ({cmd52} of {io})",
            share = Figure::share(share, io, 0),
            cmd52 = Figure::count(sdio.cmd52, io),
            io = Figure::total(io)
        ),
        None => {
            sentence!("{none} of them CMD52 or CMD53", none = Figure::said(0.0, "count", sdio.commands, "none"))
        }
    }
}

fn commands(sdio: &Sdio) -> Verdict {
    let io = sdio.cmd52 + sdio.cmd53;
    let mut evidence = Vec::new();
    for (way, size, commands, bytes) in [
        ("to the card", sdio.written_size_bytes, sdio.cmd53_writes, sdio.written_bytes),
        ("to the host", sdio.read_size_bytes, sdio.cmd53_reads, sdio.read_bytes),
    ] {
        if let Some(size) = size {
            evidence.push(sentence!(
                "{commands} CMD53 {way} ({bytes}), {median} bytes in the median and {most} at most (n = {n})",
                commands = Figure::total(commands),
                bytes = Figure::all(bytes, "byte"),
                median = Figure::rounded(size.median, "bytes", size.n),
                most = Figure::rounded(size.max, "bytes", size.n),
                n = Figure::total(size.n);
                way = way
            ));
        }
    }
    let Some(packets) = &sdio.packets else {
        let said = sentence!("{commands}", commands = Figure::all(sdio.commands, "command"));
        let text = with_rate(said, sdio.commands_per_s, sdio.commands).and(", ", share_of_cmd52(sdio));
        return verdict("sdio-commands", "neutral", text.ended(), evidence);
    };
    for (way, packets, transfers, each) in [
        ("to the card", packets.to_card, packets.to_card_transfers, packets.per_transfer_to_card),
        ("to the host", packets.to_host, packets.to_host_transfers, packets.per_transfer_to_host),
    ] {
        if let Some(each) = each {
            evidence.push(sentence!(
                "{packets} {way} in {transfers}: {each} in each",
                packets = Figure::all(packets, "packet"),
                transfers = Figure::all(transfers, "transfer"),
                each = Figure::of(each, "packets/transfer", transfers, 1);
                way = way
            ));
        }
    }
    let total = packets.to_card + packets.to_host;
    let Some(each) = packets.commands_per_packet else {
        let said = sentence!("{commands}", commands = Figure::all(io, "command"));
        let text = said.and(", ", share_of_cmd52(sdio)).with(", and no packet.");
        return verdict("sdio-commands", "neutral", text, evidence);
    };
    let is_mostly_cmd52 = total >= ENOUGH && sdio.cmd52 * 2 > io;
    let said = sentence!(
        "{commands} for {packets}: {each} for each",
        commands = Figure::all(io, "command"),
        packets = Figure::all(total, "packet"),
        each = Figure::of(each, "commands/packet", total, 1)
    );
    let text = said.and(", ", share_of_cmd52(sdio)).ended();
    verdict("sdio-commands-per-packet", if is_mostly_cmd52 { "bad" } else { "neutral" }, text, evidence)
}

/// A host without interrupts asks the card again and again.
fn polling(sdio: &Sdio) -> Option<Verdict> {
    let idle = sdio.pending_reads_idle;
    let polls = sdio.pending_reads >= ENOUGH && idle as f64 >= POLLS * sdio.pending_reads as f64;
    polls.then(|| {
        let text = sentence!(
            "The host polls for interrupts: {idle} of {reads} reads of Interrupt Pending found nothing.",
            idle = Figure::count(idle, sdio.pending_reads),
            reads = Figure::total(sdio.pending_reads)
        );
        let rose = sentence!("{interrupts} rose", interrupts = Figure::all(sdio.interrupts, "interrupt"));
        verdict("sdio-polling", "bad", text, vec![rose])
    })
}

fn errors(sdio: &Sdio) -> Option<Verdict> {
    (sdio.failed_transfers > 0).then(|| {
        let io = sdio.cmd52 + sdio.cmd53;
        let failed = sdio.failed_transfers;
        let unanswered = sdio.unanswered_transfers.unwrap_or(0).min(failed);
        let refused = sdio.refused.min(failed - unanswered);
        let ways = [
            (refused, "refused"),
            (failed - unanswered - refused, "with a wrong CRC"),
            (unanswered, "without an answer"),
        ];
        let said = sentence!(
            "{failed} of {io} CMD52 and CMD53 failed: ",
            failed = Figure::count(failed, io),
            io = Figure::total(io)
        );
        let counted = ways.into_iter().filter(|(count, _)| *count > 0);
        let counted =
            counted.map(|(count, how)| sentence!("{count} {how}", count = Figure::count(count, failed); how = how));
        let text = match counted.reduce(|all, next| all.and(", ", next)) {
            Some(counted) => said.and("", counted).ended(),
            None => said,
        };
        let tone = if sdio.failed_transfers * 1_000 < io { "neutral" } else { "bad" };
        verdict("sdio-errors", tone, text, Vec::new())
    })
}

fn times(sdio: &Sdio) -> Verdict {
    let took = |name: &str, spread| median(spread).map(|median| median.after(&format!("{name}: ")));
    let evidence =
        [took("CMD52", sdio.cmd52_took_us), took("CMD53", sdio.cmd53_took_us)].into_iter().flatten().collect();
    let text = match (median(sdio.took_us), median(sdio.turnaround_us)) {
        (Some(took), Some(turnaround)) => {
            let answered = match sdio.took_us.filter(|took| took.median < AT_ONCE_US) {
                Some(took) => sentence!(
                    "The controller answers at once (median {median} µs, n = {n})",
                    median = Figure::of(took.median, "µs", took.n, 1),
                    n = Figure::total(took.n)
                ),
                None => took.after("A command takes ").with(" in the median"),
            };
            let text = answered.and(", the host takes ", turnaround).with(" in the median until the next command.");
            match busy(sdio) {
                Some(busy) => text.and(" ", busy),
                None => text,
            }
        }
        (Some(took), None) => {
            took.after("A command takes ").with(" in the median; the host's time until the next can't be determined.")
        }
        _ => sentence!(
            "How long commands take can't be determined, because the log has {no} times of them.",
            no = Figure::said(0.0, "count", sdio.commands, "no")
        ),
    };
    verdict("sdio-turnaround", "neutral", text, evidence)
}

/// How much of the time a command was under way.
fn busy(sdio: &Sdio) -> Option<Sentence> {
    let (busy, span) = (sdio.busy_us?, sdio.span_us.filter(|span| *span > 0.0)?);
    Some(sentence!(
        "A command was under way for {share} of the time ({busy} of {span} ms).",
        share = Figure::share(busy / span, sdio.commands, 0),
        busy = Figure::rounded(busy / 1_000.0, "ms", sdio.commands),
        span = Figure::rounded(span / 1_000.0, "ms", sdio.commands)
    ))
}

/// `log`: what the figures are of.
fn interrupts(sdio: &Sdio, log: &str) -> Verdict {
    let counted = |n| with_rate(sentence!("{n}", n = Figure::all(n, "interrupt")), sdio.interrupts_per_s, n);
    let text = match (sdio.interrupts, median(sdio.interrupt_response_us)) {
        (0, _) => sentence!(
            "The card's interrupt line did {not} rise in this {log}.",
            not = Figure::said(0.0, "count", sdio.commands, "not");
            log = log
        ),
        (n, None) => counted(n).ended(),
        (n, Some(response)) => {
            counted(n).and(": the host's next command comes after ", response).with(" in the median.")
        }
    };
    verdict("sdio-interrupts", "neutral", text, Vec::new())
}
