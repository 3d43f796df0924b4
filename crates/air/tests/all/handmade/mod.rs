//! Captures made frame by frame, for what no preset shows.

use capture::{PcapSettings, PcapWriter, Reader};
use txop_air::report::Report;
use wire::linktype::LinkType;

pub type Address = [u8; 6];
pub const BROADCAST: Address = [0xff; 6];

/// Frames with radiotap headers, 10 ms from one to the next.
pub struct Handmade {
    mhz: u16,
    at_ms: i64,
    records: Vec<(i64, Vec<u8>)>,
}

impl Handmade {
    /// Heard on a channel with this centre frequency.
    pub fn on(mhz: u16) -> Self {
        Self { mhz, at_ms: 0, records: Vec::new() }
    }

    /// The receiver goes to another channel.
    pub fn tune(&mut self, mhz: u16) {
        self.mhz = mhz;
    }

    /// The next record has the time of the one before.
    pub fn same_instant(&mut self) {
        self.at_ms -= if self.records.is_empty() { 0 } else { 10 };
    }

    /// Nothing is heard for this long, beside the usual 10 ms.
    pub fn pause(&mut self, ms: i64) {
        self.at_ms += ms;
    }

    /// A frame: Frame Control, addresses 1 to 3, and what follows the Sequence Control field. At 6 Mb/s, -50 dBm.
    pub fn frame(&mut self, fc: u16, addresses: [Address; 3], body: &[u8]) {
        let signal: i8 = -50;
        let mut record = vec![0, 0, 15, 0, 0x2e, 0, 0, 0, 0, 12];
        record.extend(self.mhz.to_le_bytes());
        record.extend(if self.mhz < 3_000 { [0xc0, 0x00] } else { [0x40, 0x01] });
        record.extend(signal.to_le_bytes());
        self.behind(record, fc, addresses, body);
    }

    /// The sequence number that the next frame gets.
    pub fn next_sequence(&self) -> u16 {
        self.records.len() as u16 & 0xfff
    }

    /// As [`Self::frame`], with a sequence number.
    pub fn numbered(&mut self, fc: u16, addresses: [Address; 3], number: u16, body: &[u8]) {
        let mut record = vec![0, 0, 9, 0, 0x04, 0, 0, 0, 12];
        record.extend(fc.to_le_bytes());
        record.extend([0, 0]);
        addresses.iter().for_each(|address| record.extend(address));
        record.extend(((number & 0xfff) << 4).to_le_bytes());
        record.extend(body);
        self.raw(record);
    }

    /// A frame behind this radiotap header.
    pub fn behind(&mut self, radiotap: Vec<u8>, fc: u16, addresses: [Address; 3], body: &[u8]) {
        let mut record = radiotap;
        record.extend(fc.to_le_bytes());
        record.extend([0, 0]);
        addresses.iter().for_each(|address| record.extend(address));
        record.extend((((self.records.len() as u16) & 0xfff) << 4).to_le_bytes());
        record.extend(body);
        self.raw(record);
    }

    /// A record as it is, from the radiotap header on.
    pub fn raw(&mut self, record: Vec<u8>) {
        self.records.push((self.at_ms, record));
        self.at_ms += 10;
    }

    /// A beacon with this Capability Information and these elements.
    pub fn beacon(&mut self, bssid: Address, info: u16, elements: &[u8]) {
        let mut body = (self.records.len() as u64 * 102_400).to_le_bytes().to_vec();
        body.extend(100u16.to_le_bytes());
        body.extend(info.to_le_bytes());
        body.extend(elements);
        self.frame(0x0080, [BROADCAST, bssid, bssid], &body);
    }

    /// A data frame from a station to its access point.
    pub fn uplink(&mut self, station: Address, bssid: Address, body: &[u8]) {
        self.frame(0x0108, [bssid, station, bssid], body);
    }

    /// An Action frame from `from` to `to`.
    pub fn action(&mut self, from: Address, to: Address, bssid: Address, body: &[u8]) {
        self.frame(0x00d0, [to, from, bssid], body);
    }

    /// The pcap file.
    pub fn file(&self) -> Vec<u8> {
        let settings = PcapSettings::nanos(LinkType::IEEE802_11_RADIOTAP);
        let mut writer = PcapWriter::new(Vec::new(), settings).expect("memory");
        for (at_ms, record) in &self.records {
            writer.write(at_ms * 1_000_000, record.len() as u32, record).expect("memory");
        }
        writer.into_inner()
    }

    /// What txop makes of it.
    pub fn report(&self) -> Report {
        self.report_with(Default::default())
    }

    /// What it makes of it with these options.
    pub fn report_with(&self, options: txop_air::Options) -> Report {
        let reader = Reader::from_read(std::io::Cursor::new(self.file())).expect("a capture");
        txop_air::analyze_reader(reader, "handmade".to_owned(), options, &mut ()).expect("a report")
    }
}

/// One element.
pub fn element(id: u8, data: &[u8]) -> Vec<u8> {
    [&[id, data.len() as u8], data].concat()
}

/// 80 MHz: 484 tones for one user, then 242 and 242; the unit in the middle is empty.
pub fn shared_out() -> wire::radiotap::HeMu {
    wire::radiotap::HeMu {
        sig_b_mcs: Some(0),
        sig_b_dcm: Some(false),
        sig_b_compression: Some(false),
        symbols_or_users: Some(3),
        width: Some(wire::phy::Bandwidth::Mhz80),
        puncturing: Some(0),
        channels: [Some([200, 192, 0, 0]), Some([114, 192, 0, 0])],
        center: [Some(false), None],
    }
}

/// TSFT, channel, HE, HE-MU and L-SIG of an HE PPDU of 80 MHz in 6 GHz: its format, this unit (code of data5), L-SIG LENGTH
/// and HE-MU field.
pub fn signalled(format: u16, tsft_us: u64, unit: u16, l_sig: u16, he_mu: &wire::radiotap::HeMu) -> Vec<u8> {
    let mut bytes = tsft_us.to_le_bytes().to_vec();
    bytes.extend(6_135u16.to_le_bytes());
    bytes.extend([0x40, 0x01]);
    // 80 MHz: in HE-MU's flags2 of a downlink PPDU, in data6 of a trigger-based one.
    let data6 = if format == 3 { 1 | 0x0020 | 2 << 6 } else { 1 };
    let he = [0x4020 | format, 0x0002, 0, 0, unit, data6];
    he.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend(he_mu.emit());
    bytes.extend(2u16.to_le_bytes());
    bytes.extend((l_sig << 4).to_le_bytes());
    let present: u32 = 1 | 1 << 3 | 1 << 23 | 1 << 24 | 1 << 27;
    let mut header = vec![0, 0];
    header.extend((8 + bytes.len() as u16).to_le_bytes());
    header.extend(present.to_le_bytes());
    header.extend(bytes);
    header
}
