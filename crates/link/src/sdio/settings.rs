//! What an SDIO link is made of: the settings, their ranges, and the message about a wrong one.

use serde::{Deserialize, Serialize};

use crate::checked::{in_range, ScenarioError};

/// An SDIO WLAN link, whole. Every key may be left out and then has the value that [`Default`] gives; an unknown key is
/// refused. The defaults are a Neo FreeRunner (S3C2442 at 400 MHz, AR6001) with the S3C MCI host at 25 MHz.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SdioSettings {
    /// Seed of the random source of missed beacons.
    pub seed: u64,
    /// The bus and its host controller.
    pub bus: BusSettings,
    /// The machine.
    pub host: HostSettings,
    /// The card.
    pub card: CardSettings,
    /// The air and the access point.
    pub radio: AirSettings,
}

/// The bus and its host controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct BusSettings {
    /// Clock, MHz.
    pub clock_mhz: f64,
    /// Data lines: 1 or 4.
    pub width: u8,
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Frames are padded to whole blocks; otherwise the rest goes as a second command in byte mode.
    pub pads_to_blocks: bool,
    /// What each command takes beside its clocks and its CPU time, µs: the controller's driver waits.
    pub command_gap_us: f64,
    /// What each block takes beside its clocks, µs.
    pub block_gap_us: f64,
}

/// How the host learns that the card has something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Interrupts {
    /// ksdioirqd asks, with CMD52, less and less often while there is nothing.
    #[default]
    Polling,
    /// The card's interrupt wakes ksdioirqd, which asks with CMD52 which function it is.
    Sdio,
    /// The card's interrupt, without polling: `sdio_single_irq`, or a line of its own.
    Single,
}

/// How the card's driver uses its host interface (HIF).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Hif {
    /// It sleeps until a transfer is done, then works on the packet, then asks for the next transfer.
    #[default]
    Synchronous,
    /// The next transfer begins when one is done, and packets are worked on meanwhile.
    Asynchronous,
}

/// When a process that waits for received data gets the CPU. The interrupt thread has a higher priority (SCHED_FIFO).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProcessRuns {
    /// When the interrupt thread has nothing left to do: data of all commands of a service reach it together.
    #[default]
    AfterService,
    /// While the interrupt thread waits for a command: data of one command reach it together.
    AfterCommand,
}

/// The machine. CPU times are those at [`REFERENCE_MHZ`] and scale with the clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct HostSettings {
    /// CPU clock, MHz.
    pub cpu_mhz: f64,
    /// Timer ticks in a second (`CONFIG_HZ`).
    pub hz: u32,
    /// Ticks that a time-out takes beyond those asked for: 1 since Linux 4.8 (kernel/time/timer.c, `calc_index` rounds up), 0 before.
    pub late_ticks: u32,
    /// How it learns that the card has something.
    pub interrupts: Interrupts,
    /// How the driver uses its interface.
    pub hif: Hif,
    /// When a process that waits for received data runs.
    pub process_runs: ProcessRuns,
    /// After a transfer of several messages the driver reads the status again, until nothing is left (ath6kl/htc_mbox.c,
    /// `chk_irq_status_cnt`); otherwise it waits for the next interrupt.
    pub rereads_status: bool,
    /// The CPU moves the data itself (PIO); otherwise DMA does.
    pub pio: bool,
    /// What PIO takes for a byte, ns of CPU time.
    pub pio_ns_per_byte: f64,
    /// What DMA takes for a transfer, µs of CPU time.
    pub dma_setup_us: f64,
    /// What a command takes, µs of CPU time.
    pub command_us: f64,
    /// What a context switch takes, µs of CPU time.
    pub switch_us: f64,
    /// What passes until a sleeping caller of the synchronous interface goes on after its data transfer, µs; no CPU time.
    pub hif_wait_us: f64,
    /// What passes until the interrupt thread runs, µs; no CPU time.
    pub wake_us: f64,
    /// What the network stack and the driver take for a received packet, µs of CPU time.
    pub receive_us: f64,
    /// What they take for a packet to be sent, µs of CPU time.
    pub send_us: f64,
    /// Packets that wait for the card at most.
    pub queue_packets: u32,
}

/// The card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CardSettings {
    /// Received frames that it holds for the host at most; it takes none from the air meanwhile.
    pub receive_frames: u32,
    /// Frames to be sent that it takes at most (credits).
    pub send_frames: u32,
    /// Bytes that a packet gets in front on the bus.
    pub header_bytes: u32,
    /// Bytes of the status that the driver reads when the card has interrupted (byte mode).
    pub status_bytes: u32,
    /// Frames that the driver reads for one interrupt at most.
    pub frames_per_interrupt: u32,
    /// Frames that one command reads at most.
    pub read_bundle: u32,
    /// Frames that one command writes at most.
    pub write_bundle: u32,
    /// Credits come back with frames, or in messages that the host has to fetch: when half of them are owed or nothing is left to be sent.
    /// Otherwise each comes back when its frame has been sent.
    pub reports_credits: bool,
}

