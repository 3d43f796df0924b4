//! The program as a server: a host imports the device over TCP, and over an inherited socket.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{kill_process, Pid, Signal};
use wire::usb::setup::Setup;
use wire::usb::usbip::{self, Completion, Submit, BUS_ID, DEVICE, HEADER, REQUEST};

/// Ends the program, whatever happens to the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_txop-vusb"))
}

fn import(stream: &mut TcpStream, bus_id: &str) -> [u8; 8] {
    let mut request = vec![0x01, 0x11, 0x80, 0x03, 0, 0, 0, 0];
    request.extend(bus_id.bytes());
    request.resize(REQUEST + BUS_ID, 0);
    stream.write_all(&request).unwrap();
    let mut reply = [0; 8];
    stream.read_exact(&mut reply).unwrap();
    reply
}

fn control(stream: &mut TcpStream, sequence: u32, setup: Setup) -> (i32, Vec<u8>) {
    let length = u32::from(setup.length);
    let submit = Submit { sequence, is_in: true, endpoint: 0, flags: 0, length, iso_packets: 0, interval: 0, setup };
    stream.write_all(&usbip::Command::Submit(submit).emit(0x0001_0002)).unwrap();
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).unwrap();
    let Some(Completion::Submit { sequence: of, status, actual }) = Completion::parse(&header) else { panic!() };
    assert_eq!(of, sequence);
    let mut data = vec![0; actual as usize];
    stream.read_exact(&mut data).unwrap();
    (status, data)
}

