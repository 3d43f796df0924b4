//! The report must not depend on how the capture's bytes arrive.

use std::io::{Cursor, Read};
use std::time::Duration;

use capture::Reader;
use specimen::Scene;

/// Delivers everything, with a rest before some of the bytes.
struct Hesitant {
    bytes: Cursor<Vec<u8>>,
    rests_at: Vec<u64>,
}

impl Read for Hesitant {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut len = buffer.len();
        if let Some(at) = self.rests_at.first().copied() {
            if self.bytes.position() >= at {
                self.rests_at.remove(0);
                std::thread::sleep(Duration::from_millis(250));
            } else {
                len = len.min((at - self.bytes.position()) as usize);
            }
        }
        self.bytes.read(&mut buffer[..len])
    }
}

fn report(bytes: Vec<u8>, rests_at: Vec<u64>) -> serde_json::Value {
    let reader = Reader::from_read(Hesitant { bytes: Cursor::new(bytes), rests_at }).expect("a capture");
    let report = txop_air::analyze_reader(reader, "test".to_owned(), Default::default(), &mut ()).expect("a report");
    serde_json::to_value(&report).expect("plain data")
}

/// A pipe that rests hands over batches of other sizes; the time stamps are calibrated on the same frames all the same.
#[test]
fn a_hesitant_pipe_changes_nothing() {
    let mut scene = Scene::preset("lossy").expect("a preset");
    scene.seconds = 30.0;
    let mut bytes = Vec::new();
    specimen::write(&scene, &mut bytes).expect("a capture");
    let at_once = report(bytes.clone(), Vec::new());
    assert!(at_once["frames"].as_u64() > Some(40_000), "{} frames: too few for the test", at_once["frames"]);
    assert_eq!(report(bytes, vec![10_000, 333_333, 777_777]), at_once);
}
