//! The capture reader: pcap, pcapng, gzip, zstd.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let Ok(mut reader) = capture::Reader::from_read(std::io::Cursor::new(file.to_vec())) else { return };
    let mut records = 0;
    while let Ok(Some(record)) = reader.next() {
        records += 1;
        assert_eq!(record.number, records);
    }
    let _ = (reader.sections().len(), reader.interfaces().len(), reader.drops(), reader.bytes_read());
});