/// The air and the access point: one frame at a time, either way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct AirSettings {
    /// Rate of IP packets, Mbit/s.
    pub mbit_s: f64,
    /// What each frame takes beside that, µs, towards the access point.
    pub uplink_overhead_us: f64,
    /// What each frame takes beside that, µs, from the access point.
    pub downlink_overhead_us: f64,
    /// Delay between access point and server, each way, µs.
    pub wire_us: u32,
    /// Frames that one turn on the air carries at most (A-MPDU); the overhead is that of a turn.
    pub frames_per_turn: u32,
    /// Packets that wait in the access point at most.
    pub queue_packets: u32,
    /// The station sleeps, and asks at beacons for what waits.
    pub power_save: Option<PowerSave>,
}

/// Power save of the station (IEEE 802.11-2020, 11.2.3), seen from the packets that wait for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PowerSave {
    /// Time between beacons, µs.
    pub beacon_us: u32,
    /// Probability that it misses one.
    pub missed_beacon_rate: f64,
    /// How long it stays awake when nothing is left for it, µs.
    pub awake_us: u32,
}

/// The CPU clock at which the CPU times are given: that of the S3C2442 in the Neo FreeRunner, MHz.
pub const REFERENCE_MHZ: f64 = 400.0;

impl Default for BusSettings {
    fn default() -> Self {
        Self {
            clock_mhz: 25.0,
            width: 4,
            // HIF_MBOX_BLOCK_SIZE of the AR6k driver.
            block_bytes: 128,
            pads_to_blocks: true,
            // Not known; small against the air's time for a frame.
            command_gap_us: 30.0,
            block_gap_us: 0.0,
        }
    }
}

impl Default for HostSettings {
    fn default() -> Self {
        Self {
            cpu_mhz: REFERENCE_MHZ,
            hz: 200,
            late_ticks: 0,
            interrupts: Interrupts::Polling,
            hif: Hif::Synchronous,
            process_runs: ProcessRuns::AfterService,
            rereads_status: false,
            // The S3C MCI driver has no working DMA (its Kconfig; "WLAN with Linux SDIO: sneak preview"). Two words of a
            // 32-bit FIFO per microsecond or so at 50 MHz; not measured.
            pio: true,
            pio_ns_per_byte: 20.0,
            dma_setup_us: 10.0,
            // calibrated from openmoko-kernel 2008-November/006299: 14 % of the CPU while the Neo receives 690.8 kB/s.
            command_us: 18.0,
            // calibrated from openmoko-kernel 2008-October/005288: of 2.9 s of system time for 16 MB, the asynchronous interface
            // saves 0.4 s, which is two switches for each of three transfers in two segments.
            switch_us: 11.5,
            // calibrated from the same: what it saves of the time that passes, beyond the CPU time.
            hif_wait_us: 220.0,
            // Not known.
            wake_us: 20.0,
            // calibrated from the same: what is left of the system time, split between both ways by guess.
            receive_us: 67.0,
            send_us: 60.0,
            queue_packets: 100,
        }
    }
}

impl Default for CardSettings {
    fn default() -> Self {
        Self {
            // Not known.
            receive_frames: 8,
            // calibrated from "WLAN with Linux SDIO: sneak preview": with 2 or more the stacks send equally fast.
            send_frames: 1,
            // LLC/SNAP, the headers of the AR6k's host interface and of its data messages.
            header_bytes: 26,
            status_bytes: 16,
            // calibrated from openmoko-kernel 2008-October/005288: with a direct interrupt a segment takes less by the time of
            // one CMD52, so there was one for each.
            frames_per_interrupt: 1,
            read_bundle: 1,
            write_bundle: 1,
            reports_credits: false,
        }
    }
}

impl Default for AirSettings {
    fn default() -> Self {
        Self {
            // calibrated from "WLAN with Linux SDIO: sneak preview", Atheros' stack: 739.9 kB/s to the Neo, 796.2 from it. The
            // model puts on the air whatever is neither bus nor CPU, so these do not measure the air.
            mbit_s: 11.0,
            uplink_overhead_us: 246.0,
            downlink_overhead_us: 720.0,
            wire_us: 500,
            frames_per_turn: 1,
            queue_packets: 100,
            power_save: None,
        }
    }
}

impl Default for PowerSave {
    fn default() -> Self {
        // calibrated from "WLAN with Linux SDIO: sneak preview": pings of 10.60/75.91/287.00 ms with a deviation of 49.09 ms. Its
        // author did not know the cause; that it is power save is this model's assumption.
        Self { beacon_us: 102_400, missed_beacon_rate: 0.13, awake_us: 1_000 }
    }
}

