//! The process that writes the data of a transfer: when it waits for its socket (Linux' net/core/stream.c and
//! net/ipv4/tcp_input.c).

/// The congestion window that Linux reckons with at least (`TCP_INIT_CWND`).
const LEAST_WINDOW: f64 = 10.0;

/// A process that writes without pause. The socket's buffer holds a multiple of the congestion window and never shrinks
/// (`tcp_sndbuf_expand`). A process that has filled it waits until a third of it is free (`__sk_stream_is_writeable`: free is at least
/// half of what is used), and then fills it again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Writer {
    /// Segments that it has handed to the socket.
    written: u64,
    /// Segments that the buffer holds.
    buffer: u64,
    /// Times that it waited.
    pub(crate) waits: u64,
}

impl Writer {
    /// All segments below `acknowledged` have left the buffer. `windows`: how many congestion windows the buffer holds.
    /// `segments`: of the whole transfer.
    pub(crate) fn on_ack(&mut self, acknowledged: u64, cwnd: f64, windows: f64, segments: u64) {
        self.buffer = self.buffer.max((windows * cwnd.max(LEAST_WINDOW)) as u64);
        let used = self.written.saturating_sub(acknowledged);
        if self.written < segments && 3 * used <= 2 * self.buffer {
            // Before its first one it had not filled the buffer yet.
            self.waits += u64::from(self.written > 0);
            self.written = (acknowledged + self.buffer).min(segments);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(segments: u64, cwnd: f64, windows: f64) -> u64 {
        let mut writer = Writer::default();
        for acknowledged in 0..segments {
            writer.on_ack(acknowledged, cwnd, windows, segments);
            assert!(writer.written > acknowledged, "all that may be sent has been written");
        }
        writer.waits
    }

    /// 16 MiB with a window of 44 segments: a wait for every third of 88 segments.
    #[test]
    fn it_waits_for_a_third_of_the_buffer() {
        assert_eq!(waits(11_586, 44.0, 2.0), 384);
        assert_eq!(waits(11_586, 44.0, 6.0), 11_586 / 88 - 2);
        assert_eq!(waits(20, 44.0, 2.0), 0);
        // A smaller window than Linux reckons with.
        assert_eq!(waits(1_000, 1.0, 2.0), waits(1_000, 10.0, 2.0));
    }

    proptest::proptest! {
        #[test]
        fn a_larger_buffer_means_fewer_waits(segments in 1u64..5_000, cwnd in 10.0f64..200.0, more in 1.0f64..4.0) {
            assert!(waits(segments, cwnd * more, 2.0) <= waits(segments, cwnd, 2.0));
        }
    }
}
