use super::*;

#[derive(Clone, Debug)]
struct Sized(usize);

impl Packet for Sized {
    fn size_bytes(&self) -> usize {
        self.0
    }

    fn write_bytes(&self, _out: &mut Vec<u8>, _limit: usize) {}
}

struct Bench {
    aggregator: Aggregator<Sized>,
    out: VecDeque<Frame<Sized>>,
}

impl Bench {
    fn new(framing: Framing, aggregation: QmapAggregation, frames: u32, bytes: u32, timer_us: u32) -> Self {
        let mut settings = ModemSettings::default();
        settings.driver = DriverSettings {
            framing,
            aggregation,
            max_datagrams: frames,
            max_bytes: bytes,
            timer_us,
            ..settings.driver
        };
        Self { aggregator: Aggregator::new(&settings), out: VecDeque::new() }
    }

    /// Lets the timer expire until `at_us`, then gives it a packet.
    fn push(&mut self, at_us: u64, size: usize) {
        self.until(at_us);
        self.aggregator.push(at_us * 1_000, Sized(size), &mut self.out).expect("it fits");
    }

    fn until(&mut self, at_us: u64) {
        while let Some(ns) = self.aggregator.timer_ns().filter(|ns| *ns <= at_us * 1_000) {
            self.aggregator.expire(ns, &mut self.out);
        }
    }

    /// Packets, length and reason of what came out since.
    fn out(&mut self) -> Vec<(usize, usize, TxReason)> {
        self.out.drain(..).map(|frame| (frame.slots.len(), frame.len, frame.reason)).collect()
    }
}

fn rmnet(frames: u32, bytes: u32) -> Bench {
    Bench::new(Framing::Qmap, QmapAggregation::Rmnet, frames, bytes, 800)
}

#[test]
fn rmnet_lets_sparse_packets_pass() {
    let mut bench = rmnet(16, 4_096);
    bench.push(0, 100);
    bench.push(10_001, 100);
    assert_eq!(bench.out(), [(1, 104, TxReason::Bypass); 2]);
    // 10 ms are not sparse yet: the timer sends it.
    bench.push(20_001, 100);
    assert_eq!(bench.out(), []);
    bench.until(20_800);
    assert_eq!(bench.out(), []);
    bench.until(20_801);
    assert_eq!(bench.out(), [(1, 104, TxReason::Timeout)]);
}

#[test]
fn rmnet_flushes_by_count_by_bytes_and_by_what_does_not_fit() {
    let mut bench = rmnet(3, 4_096);
    (0..4).for_each(|_| bench.push(1, 100));
    assert_eq!(bench.out(), [(1, 104, TxReason::Bypass), (3, 312, TxReason::MaxDatagrams)]);
    let mut bench = rmnet(16, 4_096);
    (0..4).for_each(|_| bench.push(1, 1_500));
    assert_eq!(bench.out(), [(1, 1_504, TxReason::Bypass), (2, 3_008, TxReason::Full)]);
    bench.push(2, 2_588);
    assert_eq!(bench.out(), [(2, 4_096, TxReason::Full)]);
    // The timer of the next begins with its first packet.
    bench.push(3, 1_000);
    bench.until(802);
    assert_eq!(bench.out(), []);
    bench.until(803);
    assert_eq!(bench.out(), [(1, 1_004, TxReason::Timeout)]);
    let mut bench = rmnet(16, 4_096);
    bench.push(0, 52);
    bench.push(1, 4_092);
    assert_eq!(bench.out().pop(), Some((1, 4_096, TxReason::Bypass)));
    let refused = bench.aggregator.push(2_000, Sized(4_093), &mut bench.out);
    assert!(matches!(refused, Err((Sized(4_093), DropCause::Oversize))));
}

#[test]
fn rmnet_copies_the_first_packet_only() {
    let mut bench = rmnet(3, 4_096);
    (0..4).for_each(|_| bench.push(1, 100));
    let copied: Vec<Vec<bool>> =
        bench.out.iter().map(|frame| frame.slots.iter().map(|slot| slot.is_copied).collect()).collect();
    assert_eq!(copied, [vec![false], vec![true, false, false]]);
}

/// The timer must expire three times, 1.2 ms, and each packet restarts that.
#[test]
fn the_patch_of_qmi_wwan_waits_longer() {
    let mut bench = Bench::new(Framing::Qmap, QmapAggregation::QmiWwan, 16, 4_096, 800);
    bench.push(0, 100);
    bench.until(1_199);
    assert_eq!(bench.out(), []);
    bench.until(1_200);
    assert_eq!(bench.out(), [(1, 104, TxReason::Timeout)]);
    bench.push(2_000, 100);
    bench.push(2_900, 100);
    bench.until(3_999);
    assert_eq!(bench.out(), []);
    bench.until(4_000);
    assert_eq!(bench.out(), [(2, 208, TxReason::Timeout)]);
}

#[test]
fn cdc_ncm_counts_pads_and_waits() {
    let mut bench = Bench::new(Framing::Ncm16, QmapAggregation::None, 40, 16_384, 400);
    bench.push(0, 1_500);
    bench.until(1_200);
    assert_eq!(bench.out(), [(1, 186 + 1_514, TxReason::Timeout)]);
    // From the third datagram on the count is not set again: after three expiries from the second it goes.
    (0..10).for_each(|n| bench.push(2_000 + n * 130, 52));
    bench.until(3_199);
    assert_eq!(bench.out(), []);
    bench.until(3_200);
    assert_eq!(bench.out().first().map(|frame| (frame.0, frame.2)), Some((10, TxReason::Timeout)));
    // A block that is nearly full is filled to its end.
    (0..11).for_each(|_| bench.push(5_000, 1_500));
    assert_eq!(bench.out(), [(10, 16_384, TxReason::Full)]);
    bench.until(10_000);
    bench.out();
    (0..40).for_each(|_| bench.push(20_000, 52));
    let frames = bench.out();
    assert_eq!((frames[0].0, frames[0].2), (40, TxReason::MaxDatagrams));
    let mut bench = Bench::new(Framing::Mbim16, QmapAggregation::None, 40, 16_384, 0);
    // 184 bytes of head and 328 make 512: one more byte, so that no empty packet is needed.
    bench.push(0, 328);
    assert_eq!(bench.out(), [(1, 513, TxReason::Timeout)]);
}
