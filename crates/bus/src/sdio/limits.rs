//! What a command log cannot show.

use sentence::grouped;

use crate::report::{Limit, Report};

/// Everything that weakens or removes figures of the commands.
pub(crate) fn limits(report: &Report) -> Vec<Limit> {
    let Some(sdio) = &report.sdio else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |code: &str, text: String| found.push(Limit { code: code.to_owned(), text });
    if sdio.bus_time != Some(true) {
        add(
            "sdio-no-bus-time",
            "The log is the controller's: a command takes what the host's drivers and threads take. Time on the wires of \
             the SDIO bus is not in it, or not in all of it."
                .to_owned(),
        );
    }
    if sdio.card.is_none() {
        add(
            "sdio-no-enumeration",
            "The host's reading of the card's information structure is not in the log, so the card is not known: begin \
             the log before the card gets power."
                .to_owned(),
        );
    }
    if sdio.cut_commands > 0 {
        add(
            "sdio-cut",
            format!(
                "The data of {} of {} commands {} not whole in the log.",
                grouped(sdio.cut_commands),
                grouped(sdio.commands),
                if sdio.cut_commands == 1 { "is" } else { "are" }
            ),
        );
    }
    if sdio.packets.is_none() {
        let card = sdio.card_name.as_deref().or(sdio.card.as_deref());
        add(
            "sdio-packets",
            format!("Commands per packet can't be determined, because {}.", why_no_packets(sdio.cut_commands, card)),
        );
    }
    found
}

fn why_no_packets(cut_commands: u64, card: Option<&str>) -> String {
    match card {
        _ if cut_commands > 0 => "the data of some commands are not whole".to_owned(),
        None => "the card is not known".to_owned(),
        Some(card) => format!("packets of this card ({card}) are not read, or its firmware started before the log"),
    }
}
