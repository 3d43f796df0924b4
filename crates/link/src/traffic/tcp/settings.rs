//! The settings of a TCP flow.

use serde::{Deserialize, Serialize};

use crate::checked::{in_range, ScenarioError};

/// Congestion control of a TCP flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Congestion {
    /// RFC 5681.
    Reno,
    /// RFC 9438, with HyStart.
    #[default]
    Cubic,
    /// Version 1.
    Bbr,
}

/// A bulk transfer from `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TcpSettings {
    /// Congestion control.
    pub congestion: Congestion,
    /// CUBIC leaves slow start when HyStart says so.
    pub hystart: bool,
    /// Until its first loss CUBIC grows by a segment for every 20 acknowledged ones at least, as Linux' does
    /// (net/ipv4/tcp_cubic.c, bictcp_update). RFC 9438 does not have this.
    pub early_growth: bool,
    /// Bytes to transfer, rounded up to whole segments; left out: as many as can be.
    pub bytes: Option<u64>,
    /// Bytes of payload in a segment. 1448 fills 1500 bytes with timestamps.
    pub mss: u16,
    /// Segments that are sent at first (RFC 6928).
    pub initial_window: u16,
    /// Bytes under way at most: what receive window and send buffer grow to. The default is half of Linux' largest receive
    /// buffer (`net.ipv4.tcp_rmem`, 6 MiB).
    pub window_bytes: u32,
    /// Congestion windows that the socket's buffer of the sender holds: how often the writing process waits depends on it
    /// (net/ipv4/tcp_input.c, `tcp_sndbuf_expand`). 2 where each segment is a buffer of its own, as in Linux 2.6; now a segment counts 4352
    /// bytes and the buffers are full, which makes 6.
    pub send_buffer_windows: f64,
    /// Linux' `sk_pacing_shift`: bytes below the socket at most what it would pace in 2^-shift seconds (TCP small queues).
    /// 10 by default; mac80211 sets 7, rmnet 8.
    pub pacing_shift: u8,
    /// TCP small queues limit what is below the socket.
    pub small_queues: bool,
    /// Segments are paced. Left out: BBR's are.
    pub pacing: Option<bool>,
    /// An ACK for this many segments (RFC 5681, 4.2: at least for every second).
    pub ack_every: u16,
    /// An ACK is sent after so long at the latest, ms. Linux' least is 40.
    pub ack_delay_ms: f64,
    /// How many of the first segments are acknowledged at once, one by one (Linux' quick ACKs).
    pub quick_acks: u16,
    /// Segments that arrive together are acknowledged as one, up to this many (generic receive offload). 1: one by one.
    pub receive_offload: u16,
    /// ECN is used (RFC 3168).
    pub ecn: bool,
}

impl Default for TcpSettings {
    fn default() -> Self {
        Self {
            congestion: Congestion::Cubic,
            hystart: true,
            early_growth: false,
            bytes: None,
            mss: 1448,
            initial_window: 10,
            window_bytes: 3 << 20,
            send_buffer_windows: 6.0,
            pacing_shift: 10,
            small_queues: true,
            pacing: None,
            ack_every: 2,
            ack_delay_ms: 40.0,
            quick_acks: 16,
            receive_offload: 1,
            ecn: false,
        }
    }
}

impl TcpSettings {
    /// # Errors
    /// Names the key (`key.name`) of a setting that is out of its range.
    pub fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "mss", self.mss, 88..=8948, " bytes")?;
        in_range(key, "initial_window", self.initial_window, 1..=1000, " segments")?;
        in_range(key, "window_bytes", self.window_bytes, 2 * u32::from(self.mss)..=1 << 30, " bytes")?;
        in_range(key, "send_buffer_windows", self.send_buffer_windows, 2.0..=100.0, "")?;
        in_range(key, "pacing_shift", self.pacing_shift, 0..=20, "")?;
        in_range(key, "ack_every", self.ack_every, 1..=64, " segments")?;
        in_range(key, "ack_delay_ms", self.ack_delay_ms, 0.0..=500.0, " ms")?;
        in_range(key, "receive_offload", self.receive_offload, 1..=64, " segments")?;
        if let Some(bytes) = self.bytes {
            in_range(key, "bytes", bytes, 1..=1 << 50, " bytes")?;
        }
        Ok(())
    }

    /// Segments under way at most.
    pub(crate) fn window_segments(&self) -> u32 {
        self.window_bytes / u32::from(self.mss)
    }

    /// Segments to transfer.
    pub(crate) fn segments(&self) -> u64 {
        self.bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(u64::from(self.mss)))
    }
}
