//! A transfer as ttcp makes it, for a guest that has no ttcp: so many buffers over one TCP connection, and what it took. What is
//! printed has the lines of ttcp (Terry Slattery's `ttcp.c` 1.12 and its descendants), so the same reader reads both; one more line
//! has what the whole machine did in that time.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Instant;

use clap::Args;

/// How ttcp is called; the letters are ttcp's.
#[derive(Debug, Args)]
pub struct TtcpArgs {
    /// Transmit to this host.
    #[arg(
        short = 't',
        long = "to",
        value_name = "ADDRESS",
        required_unless_present = "receive",
        conflicts_with = "receive"
    )]
    pub to: Option<Ipv4Addr>,
    /// Receive.
    #[arg(short = 'r', long)]
    pub receive: bool,
    /// Bytes of a buffer.
    #[arg(short = 'l', long, default_value_t = 8_192, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub length: u32,
    /// Buffers that are sent.
    #[arg(short = 'n', long, default_value_t = 2_048, value_parser = clap::value_parser!(u32).range(1..))]
    pub number: u32,
    /// TCP port.
    #[arg(short = 'p', long, default_value_t = 5_001)]
    pub port: u16,
}

/// What this process has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    user_ticks: u64,
    system_ticks: u64,
    voluntary: u64,
    involuntary: u64,
    /// Context switches of the whole machine.
    machine: u64,
}

/// Ticks of a second in /proc: USER_HZ, 100 on every architecture that guests and Debian have.
const TICKS: f64 = 100.0;

impl Cost {
    fn now() -> io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let stat = fs::read_to_string("/proc/self/stat")?;
        let of_all = fs::read_to_string("/proc/stat")?;
        // The name, in parentheses, may have blanks (proc_pid_stat(5)); utime and stime are fields 14 and 15.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|word| word.parse().ok()).unwrap_or(0);
        Ok(Self {
            user_ticks: ticks(11),
            system_ticks: ticks(12),
            voluntary: value(&status, "voluntary_ctxt_switches:"),
            involuntary: value(&status, "nonvoluntary_ctxt_switches:"),
            machine: value(&of_all, "ctxt "),
        })
    }
}

/// The number behind a name at the beginning of a line.
fn value(text: &str, name: &str) -> u64 {
    let found = text.lines().find_map(|line| line.strip_prefix(name));
    found.and_then(|rest| rest.trim().parse().ok()).unwrap_or(0)
}

impl TtcpArgs {
    /// Makes the transfer, and prints what it took.
    ///
    /// # Errors
    /// Those of the sockets, of /proc and of standard output.
    pub fn run(&self) -> io::Result<()> {
        self.transfer(&mut io::stdout())
    }

    fn transfer(&self, out: &mut impl Write) -> io::Result<()> {
        let name = if self.receive { "ttcp-r" } else { "ttcp-t" };
        let mut buffer: Vec<u8> = (0..self.length).map(|at| b' ' + (at % 95) as u8).collect();
        let (length, number, port) = (self.length, self.number, self.port);
        let mut stream = match self.to {
            Some(to) => {
                writeln!(out, "{name}: buflen={length}, nbuf={number}, port={port}  tcp  -> {to}")?;
                TcpStream::connect(SocketAddr::from((to, port)))?
            }
            None => {
                writeln!(out, "{name}: buflen={length}, port={port}  tcp")?;
                let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))?;
                let (stream, from) = listener.accept()?;
                writeln!(out, "{name}: accept from {}", from.ip())?;
                stream
            }
        };
        let (before, began) = (Cost::now()?, Instant::now());
        let (mut bytes, mut calls) = (0u64, 0u64);
        if self.receive {
            loop {
                let got = stream.read(&mut buffer)?;
                calls += 1;
                bytes += got as u64;
                if got == 0 {
                    break;
                }
            }
        } else {
            for _ in 0..self.number {
                stream.write_all(&buffer)?;
                calls += 1;
                bytes += buffer.len() as u64;
            }
            drop(stream);
        }
        let seconds = began.elapsed().as_secs_f64();
        let lines = report(name, (bytes, calls), seconds, &before, &Cost::now()?);
        out.write_all(lines.as_bytes())
    }
}

fn report(name: &str, (bytes, calls): (u64, u64), seconds: f64, before: &Cost, after: &Cost) -> String {
    let real = seconds.max(1e-6);
    let (rate, per_call) = (bytes as f64 / 1024.0 / real, real * 1e3 / calls.max(1) as f64);
    let user = (after.user_ticks - before.user_ticks) as f64 / TICKS;
    let system = (after.system_ticks - before.system_ticks) as f64 / TICKS;
    let busy = 100.0 * (user + system) / real;
    let (voluntary, involuntary) = (after.voluntary - before.voluntary, after.involuntary - before.involuntary);
    let machine = after.machine - before.machine;
    format!(
        "{name}: {bytes} bytes in {seconds:.6} real seconds = {rate:.2} KB/sec +++\n\
         {name}: {calls} I/O calls, msec/call = {per_call:.2}, calls/sec = {:.2}\n\
         {name}: {user:.2}user {system:.2}sys {seconds:.2}real {busy:.0}% {voluntary}+{involuntary}csw\n\
         {name}: {machine} csw of the machine\n",
        calls as f64 / real
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_proc() {
        let status = "Name:\tttcp\nvoluntary_ctxt_switches:\t348\nnonvoluntary_ctxt_switches:\t12\n";
        assert_eq!(value(status, "voluntary_ctxt_switches:"), 348);
        assert_eq!(value(status, "nonvoluntary_ctxt_switches:"), 12);
        assert_eq!(value("cpu  1 2\nctxt 77\nbtime 1\n", "ctxt "), 77);
        assert_eq!(value(status, "ctxt "), 0);
        assert!(Cost::now().unwrap().machine > 0);
    }

    #[test]
    fn lines_of_ttcp() {
        let before = Cost::default();
        let after = Cost { user_ticks: 10, system_ticks: 140, voluntary: 300, involuntary: 48, machine: 12_252 };
        let lines = report("ttcp-t", (16_777_216, 2_048), 2.0, &before, &after);
        assert_eq!(
            lines,
            "ttcp-t: 16777216 bytes in 2.000000 real seconds = 8192.00 KB/sec +++\n\
             ttcp-t: 2048 I/O calls, msec/call = 0.98, calls/sec = 1024.00\n\
             ttcp-t: 0.10user 1.40sys 2.00real 75% 300+48csw\n\
             ttcp-t: 12252 csw of the machine\n"
        );
    }

    #[test]
    fn a_transfer_between_two_of_them() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let args = TtcpArgs { to: None, receive: true, length: 4_096, number: 64, port };
        let receiver = std::thread::spawn(move || {
            let mut printed = Vec::new();
            args.transfer(&mut printed).map(|()| String::from_utf8(printed).unwrap())
        });
        let to = Some(Ipv4Addr::LOCALHOST);
        let sent = (0..200).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            TtcpArgs { to, receive: false, length: 4_096, number: 64, port }.transfer(&mut Vec::new()).ok()
        });
        assert!(sent.is_some());
        let printed = receiver.join().unwrap().unwrap();
        assert!(printed.contains("ttcp-r: 262144 bytes in "), "{printed}");
    }
}