/// Tries until it works; this says only when to give up.
fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = attempt() {
            return value;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Server {
    /// Without an access point, with counters in a file. Gives its port.
    fn start(statistics: &Path, more: &[&OsStr]) -> (Self, u16) {
        let mut command = program();
        command.args(["serve", "--ap", "none", "--listen", "127.0.0.1:0"]);
        command.args(["--stats".as_ref(), statistics.as_os_str()]).args(more).stderr(Stdio::piped());
        let mut server = Self(command.spawn().unwrap());
        let mut said = BufReader::new(server.0.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let port = line.trim_end().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        // What it says later is shown with the test.
        std::thread::spawn(move || said.lines().map_while(Result::ok).for_each(|line| eprintln!("{line}")));
        (server, port.unwrap_or_else(|| panic!("{line}")))
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Asks for the counters.
    fn report(&self, statistics: &Path) -> serde_json::Value {
        let _ = std::fs::remove_file(statistics);
        self.signal(Signal::USR1);
        let text = eventually("no counters", || std::fs::read_to_string(statistics).ok());
        serde_json::from_str(&text).unwrap()
    }

    fn end(&mut self) -> Option<i32> {
        self.signal(Signal::TERM);
        eventually("it does not end", || self.0.try_wait().unwrap()).code()
    }
}

#[test]
fn a_host_imports_the_device_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let (statistics, usb) = (folder.path().join("stats.json"), folder.path().join("usb.pcapng"));
    let (mut server, port) = Server::start(&statistics, &["--usb".as_ref(), usb.as_os_str()]);
    let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    assert_eq!(import(&mut connect(), "9-9"), [0x01, 0x11, 0, 3, 0, 0, 0, 4]);
    for round in 0..2 {
        let mut stream = connect();
        assert_eq!(import(&mut stream, "1-1"), [0x01, 0x11, 0, 3, 0, 0, 0, 0]);
        let mut device = [0; DEVICE];
        stream.read_exact(&mut device).unwrap();
        assert_eq!(device[300..304], [0x73, 0x92, 0x78, 0x11], "round {round}");
        let descriptor = Setup { request_type: 0x80, request: 6, value: 0x0100, index: 0, length: 18 };
        let (status, data) = control(&mut stream, 1, descriptor);
        assert_eq!((status, data.len(), data[8]), (0, 18, 0x92));
        // A register: the MAC is off.
        let register = Setup { request_type: 0xc0, request: 5, value: 0x100, index: 0, length: 1 };
        assert_eq!(control(&mut stream, 2, register), (0, vec![0xea]));
        // Counters are those of all connections, and never go back.
        let report = server.report(&statistics);
        assert_eq!(report["urbs"]["succeeded"], 2 * (round + 1));
        assert_eq!(report["device"]["chip"]["reads"], round + 1);
    }
    // Garbage ends the connection, not the server.
    let mut stream = connect();
    import(&mut stream, "1-1");
    stream.write_all(&[0xff; 48]).unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert_eq!(rest.len(), DEVICE);
    assert!(server.0.try_wait().unwrap().is_none());
}

/// With no client, and with a client that sends nothing.
#[test]
fn signals_are_answered_while_no_host_is_there() {
    for silent in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (statistics, air) = (folder.path().join("stats.json"), folder.path().join("air.pcapng"));
        let (mut server, port) = Server::start(&statistics, &["--air".as_ref(), air.as_os_str()]);
        let client = silent.then(|| TcpStream::connect(("127.0.0.1", port)).unwrap());
        assert_eq!(server.report(&statistics)["urbs"]["submitted"], 0);
        std::fs::remove_file(&statistics).unwrap();
        assert_eq!(server.end(), Some(0));
        assert!(statistics.exists() && air.metadata().unwrap().len() > 0);
        drop(client);
    }
}

/// An interface that is deleted (or whose namespace goes) is ready forever, with nothing to read.
#[test]
fn an_interface_may_go_away() {
    let (_host, stdin) = UnixStream::pair().unwrap();
    let mut server = Server(
        Command::new("unshare")
            .args(["-Urn", env!("CARGO_BIN_EXE_txop-vusb"), "serve", "--fd", "0", "--ap", "builtin", "--tap", "vap0"])
            .stdin(OwnedFd::from(stdin))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let pid = server.0.id().to_string();
    let deleted = eventually("no interface", || {
        let mut command = Command::new("nsenter");
        command.args(["--preserve-credentials", "-U", "-n", "-t", &pid, "ip", "link", "del", "vap0"]);
        let done = command.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        (done || server.0.try_wait().unwrap().is_some()).then_some(done)
    });
    let mut said = BufReader::new(server.0.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    if !deleted {
        eprintln!("SKIPPED: no TAP device can be made here: {line}");
        return;
    }
    assert!(line.contains("vap0 is gone"), "{line}");
    let reads = || -> u64 {
        let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
        io.lines().find_map(|line| line.strip_prefix("syscr: ")).unwrap().parse().unwrap()
    };
    let before = reads();
    std::thread::sleep(Duration::from_millis(200));
    assert!(reads() - before < 10, "it reads what cannot be read");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn mistakes_are_said() {
    let said = |arguments: &[&str]| {
        let mut child =
            program().args(arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().map(Server).unwrap();
        let mut text = String::new();
        let stderr = child.0.stderr.take().unwrap();
        BufReader::new(stderr).lines().map_while(Result::ok).for_each(|line| text += &line);
        (child.0.wait().unwrap().code(), text)
    };
    let (code, text) = said(&["serve", "--ap", "none", "--efuse", "/does/not/exist"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("/does/not/exist"), "{text}");
    let (code, text) = said(&["serve", "--ap", "none", "--loss", "2"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("0 to 1"), "{text}");
    let (code, text) = said(&["serve", "--fd=-1"]);
    assert_eq!(code, Some(2), "{text}");
    if !Path::new("/sys/devices/platform/vhci_hcd.0").exists() {
        let (code, text) = said(&["attach", "--ap", "none"]);
        assert_eq!(code, Some(3));
        assert!(text.contains("modprobe vhci_hcd"), "{text}");
    }
}

#[test]
fn fault_scripts_are_checked_before_they_are_used() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let check = |path: &Path| program().arg("check-faults").arg(path).output().unwrap();
    let fault = check(&examples.join("faults/silent-control-once.toml"));
    let value: serde_json::Value = serde_json::from_slice(&fault.stdout).unwrap();
    assert_eq!((fault.status.code(), &value["access_point"]), (Some(0), &false.into()));
    assert_eq!(value["faults"].as_array().unwrap().len(), 1);
    let ap = check(&examples.join("access-point/channel-switch.toml"));
    let value: serde_json::Value = serde_json::from_slice(&ap.stdout).unwrap();
    assert_eq!((ap.status.code(), &value["access_point"]), (Some(0), &true.into()));
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("wrong.toml");
    std::fs::write(&wrong, "[[fault]]\naction = \"los\"\n").unwrap();
    let wrong = check(&wrong);
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(wrong.status.code() == Some(2) && said.contains("wrong.toml") && said.contains("`los`"), "{said}");
}

/// An option that does nothing for a device is refused, not ignored.
#[test]
fn the_interrupt_endpoint_is_timed_where_it_is_modelled() {
    let check = |device: &str| {
        let options = ["check-options", "--device", device, "--interrupt-us", "250"];
        program().args(options).output().unwrap()
    };
    assert!(check("rtl8188cus").status.success());
    for device in ["mt7610u", "mt7601u", "ncm"] {
        let refused = check(device);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("--interrupt-us"), "{refused:?}");
    }
}

/// An MT7601U is a station, and its efuse is not given.
#[test]
fn what_an_mt7601u_is_not_is_refused() {
    let check = |option: &str, value: &str| {
        let options = ["check-options", "--device", "mt7601u", option, value];
        let done = program().args(options).output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    for (option, value) in [("--stations=-45", "--strict-agreements"), ("--efuse", "/dev/null")] {
        let (code, said) = check(option, value);
        assert!(code == Some(2) && said.contains(option.split('=').next().unwrap()), "{said}");
    }
    assert_eq!(check("--assume", "tx-reports=16").0, Some(0));
}