impl SdioSettings {
    /// The first value that is out of range, if any. `key` is the table that these settings are in (`sdio`).
    ///
    /// # Errors
    /// That value, with what it may be.
    pub fn check(&self, key: &str) -> Result<(), ScenarioError> {
        self.bus.check(&format!("{key}.bus"))?;
        self.host.check(&format!("{key}.host"))?;
        self.card.check(&format!("{key}.card"))?;
        self.radio.check(&format!("{key}.radio"))
    }
}

impl BusSettings {
    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "clock_mhz", self.clock_mhz, 0.1..=208.0, " MHz")?;
        if !matches!(self.width, 1 | 4) {
            return Err(ScenarioError::new(format!("{key}.width"), format!("{} is neither 1 nor 4", self.width)));
        }
        // CMD53: 1 to 2048 (SDIO Simplified Specification 3.0, 6.9).
        in_range(key, "block_bytes", self.block_bytes, 1..=2_048, " bytes")?;
        in_range(key, "command_gap_us", self.command_gap_us, 0.0..=100_000.0, " µs")?;
        in_range(key, "block_gap_us", self.block_gap_us, 0.0..=100_000.0, " µs")
    }
}

impl HostSettings {
    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "cpu_mhz", self.cpu_mhz, 1.0..=10_000.0, " MHz")?;
        in_range(key, "hz", self.hz, 24..=1_024, " ticks/s")?;
        in_range(key, "late_ticks", self.late_ticks, 0..=10, " ticks")?;
        for (name, value) in [
            ("pio_ns_per_byte", self.pio_ns_per_byte / 1_000.0),
            ("dma_setup_us", self.dma_setup_us),
            ("command_us", self.command_us),
            ("switch_us", self.switch_us),
            ("hif_wait_us", self.hif_wait_us),
            ("wake_us", self.wake_us),
            ("receive_us", self.receive_us),
            ("send_us", self.send_us),
        ] {
            in_range(key, name, value, 0.0..=100_000.0, " µs")?;
        }
        in_range(key, "queue_packets", self.queue_packets, 1..=100_000, " packets")
    }
}

impl CardSettings {
    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "receive_frames", self.receive_frames, 1..=1_000, " frames")?;
        in_range(key, "send_frames", self.send_frames, 1..=1_000, " frames")?;
        in_range(key, "header_bytes", self.header_bytes, 0..=1_000, " bytes")?;
        in_range(key, "status_bytes", self.status_bytes, 1..=512, " bytes")?;
        in_range(key, "frames_per_interrupt", self.frames_per_interrupt, 1..=1_000, " frames")?;
        in_range(key, "read_bundle", self.read_bundle, 1..=64, " frames")?;
        in_range(key, "write_bundle", self.write_bundle, 1..=64, " frames")
    }
}

impl AirSettings {
    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "mbit_s", self.mbit_s, 0.001..=10_000.0, " Mbit/s")?;
        in_range(key, "uplink_overhead_us", self.uplink_overhead_us, 0.0..=100_000.0, " µs")?;
        in_range(key, "downlink_overhead_us", self.downlink_overhead_us, 0.0..=100_000.0, " µs")?;
        in_range(key, "frames_per_turn", self.frames_per_turn, 1..=64, " frames")?;
        in_range(key, "wire_us", self.wire_us, 0..=10_000_000, " µs")?;
        in_range(key, "queue_packets", self.queue_packets, 1..=100_000, " packets")?;
        if let Some(power_save) = &self.power_save {
            let key = format!("{key}.power_save");
            in_range(&key, "beacon_us", power_save.beacon_us, 1_024..=67_107_840, " µs")?;
            in_range(&key, "missed_beacon_rate", power_save.missed_beacon_rate, 0.0..=0.99, "")?;
            in_range(&key, "awake_us", power_save.awake_us, 0..=10_000_000, " µs")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_value_is_named_with_its_range() {
        let error = |json: &str| {
            let settings: SdioSettings = serde_json::from_str(json).expect(json);
            settings.check("sdio").expect_err(json).to_string()
        };
        assert_eq!(SdioSettings::default().check("sdio"), Ok(()));
        assert_eq!(error(r#"{"bus": {"width": 8}}"#), "sdio.bus.width: 8 is neither 1 nor 4");
        assert_eq!(error(r#"{"host": {"hz": 0}}"#), "sdio.host.hz: 0 is not in the range from 24 to 1024 ticks/s");
        assert!(error(r#"{"host": {"switch_us": -1}}"#).starts_with("sdio.host.switch_us: -1"));
        assert!(error(r#"{"radio": {"power_save": {"missed_beacon_rate": 1}}}"#)
            .starts_with("sdio.radio.power_save.missed_beacon_rate: 1 is not"));
        assert!(serde_json::from_str::<SdioSettings>(r#"{"cart": {}}"#).is_err());
    }
}
