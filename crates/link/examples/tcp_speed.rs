//! How many packets per CPU second the modelled hosts and the loop around them are good for: a pipe of 100 Mbit/s, so that
//! hardly anything is the link's.
//!
//! ```sh
//! cargo run --release -p txop-link --example tcp_speed -- 60
//! ```

use txop_link::traffic::{Congestion, FlowSettings, TcpSettings, Traffic, UdpSettings};
use txop_link::{PathSettings, Pipe, PipeSettings, Simulation, SimulationSettings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: f64 = std::env::args().nth(1).map_or(Ok(60.0), |arg| arg.parse())?;
    let pipe = PipeSettings { rate_mbit_s: Some(100.0), delay_ms: 10.0, queue_packets: 200, ..PipeSettings::default() };
    println!("{:<28} {:>10} {:>10} {:>13} {:>10}", "flow", "packets", "ns/packet", "packets/CPU s", "Mbit/s");
    let udp = UdpSettings { rate_mbit_s: Some(95.0), ..UdpSettings::default() };
    let tcp = |congestion| Traffic::Tcp(TcpSettings { congestion, ..TcpSettings::default() });
    for (name, traffic, path) in [
        ("UDP, saturated", Traffic::Udp(UdpSettings::default()), false),
        ("UDP, 95 Mbit/s", Traffic::Udp(udp), false),
        ("UDP, saturated, wired server", Traffic::Udp(UdpSettings::default()), true),
        ("TCP Reno", tcp(Congestion::Reno), false),
        ("TCP CUBIC", tcp(Congestion::Cubic), false),
        ("TCP CUBIC, wired server", tcp(Congestion::Cubic), true),
        ("TCP BBR", tcp(Congestion::Bbr), false),
    ] {
        let settings = SimulationSettings { duration_s: seconds, ..SimulationSettings::default() };
        let path = path.then(PathSettings::default);
        let flows = [FlowSettings::new(0, 1, traffic)];
        let simulation = Simulation::new(settings, path, &flows, Pipe::new(pipe)?)?;
        let begin = cpu_ns()?;
        let result = simulation.run(&mut ());
        let ns = (cpu_ns()? - begin) / result.packets as f64;
        println!("{name:<28} {:>10} {ns:>10.0} {:>13.0} {:>10.2}", result.packets, 1e9 / ns, result.goodput_mbit_s());
    }
    Ok(())
}

/// What this process has used of a CPU, ns (`/proc/self/schedstat`, its first number).
fn cpu_ns() -> Result<f64, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or_default().parse()?)
}
