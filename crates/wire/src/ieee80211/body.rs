//! The body of a data frame: what of its length is security, A-MSDU and LLC overhead, and what is payload.
//!
//! Lengths are computed from the length on the air, not from the captured length: a capture cut by a snap length still
//! gives the right payload. What encryption hides is assumed, and [`DataBody::assumed`] says so.

use super::{Header, MacAddr};

/// LLC and SNAP headers of an encapsulated Ethernet frame up to its EtherType (RFC 1042).
pub const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];

/// A pairwise or group cipher that protects data frames (12.3, 12.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cipher {
    /// WEP-40 or WEP-104.
    Wep,
    /// TKIP.
    Tkip,
    /// CCMP-128.
    Ccmp128,
    /// CCMP-256.
    Ccmp256,
    /// GCMP-128.
    Gcmp128,
    /// GCMP-256.
    Gcmp256,
}

impl Cipher {
    /// Bytes between MAC header and encrypted data: IV, or IV and Extended IV, or CCMP/GCMP header.
    #[inline]
    pub const fn header_len(self) -> usize {
        match self {
            Self::Wep => 4,
            _ => 8,
        }
    }

    /// Bytes at the end of an MPDU that belongs to an unfragmented MSDU: MIC and ICV.
    ///
    /// TKIP's 8-byte MIC protects the MSDU and is only in its last fragment.
    #[inline]
    pub const fn trailer_len(self) -> usize {
        match self {
            Self::Wep => 4,
            Self::Tkip => 12,
            Self::Ccmp128 => 8,
            Self::Ccmp256 | Self::Gcmp128 | Self::Gcmp256 => 16,
        }
    }

    /// Guesses from the first bytes of a protected frame body.
    ///
    /// - Extended IV bit clear: WEP.
    /// - Third byte 0, as in every CCMP and GCMP header (reserved there): taken for CCMP-128, by far the most common.
    ///   GCMP and CCMP-256 look the same: pass the cipher from the RSN element where it is known.
    /// - Otherwise second byte equal to `(first | 0x20) & 0x7f`, as TKIP requires: TKIP.
    /// - Otherwise `None`: damaged, or cut before the fourth byte.
    ///
    /// One TKIP frame in 256 (TSC0 = 0) is taken for CCMP: for these [`Cipher::is_doubtful`] holds, and only other frames
    /// under the same key show.
    #[inline]
    pub const fn guess(body: &[u8]) -> Option<Self> {
        match body {
            [_, _, _, key_id, ..] if *key_id & 0x20 == 0 => Some(Self::Wep),
            [_, _, 0, _, ..] => Some(Self::Ccmp128),
            [first, second, _, _, ..] if *second == (*first | 0x20) & 0x7f => Some(Self::Tkip),
            _ => None,
        }
    }

    /// The header is one of both CCMP and TKIP, as those of one TKIP frame in 256 and of one CCMP frame in 256 are.
    #[inline]
    pub const fn is_doubtful(body: &[u8]) -> bool {
        matches!(body, [first, second, 0, key_id, ..] if *key_id & 0x20 != 0 && *second == (*first | 0x20) & 0x7f)
    }

    /// The name used on certificates and in configuration files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wep => "WEP",
            Self::Tkip => "TKIP",
            Self::Ccmp128 => "CCMP",
            Self::Ccmp256 => "CCMP-256",
            Self::Gcmp128 => "GCMP",
            Self::Gcmp256 => "GCMP-256",
        }
    }
}

/// How the body of one data MPDU divides. The five lengths sum to the body's length on the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataBody {
    /// The cipher used for the division; `None` when the frame is not protected or the cipher cannot be determined.
    pub cipher: Option<Cipher>,
    /// Security header and trailer, bytes.
    pub security_len: usize,
    /// Mesh Control, bytes.
    pub mesh_len: usize,
    /// A-MSDU subframe headers and padding, bytes. Of an encrypted A-MSDU: one subframe header, the least there can be.
    pub amsdu_len: usize,
    /// LLC and SNAP headers, bytes (8 for each MSDU that begins here).
    pub llc_len: usize,
    /// The rest: what the layer above 802.11 gave, for IP traffic the IP packets, bytes.
    pub payload_len: usize,
    /// MSDUs that begin in this MPDU; of an encrypted A-MSDU `None`.
    pub msdus: Option<u16>,
    /// EtherType of the (first) MSDU, where it is visible.
    pub ethertype: Option<u16>,
    /// Encryption or a snap length hid what `llc_len` and `amsdu_len` say: they are what such frames usually have.
    pub assumed: bool,
}

