use txop_link::engine::HostId;
use txop_link::modem::{ModemSettings, QmapAggregation, NEAR_HOST};

use crate::flow::{run, Bulk};

fn settings(us_per_urb: f64, aggregation: QmapAggregation) -> ModemSettings {
    let mut settings = ModemSettings::default();
    settings.device.us_per_urb = us_per_urb;
    settings.driver.aggregation = aggregation;
    settings
}

fn up() -> Bulk {
    Bulk { from: NEAR_HOST, ack_every: 2, pacing_shift: 8, window_max: 2_000.0 }
}

fn down(ack_every: u64) -> Bulk {
    Bulk { from: HostId::SERVER, ack_every, pacing_shift: 10, window_max: 700.0 }
}

#[test]
fn explore() {
    for us in [0.0, 190.0] {
        for aggregation in [QmapAggregation::None, QmapAggregation::Rmnet, QmapAggregation::QmiWwan] {
            for (name, bulks) in [
                ("up", vec![up()]),
                ("down/11", vec![down(11)]),
                ("down/2", vec![down(2)]),
                ("down/1", vec![down(1)]),
                ("both/11", vec![up(), down(11)]),
                ("both/2", vec![up(), down(2)]),
                ("both/1", vec![up(), down(1)]),
            ] {
                let (goodput, counters) = run(settings(us, aggregation), &bulks, 5);
                let mean = counters.uplink.mean_datagrams_per_urb();
                println!("{us} {aggregation:?} {name}: {goodput:.1?} dg/urb {mean:.2?} busy {:.2} drops {} {}",
                    counters.device_busy_ns as f64 / 6e9, counters.uplink.drops.total(), counters.downlink.drops.total());
            }
        }
    }
}

#[test]
fn shifts() {
    for (us, frames, bytes, time, delay) in
        [(20.0, 32, 32_768, 800, 5_000), (20.0, 64, 32_768, 800, 10_000), (20.0, 32, 32_768, 2_000, 5_000), (0.0, 32, 32_768, 800, 15_000)]
    {
        for shift in [10, 9, 8, 7] {
            let mut settings = settings(us, QmapAggregation::Rmnet);
            settings.radio.uplink_mbit_s = 155.0;
            settings.radio.uplink_delay_us = delay;
            settings.radio.downlink_delay_us = delay;
            settings.driver.max_datagrams = frames;
            settings.driver.max_bytes = bytes;
            settings.driver.timer_us = time;
            let bulk = Bulk { pacing_shift: shift, ..up() };
            let (goodput, counters) = run(settings, &[bulk], 5);
            println!("{us} {frames} {time} {delay} shift {shift}: {goodput:.1?} {:.2?} {:?}", counters.uplink.mean_datagrams_per_urb(), counters.tx_reasons);
        }
    }
}
