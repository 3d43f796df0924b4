//! The program as a server: a host imports the device over TCP, and over an inherited socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use wire::usb::setup::Setup;
use wire::usb::usbip::{self, Completion, Submit, BUS_ID, DEVICE, HEADER, REQUEST};

/// Ends the program, whatever becomes of the test.
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

/// A port that nobody uses now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Connects to a server that is about to listen.
fn connect(port: u16) -> TcpStream {
    let started = Instant::now();
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => break stream,
            Err(error) if started.elapsed() > Duration::from_secs(60) => panic!("{error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Sends a signal to the server.
fn signal(server: &Server, number: &str) {
    assert!(Command::new("kill").args([number, &server.0.id().to_string()]).status().unwrap().success());
}

/// How it ended; a server that does not is the failure that the test looks for.
fn ended(server: &mut Server) -> ExitStatus {
    let started = Instant::now();
    loop {
        match server.0.try_wait().unwrap() {
            Some(status) => break status,
            None if started.elapsed() > Duration::from_secs(60) => panic!("the server does not end"),
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// The counters, as soon as the server has written them anew.
fn statistics(path: &Path) -> serde_json::Value {
    let started = Instant::now();
    loop {
        match std::fs::read(path) {
            Ok(bytes) => break serde_json::from_slice(&bytes).unwrap(),
            Err(error) if started.elapsed() > Duration::from_secs(60) => panic!("{error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[test]
fn a_host_imports_the_device_and_comes_back() {
    let port = free_port();
    let folder = tempfile::tempdir().unwrap();
    let (stats, usb) = (folder.path().join("stats.json"), folder.path().join("usb.pcap"));
    let mut server = Server(
        program()
            .args(["serve", "--ap", "none", "--listen", &format!("127.0.0.1:{port}")])
            .args(["--stats".as_ref(), stats.as_os_str(), "--usb".as_ref(), usb.as_os_str()])
            .spawn()
            .unwrap(),
    );
    assert_eq!(import(&mut connect(port), "9-9"), [0x01, 0x11, 0, 3, 0, 0, 0, 4]);
    for round in 0..2 {
        let mut stream = connect(port);
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
    }
    // Garbage ends the connection, not the server.
    let mut stream = connect(port);
    import(&mut stream, "1-1");
    stream.write_all(&[0xff; 48]).unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert_eq!(rest.len(), DEVICE);
    assert!(server.0.try_wait().unwrap().is_none());
    // Nobody is connected: it answers signals all the same, and counts what all hosts did.
    let _ = std::fs::remove_file(&stats);
    signal(&server, "-USR1");
    assert_eq!(statistics(&stats)["urbs"]["submitted"], 4);
    let mut stream = connect(port);
    import(&mut stream, "1-1");
    stream.read_exact(&mut [0; DEVICE]).unwrap();
    control(&mut stream, 1, Setup { request_type: 0xc0, request: 5, value: 0x100, index: 0, length: 1 });
    std::fs::remove_file(&stats).unwrap();
    signal(&server, "-USR1");
    assert_eq!(statistics(&stats)["urbs"]["submitted"], 5);
    drop(stream);
    // A client that never asks for anything does not keep it from ending.
    let _silent = connect(port);
    std::fs::remove_file(&stats).unwrap();
    signal(&server, "-TERM");
    assert_eq!(ended(&mut server).code(), Some(0));
    assert_eq!(statistics(&stats)["urbs"]["succeeded"], 5);
    assert!(std::fs::metadata(&usb).unwrap().len() > 24);
}

/// A deleted interface counts as readable for ever. (In a user namespace: nothing of this machine is touched.)
#[test]
fn an_interface_that_is_deleted_is_let_go_of() {
    let in_namespace = |script: &str| {
        let mut command = Command::new("timeout");
        command.args(["60", "unshare", "-Urn", "sh", "-c", script, env!("CARGO_BIN_EXE_txop-vusb")]);
        command
    };
    let possible = in_namespace("ip tuntap add dev t0 mode tap").stderr(Stdio::null()).status();
    if !possible.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no TAP devices in a user namespace here");
        return;
    }
    let script = "\"$0\" serve --ap builtin --tap vap0 --listen 0.0.0.0:3240 & server=$!
        until ip link del vap0 2>/dev/null; do kill -0 $server || exit 1; done
        # it sleeps between beacons again
        until grep -q '^State:.S' /proc/$server/status; do kill -0 $server || exit 2; done
        kill -TERM $server; wait $server";
    let output = in_namespace(script).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("the interface vap0 is gone").count(), 1, "{said}");
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
    if !std::path::Path::new("/sys/devices/platform/vhci_hcd.0").exists() {
        let (code, text) = said(&["attach", "--ap", "none"]);
        assert_eq!(code, Some(3));
        assert!(text.contains("modprobe vhci_hcd"), "{text}");
    }
}