impl DataBody {
    /// Divides the body of a data frame.
    ///
    /// - `header`: its parsed header.
    /// - `body`: the captured bytes after the header, FCS included or not.
    /// - `air_body_len`: bytes between header and FCS as they were on the air (original length less link header, MAC
    ///   header, padding and FCS).
    /// - `cipher`: the cipher, if it is known from the RSN element; else it is guessed with [`Cipher::guess`].
    ///
    /// `None` for frames that are not data or carry none.
    pub fn divide(header: &Header, body: &[u8], air_body_len: usize, cipher: Option<Cipher>) -> Option<Self> {
        if !header.fc.carries_data() {
            return None;
        }
        let body = body.get(..air_body_len.min(body.len()))?;
        let mut left = Left(air_body_len);
        let mut divided = Self::default();
        let clear = if header.fc.protected() {
            divided.cipher = cipher.or_else(|| Cipher::guess(body));
            if let Some(cipher) = divided.cipher {
                let trailer = match cipher {
                    Cipher::Tkip if header.fc.more_fragments() => 4,
                    _ => cipher.trailer_len(),
                };
                divided.security_len = left.take(cipher.header_len() + trailer);
            }
            None
        } else {
            Some(body)
        };
        let clear = clear.map(|body| {
            divided.mesh_len = left.take(mesh_control_len(header, body));
            body.get(divided.mesh_len..).unwrap_or(&[])
        });
        if header.is_amsdu() {
            divided.divide_amsdu(clear, &mut left);
        } else if header.fragment != Some(0) {
            // A later fragment continues an MSDU with a LLC header that went with the first one.
            divided.msdus = Some(0);
        } else {
            divided.msdus = Some(1);
            let llc = clear.map_or(Llc::Hidden, llc);
            divided.ethertype = llc.ethertype();
            divided.assumed = llc == Llc::Hidden;
            divided.llc_len = left.take(llc.len());
        }
        divided.payload_len = left.0;
        Some(divided)
    }

    fn divide_amsdu(&mut self, clear: Option<&[u8]>, left: &mut Left) {
        let Some(body) = clear else {
            self.amsdu_len = left.take(AMSDU_HEADER_LEN);
            self.llc_len = left.take(LLC_SNAP_LEN);
            self.assumed = true;
            return;
        };
        let mut msdus = 0u16;
        for subframe in Amsdu::new(body, left.0) {
            let llc = llc(subframe.msdu);
            self.amsdu_len += left.take(AMSDU_HEADER_LEN + subframe.pad_len);
            self.llc_len += left.take(llc.len().min(subframe.len));
            self.assumed |= llc == Llc::Hidden;
            self.ethertype = self.ethertype.or(llc.ethertype());
            msdus = msdus.saturating_add(1);
        }
        self.msdus = Some(msdus);
        // Subframes beyond the snap length were not counted.
        self.assumed |= body.len() < left.0 || msdus == 0;
    }
}

/// Bytes not yet given to anything.
struct Left(usize);

impl Left {
    fn take(&mut self, wanted: usize) -> usize {
        let taken = wanted.min(self.0);
        self.0 -= taken;
        taken
    }
}

const LLC_SNAP_LEN: usize = 8;
const AMSDU_HEADER_LEN: usize = 14;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Llc {
    Snap(u16),
    Other,
    Hidden,
}

impl Llc {
    const fn len(self) -> usize {
        match self {
            Self::Snap(_) | Self::Hidden => LLC_SNAP_LEN,
            Self::Other => 0,
        }
    }

    const fn ethertype(self) -> Option<u16> {
        match self {
            Self::Snap(ethertype) => Some(ethertype),
            _ => None,
        }
    }
}

/// EtherType and packet of an MSDU that begins with LLC and SNAP, with the OUI of encapsulated Ethernet or of bridge tunnels.
#[inline]
pub fn snap(msdu: &[u8]) -> Option<(u16, &[u8])> {
    match msdu.split_first_chunk::<LLC_SNAP_LEN>()? {
        ([0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00 | 0xf8, high, low], packet) => {
            Some((u16::from_be_bytes([*high, *low]), packet))
        }
        _ => None,
    }
}

/// LLC at the start of an MSDU: SNAP, or another LLC, with a header that counts as payload.
fn llc(msdu: &[u8]) -> Llc {
    match snap(msdu) {
        Some((ethertype, _)) => Llc::Snap(ethertype),
        None if msdu.len() >= LLC_SNAP_LEN => Llc::Other,
        None => Llc::Hidden,
    }
}

