//! What the commands mean, in words.

use crate::conclusion::{counted, figure, thousands};
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
    [Some(commands(sdio)), polling(sdio), errors(sdio), Some(times(sdio)), Some(interrupts(sdio))]
        .into_iter()
        .flatten()
        .collect()
}

fn verdict(code: &str, tone: &str, text: String, evidence: Vec<String>) -> Verdict {
    Verdict { code: code.to_owned(), tone: tone.to_owned(), device: None, text, evidence }
}

/// `, 62/s`, where there is a rate.
fn rate(per_s: Option<f64>) -> String {
    per_s.map_or_else(String::new, |rate| format!(", {}/s", thousands(rate)))
}

/// `12.3 µs (n = 45)`: the median.
fn median(spread: Option<Spread>) -> Option<String> {
    spread.map(|spread| format!("{} µs (n = {})", thousands(spread.median), figure(spread.n)))
}

fn commands(sdio: &Sdio) -> Verdict {
    let io = sdio.cmd52 + sdio.cmd53;
    let cmd52 = match sdio.cmd52_share {
        Some(share) => format!("{:.0} % of them CMD52 ({} of {})", 100.0 * share, figure(sdio.cmd52), figure(io)),
        None => "none of them CMD52 or CMD53".to_owned(),
    };
    let mut evidence = Vec::new();
    for (word, size, commands, bytes) in [
        ("to the card", sdio.written_size_bytes, sdio.cmd53_writes, sdio.written_bytes),
        ("to the host", sdio.read_size_bytes, sdio.cmd53_reads, sdio.read_bytes),
    ] {
        if let Some(size) = size {
            evidence.push(format!(
                "{} CMD53 {word} ({}), {} bytes in the median and {} at most (n = {})",
                figure(commands),
                counted(bytes, "byte"),
                thousands(size.median),
                thousands(size.max),
                figure(size.n)
            ));
        }
    }
    let Some(packets) = &sdio.packets else {
        let text = format!("{}{}, {cmd52}.", counted(sdio.commands, "command"), rate(sdio.commands_per_s));
        return verdict("sdio-commands", "neutral", text, evidence);
    };
    for (word, packets, transfers, each) in [
        ("to the card", packets.to_card, packets.to_card_transfers, packets.per_transfer_to_card),
        ("to the host", packets.to_host, packets.to_host_transfers, packets.per_transfer_to_host),
    ] {
        if let Some(each) = each {
            let (packets, transfers) = (counted(packets, "packet"), counted(transfers, "transfer"));
            evidence.push(format!("{packets} {word} in {transfers}: {each:.1} in each"));
        }
    }
    let total = packets.to_card + packets.to_host;
    let Some(each) = packets.commands_per_packet else {
        let text = format!("{}, {cmd52}, and no packet.", counted(io, "command"));
        return verdict("sdio-commands", "neutral", text, evidence);
    };
    let is_mostly_cmd52 = total >= ENOUGH && sdio.cmd52 * 2 > io;
    let text = format!("{} for {}: {each:.1} for each, {cmd52}.", counted(io, "command"), counted(total, "packet"));
    verdict("sdio-commands-per-packet", if is_mostly_cmd52 { "bad" } else { "neutral" }, text, evidence)
}

/// A host without interrupts asks the card again and again.
fn polling(sdio: &Sdio) -> Option<Verdict> {
    let idle = sdio.pending_reads_idle;
    let polls = sdio.pending_reads >= ENOUGH && idle as f64 >= POLLS * sdio.pending_reads as f64;
    polls.then(|| {
        let text = format!(
            "The host polls for interrupts: {} of {} reads of Interrupt Pending found nothing.",
            figure(idle),
            figure(sdio.pending_reads)
        );
        verdict("sdio-polling", "bad", text, vec![format!("{} rose", counted(sdio.interrupts, "interrupt"))])
    })
}

fn errors(sdio: &Sdio) -> Option<Verdict> {
    (sdio.failed_transfers > 0).then(|| {
        let io = sdio.cmd52 + sdio.cmd53;
        let text = format!(
            "{} of {} CMD52 and CMD53 failed: {} refused, {} with a wrong CRC, the others without an answer.",
            figure(sdio.failed_transfers),
            figure(io),
            figure(sdio.refused),
            figure(sdio.wrong_crc)
        );
        let tone = if sdio.failed_transfers * 1_000 < io { "neutral" } else { "bad" };
        verdict("sdio-errors", tone, text, Vec::new())
    })
}

fn times(sdio: &Sdio) -> Verdict {
    let took = |name: &str, spread| median(spread).map(|median| format!("{name}: {median}"));
    let evidence =
        [took("CMD52", sdio.cmd52_took_us), took("CMD53", sdio.cmd53_took_us)].into_iter().flatten().collect();
    let text = match (median(sdio.took_us), median(sdio.turnaround_us)) {
        (Some(took), Some(turnaround)) => {
            let busy = match (sdio.busy_us, sdio.span_us) {
                (Some(busy), Some(span)) if span > 0.0 => format!(
                    " A command was under way for {:.0} % of the time ({:.1} of {:.1} ms).",
                    100.0 * busy / span,
                    busy / 1_000.0,
                    span / 1_000.0
                ),
                _ => String::new(),
            };
            let answered = match sdio.took_us.filter(|took| took.median < AT_ONCE_US) {
                Some(took) => format!("The controller answers at once (median 0.0 µs, n = {})", figure(took.n)),
                None => format!("A command takes {took} in the median"),
            };
            format!("{answered}, the host takes {turnaround} until the next command.{busy}")
        }
        (Some(took), None) => {
            format!("A command takes {took} in the median; the host's time until the next can't be told.")
        }
        _ => "How long commands take can't be told, because the log has no times of them.".to_owned(),
    };
    verdict("sdio-turnaround", "neutral", text, evidence)
}

fn interrupts(sdio: &Sdio) -> Verdict {
    let text = match (sdio.interrupts, median(sdio.interrupt_response_us)) {
        (0, _) => "The card's interrupt line never rose.".to_owned(),
        (n, None) => format!("{}{}.", counted(n, "interrupt"), rate(sdio.interrupts_per_s)),
        (n, Some(response)) => format!(
            "{}{}: the host's next command comes after {response} in the median.",
            counted(n, "interrupt"),
            rate(sdio.interrupts_per_s)
        ),
    };
    verdict("sdio-interrupts", "neutral", text, Vec::new())
}
