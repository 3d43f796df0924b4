//! The whole analysis of a capture file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let Ok(reader) = capture::Reader::from_read(std::io::Cursor::new(file.to_vec())) else { return };
    let _ = air::analyze_reader(reader, "fuzz".to_owned(), Default::default(), &mut ());
});