/// Mesh Control (9.2.4.7.3) at the start of an unprotected body. Bit 8 of QoS Control means "present" only within a
/// mesh BSS, so the frame must have four addresses and the reserved flag bits must be 0.
fn mesh_control_len(header: &Header, body: &[u8]) -> usize {
    let says_present = header.addr4.is_some() && header.qos.is_some_and(|qos| qos.mesh_control_present());
    match body.first() {
        Some(flags @ 0..=2) if says_present => 6 + 6 * usize::from(*flags),
        _ => 0,
    }
}

/// One A-MSDU subframe (9.3.2.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmsduSubframe<'a> {
    /// DA.
    pub destination: MacAddr,
    /// SA.
    pub source: MacAddr,
    /// Bytes of the MSDU, LLC included, as the subframe header says.
    pub len: usize,
    /// Padding to a multiple of four bytes after this subframe; 0 after the last.
    pub pad_len: usize,
    /// The captured bytes of the MSDU: fewer than `len` where the capture is cut.
    pub msdu: &'a [u8],
}

/// Iterator over the subframes of an unprotected A-MSDU. Ends where a length would leave the A-MSDU, which a damaged
/// frame's does, and where the capture is cut inside a subframe header.
#[derive(Clone, Copy, Debug)]
pub struct Amsdu<'a> {
    body: &'a [u8],
    air_len: usize,
}

impl<'a> Amsdu<'a> {
    /// `body`: captured bytes, from the first subframe on. `air_len`: bytes of the A-MSDU on the air, without FCS.
    pub const fn new(body: &'a [u8], air_len: usize) -> Self {
        Self { body, air_len }
    }
}

impl<'a> Iterator for Amsdu<'a> {
    type Item = AmsduSubframe<'a>;

