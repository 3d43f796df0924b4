//! An SDIO bus.

use serde::Serialize;

use super::spread::Spread;

/// What went over an SDIO bus, by the command log of its host controller.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sdio {
    /// Records of the log: commands, and changes of the interrupt line.
    pub records: u64,
    /// Manufacturer and card by its information structure, hexadecimal; `None` when the host's reading of it is not in the log.
    pub card: Option<String>,
    /// Its name, where it is known.
    pub card_name: Option<String>,
    /// Whether commands took their time on the wires, as the controller modelled it; `None`: some did, others did not.
    pub bus_time: Option<bool>,
    /// Clock of the bus at the end, Hz; `None` when the host has set none.
    pub clock_hz: Option<u64>,
    /// Lines of the data bus at the end; `None` when the host has set none.
    pub bus_width: Option<u64>,
    /// Commands, whatever the outcome.
    pub commands: u64,
    /// Commands per second, mean from the first to the last; null of fewer than 3, of fewer than 20 within a second, and within 10 ms. So are all rates here.
    pub commands_per_s: Option<f64>,
    /// CMD52: a register of one byte.
    pub cmd52: u64,
    /// Those that read.
    pub cmd52_reads: u64,
    /// Those that write.
    pub cmd52_writes: u64,
    /// CMD53: several bytes.
    pub cmd53: u64,
    /// Those that read.
    pub cmd53_reads: u64,
    /// Those that write.
    pub cmd53_writes: u64,
    /// Those in block mode.
    pub cmd53_block_mode: u64,
    /// `cmd52` of `cmd52` and `cmd53`.
    pub cmd52_share: Option<f64>,
    /// CMD52 per second.
    pub cmd52_per_s: Option<f64>,
    /// CMD53 per second.
    pub cmd53_per_s: Option<f64>,
    /// Bytes that CMD53 read.
    pub read_bytes: u64,
    /// Bytes that CMD53 wrote.
    pub written_bytes: u64,
    /// Bytes of a CMD53 that read and succeeded.
    pub read_size_bytes: Option<Spread>,
    /// Bytes of a CMD53 that wrote and succeeded.
    pub written_size_bytes: Option<Spread>,
    /// Commands with data that are not all in the log.
    pub cut_commands: u64,
    /// Commands that the card did not answer; the host asks for what an SDIO card does not know while it enumerates.
    pub unanswered: u64,
    /// CMD52 and CMD53 with a response that has an error.
    pub refused: u64,
    /// Commands with data or a response that came to the host with a wrong CRC.
    pub wrong_crc: u64,
    /// CMD52 and CMD53 without an answer, refused, or with a wrong CRC.
    pub failed_transfers: u64,
    /// Those without an answer.
    #[serde(default)] // older documents lack it
    pub unanswered_transfers: Option<u64>,
    /// Commands with a status that the host never fetched.
    pub not_fetched: u64,
    /// From a command to the host's having its status.
    pub took_us: Option<Spread>,
    /// The same of CMD52.
    pub cmd52_took_us: Option<Spread>,
    /// The same of CMD53.
    pub cmd53_took_us: Option<Spread>,
    /// From the status of a command to the next command: the host's time.
    pub turnaround_us: Option<Spread>,
    /// Time with a command under way.
    pub busy_us: Option<f64>,
    /// From the first command to the end of the last.
    pub span_us: Option<f64>,
    /// Times that the card's interrupt line rose.
    pub interrupts: u64,
    /// The same per second.
    pub interrupts_per_s: Option<f64>,
    /// From a rise to the first command that began after it, where the line was still up then.
    pub interrupt_response_us: Option<Spread>,
    /// CMD52 that read Interrupt Pending: how a host without interrupts polls, and how one with them asks which function it is from.
    pub pending_reads: u64,
    /// Those that found nothing.
    pub pending_reads_idle: u64,
    /// Packets of the network; `None` where the log does not show them.
    pub packets: Option<SdioPackets>,
    /// Registers and mailboxes by commands, the most frequent first, 64 at most.
    pub registers: Vec<SdioRegister>,
    /// CMD52 and CMD53 that went elsewhere.
    pub other_commands: u64,
}

/// Packets that CMD53 carried.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SdioPackets {
    /// How they are framed: `htc` (Atheros), `marvell-port` (SD8686).
    pub protocol: String,
    /// Packets to the card.
    pub to_card: u64,
    /// Transfers that carried them, each of one CMD53 or more.
    pub to_card_transfers: u64,
    /// Packets to the host.
    pub to_host: u64,
    /// CMD53 that completed them.
    pub to_host_transfers: u64,
    /// Packets per transfer to the card.
    pub per_transfer_to_card: Option<f64>,
    /// Packets per transfer to the host.
    pub per_transfer_to_host: Option<f64>,
    /// All CMD52 and CMD53 per packet, those without a packet included.
    pub commands_per_packet: Option<f64>,
    /// CMD52 per packet.
    pub cmd52_per_packet: Option<f64>,
}

/// Commands to one register or mailbox.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SdioRegister {
    /// `CMD52` or `CMD53`.
    pub command: String,
    /// `in` (to the host) or `out`.
    pub direction: String,
    /// Function of the card; 0 is the card itself.
    pub function: u32,
    /// Address of the register, or where the mailbox begins, hexadecimal.
    pub address: String,
    /// Its name, where it is known.
    pub name: Option<String>,
    /// Commands.
    pub commands: u64,
    /// Their bytes.
    pub bytes: u64,
}
