//! The least that moves packets between two TUN devices: what `bench/emulate` compares the emulator with.
//!
//! `bare_forwarder DEVICE NAMESPACE NAMESPACE` makes a device in each namespace (`/proc/PID/ns/net`), prints `ready` and
//! copies packets from one to the other until its standard input ends. One thread, as in the emulator; no queue, no clock,
//! no look into the packets.

use std::fs::File;
use std::io::{Error, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use rustix::event::{poll, PollFd, PollFlags};
use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};
use tun_rs::{DeviceBuilder, SyncDevice};

const BURST: usize = 64;

fn open(name: &str, namespace: &str) -> Result<SyncDevice, Error> {
    let file = File::open(namespace)?;
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
    let device = DeviceBuilder::new().name(name).mtu(1_500).offload(false).enable(false).build_sync()?;
    device.set_nonblocking(true)?;
    Ok(device)
}

fn forward(name: &str, namespaces: &[String]) -> Result<(), Error> {
    let devices = [open(name, &namespaces[0])?, open(name, &namespaces[1])?];
    println!("ready");
    std::io::stdout().flush()?;
    let stdin = std::io::stdin();
    let mut buffer = vec![0; 1 << 16];
    let fds = [devices[0].as_fd(), devices[1].as_fd(), stdin.as_fd()];
    let mut polled = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    loop {
        poll(&mut polled, None)?;
        if !polled[2].revents().is_empty() {
            return Ok(());
        }
        for (from, to) in [(0, 1), (1, 0)] {
            for _ in 0..BURST {
                let Ok(len) = devices[from].recv(&mut buffer) else { break };
                // A host whose queue is full loses it, as with the emulator.
                let _ = devices[to].send(&buffer[..len]);
            }
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((name, namespaces)) if namespaces.len() == 2 => match forward(name, namespaces) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        },
        _ => {
            eprintln!("usage: bare_forwarder DEVICE NAMESPACE NAMESPACE");
            ExitCode::FAILURE
        }
    }
}