    fn next(&mut self) -> Option<AmsduSubframe<'a>> {
        let body = self.body.get(..self.body.len().min(self.air_len))?;
        let destination = MacAddr::read(body, 0)?;
        let source = MacAddr::read(body, 6)?;
        let len = usize::from(u16::from_be_bytes(body.get(12..14)?.try_into().ok()?));
        let end = AMSDU_HEADER_LEN + len;
        if end > self.air_len {
            self.body = &[];
            return None;
        }
        let msdu = body.get(AMSDU_HEADER_LEN..end.min(body.len()))?;
        // The standard leaves the last subframe unpadded; many chips pad it all the same.
        let pad_len = (end.next_multiple_of(4) - end).min(self.air_len - end);
        self.body = body.get(end + pad_len..).unwrap_or(&[]);
        self.air_len -= end + pad_len;
        Some(AmsduSubframe { destination, source, len, pad_len, msdu })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SNAP_IP: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0x00];

    fn header(fc: [u8; 2], sequence_control: u8, qos: &[u8]) -> Header {
        let mut bytes = vec![fc[0], fc[1]];
        bytes.resize(24, 2);
        bytes[22] = sequence_control;
        bytes.extend(qos);
        Header::parse(&bytes, false).unwrap()
    }

    fn total(body: &DataBody) -> usize {
        body.security_len + body.mesh_len + body.amsdu_len + body.llc_len + body.payload_len
    }

    #[test]
    fn a_plain_ip_packet_loses_only_its_llc_header() {
        let body = [&SNAP_IP[..], &[0x45; 100]].concat();
        let divided = DataBody::divide(&header([0x08, 1], 0, &[]), &body, 108, None).unwrap();
        assert_eq!((divided.llc_len, divided.payload_len, divided.ethertype), (8, 100, Some(0x0800)));
        assert!(!divided.assumed);
    }

    #[test]
    fn ciphers_are_told_apart_by_their_headers() {
        assert_eq!(Cipher::guess(&[1, 2, 3, 0x40]), Some(Cipher::Wep), "no Extended IV");
        assert_eq!(Cipher::guess(&[1, 0, 0, 0x20]), Some(Cipher::Ccmp128), "reserved byte is 0");
        assert_eq!(Cipher::guess(&[0x81, 0x21, 7, 0x20]), Some(Cipher::Tkip), "WEPSeed[1]");
        assert_eq!(Cipher::guess(&[0x81, 0x55, 7, 0x20]), None, "neither");
        assert_eq!(Cipher::guess(&[1, 0, 0]), None);
        assert!(Cipher::is_doubtful(&[0x81, 0x21, 0, 0x20]) && !Cipher::is_doubtful(&[0x81, 0x21, 0, 0]));
        assert!(!Cipher::is_doubtful(&[0x81, 0x21, 7, 0x20]) && !Cipher::is_doubtful(&[0x81, 0x55, 0, 0x20]));
    }

    #[test]
    fn protected_frames_pay_for_their_cipher() {
        let qos = header([0x88, 0x41], 0, &[0, 0]);
        let ccmp = [5, 0, 0, 0x20, 0, 0, 0, 0];
        let divide = |cipher| DataBody::divide(&qos, &ccmp, 1524, cipher).unwrap();
        // 1500-byte IP packet: 8 CCMP header, 8 LLC, 1500, 8 MIC.
        assert_eq!((divide(None).security_len, divide(None).payload_len), (16, 1500));
        assert!(divide(None).assumed);
        assert_eq!(divide(Some(Cipher::Gcmp256)).security_len, 24);
        assert_eq!(divide(Some(Cipher::Tkip)).security_len, 20);
        assert_eq!(divide(Some(Cipher::Wep)).security_len, 8);
        // A TKIP fragment that is not the last has an ICV but no MIC.
        let fragment = header([0x08, 0x45], 0, &[]);
        assert_eq!(DataBody::divide(&fragment, &ccmp, 500, Some(Cipher::Tkip)).unwrap().security_len, 12);
    }

    #[test]
    fn later_fragments_have_no_llc_header() {
        let divided = DataBody::divide(&header([0x08, 1], 1, &[]), &[0xaa; 50], 50, None).unwrap();
        assert_eq!((divided.llc_len, divided.payload_len, divided.msdus), (0, 50, Some(0)));
    }

    #[test]
    fn frames_without_body_are_not_divided() {
        assert_eq!(DataBody::divide(&header([0x48, 1], 0, &[]), &[], 0, None), None);
        assert_eq!(DataBody::divide(&header([0x80, 0], 0, &[]), &[0; 50], 50, None), None);
    }

    fn amsdu(lens: &[usize]) -> Vec<u8> {
        let mut body = vec![];
        for (index, len) in lens.iter().enumerate() {
            body.extend([2, 0, 0, 0, 0, index as u8, 2, 0, 0, 0, 1, 0]);
            body.extend(((len + 8) as u16).to_be_bytes());
            body.extend(SNAP_IP);
            body.resize(body.len() + len, 0x45);
            if index + 1 < lens.len() {
                body.resize(body.len().next_multiple_of(4), 0);
            }
        }
        body
    }

    #[test]
    fn amsdu_subframes_are_counted() {
        let body = amsdu(&[101, 40]);
        // 14 + 109 + 1 pad + 14 + 48.
        assert_eq!(body.len(), 186);
        let divided = DataBody::divide(&header([0x88, 2], 0, &[0x80, 0]), &body, body.len(), None).unwrap();
        assert_eq!((divided.msdus, divided.payload_len), (Some(2), 141));
        assert_eq!((divided.amsdu_len, divided.llc_len, divided.assumed), (29, 16, false));
        // With the FCS in the captured bytes nothing changes.
        let with_fcs = [&body[..], &[1, 2, 3, 4]].concat();
        assert_eq!(DataBody::divide(&header([0x88, 2], 0, &[0x80, 0]), &with_fcs, body.len(), None), Some(divided));
        // A snap length in the second subframe's header: one MSDU is seen, and that it is not all is said.
        let cut = DataBody::divide(&header([0x88, 2], 0, &[0x80, 0]), &body[..130], body.len(), None).unwrap();
        assert_eq!((cut.msdus, cut.assumed, total(&cut)), (Some(1), true, body.len()));
    }

    #[test]
    fn a_length_beyond_the_amsdu_ends_the_walk() {
        let mut body = amsdu(&[10, 10]);
        body[12] = 0xff;
        assert_eq!(Amsdu::new(&body, body.len()).count(), 0);
    }

    proptest! {
        #[test]
        fn never_panics_and_parts_sum_to_the_whole(
            fc1: u8, qos: [u8; 2], body in proptest::collection::vec(any::<u8>(), 0..200), air in 0usize..400,
        ) {
            let mut bytes = vec![0x88, fc1];
            bytes.resize(30, 2);
            bytes.extend(qos);
            bytes.resize(36, 0);
            let header = Header::parse(&bytes, false).unwrap();
            for cipher in [None, Some(Cipher::Tkip), Some(Cipher::Gcmp256)] {
                let divided = DataBody::divide(&header, &body, air, cipher).unwrap();
                prop_assert_eq!(total(&divided), air);
            }
        }

        #[test]
        fn built_amsdus_are_walked(lens in proptest::collection::vec(0usize..300, 1..8)) {
            let body = amsdu(&lens);
            let seen: Vec<_> = Amsdu::new(&body, body.len()).map(|subframe| subframe.len - 8).collect();
            prop_assert_eq!(seen, lens);
        }
    }
}
