//! Modelled TCP against Linux' own.
//!
//! Reference: Linux 6.18 on both ends of this pipe in real time (20 Mbit/s, 20 ms each way, drop-tail), iperf3 3.12 for 25 s
//! after 5 s; one run each. Mean RTT as the kernel gives it; the window is the mean of one sample a second.

use txop_link::traffic::{Congestion, FlowSettings, TcpSettings, Traffic};
use txop_link::{PathSettings, Pipe, PipeSettings, Simulation, SimulationSettings};

struct Reference {
    congestion: Congestion,
    queue_packets: u32,
    goodput_mbit_s: f64,
    rtt_ms: f64,
    cwnd: f64,
}

const fn linux(congestion: Congestion, queue_packets: u32, goodput_mbit_s: f64, rtt_ms: f64, cwnd: f64) -> Reference {
    Reference { congestion, queue_packets, goodput_mbit_s, rtt_ms, cwnd }
}

const REFERENCES: [Reference; 6] = [
    linux(Congestion::Reno, 34, 18.22, 49.2, 78.0),
    linux(Congestion::Reno, 150, 19.31, 97.2, 169.0),
    linux(Congestion::Cubic, 34, 19.28, 55.0, 94.0),
    linux(Congestion::Cubic, 150, 19.31, 114.1, 190.0),
    linux(Congestion::Bbr, 34, 18.94, 46.2, 142.0),
    linux(Congestion::Bbr, 150, 18.91, 44.8, 151.0),
];

#[test]
fn goodput_delay_and_window_are_those_of_linux() {
    for reference in REFERENCES {
        let Reference { congestion, queue_packets, .. } = reference;
        let pipe = PipeSettings { rate_mbit_s: Some(20.0), delay_ms: 20.0, queue_packets, ..PipeSettings::default() };
        let settings =
            SimulationSettings { warm_up_s: 5.0, duration_s: 25.0, interval_s: 1.0, ..SimulationSettings::default() };
        let flows = [FlowSettings::new(0, 1, Traffic::Tcp(TcpSettings { congestion, ..TcpSettings::default() }))];
        let wire = PathSettings { rate_mbit_s: 10_000.0, delay_ms: 0.0, ..PathSettings::default() };
        let link = Pipe::new(pipe).unwrap();
        let result = Simulation::new(settings, Some(wire), &flows, link).unwrap().run(&mut ()).flows.remove(0);
        let samples: Vec<f64> = result.series[5..].iter().filter_map(|i| i.cwnd.map(f64::from)).collect();
        let cwnd = samples.iter().sum::<f64>() / samples.len() as f64;
        let rtt_ms = result.round_trip.summary().unwrap().mean_ms;
        for (what, got, want, tolerance) in [
            ("goodput", result.goodput_mbit_s, reference.goodput_mbit_s, 0.03),
            ("RTT", rtt_ms, reference.rtt_ms, 0.07),
            ("cwnd", cwnd, reference.cwnd, 0.1),
        ] {
            let off = got / want - 1.0;
            println!("{congestion:?} {queue_packets} {what}: {got:.2}, Linux {want}: {:+.1} %", 100.0 * off);
            assert!(off.abs() < tolerance, "{congestion:?}, queue {queue_packets}, {what}: {got:.2}, Linux {want}");
        }
    }
}
