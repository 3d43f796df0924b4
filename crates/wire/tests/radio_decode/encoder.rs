//! A radiotap writer of its own: it knows the alignments from the specification, not from the decoder.

/// Alignment of fields 0 to 27 (radiotap.org, "Defined fields"; the size is that of the data given).
const ALIGN: [usize; 28] = [8, 1, 1, 2, 2, 1, 1, 2, 2, 2, 1, 1, 1, 1, 2, 2, 1, 1, 4, 1, 4, 2, 8, 2, 2, 2, 1, 2];
/// Sizes of fields 0 to 27.
pub const SIZE: [usize; 28] = [8, 1, 1, 4, 2, 1, 1, 2, 2, 2, 1, 1, 1, 1, 2, 2, 1, 1, 8, 3, 8, 12, 12, 12, 12, 6, 1, 4];

/// What a padding byte holds: something that would be noticed as a value.
const PADDING: u8 = 0xa5;

/// One presence word and its data.
#[derive(Clone, Debug)]
pub enum Word {
    /// Fields of the radiotap namespace by number, ascending.
    Radiotap(Vec<(u32, Vec<u8>)>),
    /// Fields, then a list of type-length-value items: the last word.
    WithTlvs(Vec<(u32, Vec<u8>)>, Vec<(u16, Vec<u8>)>),
    /// Presence bits that only a vendor understands, and its data.
    Vendor(u32, Vec<u8>),
}

/// Writes a header.
pub fn header(words: &[Word]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 0];
    for (index, word) in words.iter().enumerate() {
        let mut present = match word {
            Word::Radiotap(fields) => fields.iter().fold(0, |bits, (field, _)| bits | 1 << field),
            Word::WithTlvs(fields, _) => fields.iter().fold(1 << 28, |bits, (field, _)| bits | 1 << field),
            Word::Vendor(bits, _) => bits & 0x0fff_ffff,
        };
        match words.get(index + 1) {
            Some(Word::Vendor(..)) => present |= 1 << 31 | 1 << 30,
            Some(_) => present |= 1 << 31 | 1 << 29,
            None => {}
        }
        bytes.extend_from_slice(&present.to_le_bytes());
    }
    for (index, word) in words.iter().enumerate() {
        match word {
            Word::Radiotap(fields) => write_fields(&mut bytes, fields),
            Word::WithTlvs(fields, tlvs) => {
                write_fields(&mut bytes, fields);
                pad(&mut bytes, 4);
                for (kind, data) in tlvs {
                    bytes.extend_from_slice(&kind.to_le_bytes());
                    bytes.extend_from_slice(&(data.len() as u16).to_le_bytes());
                    bytes.extend_from_slice(data);
                    pad(&mut bytes, 4);
                }
            }
            Word::Vendor(..) => {}
        }
        if let Some(Word::Vendor(_, data)) = words.get(index + 1) {
            pad(&mut bytes, 2);
            bytes.extend_from_slice(&[0x00, 0x03, 0x7f, 0x00]);
            bytes.extend_from_slice(&(data.len() as u16).to_le_bytes());
            bytes.extend_from_slice(data);
        }
    }
    let len = (bytes.len() as u16).to_le_bytes();
    bytes[2..4].copy_from_slice(&len);
    bytes
}

fn write_fields(bytes: &mut Vec<u8>, fields: &[(u32, Vec<u8>)]) {
    for (field, data) in fields {
        assert_eq!(data.len(), SIZE[*field as usize], "field {field}");
        pad(bytes, ALIGN[*field as usize]);
        bytes.extend_from_slice(data);
    }
}

fn pad(bytes: &mut Vec<u8>, to: usize) {
    while bytes.len() % to != 0 {
        bytes.push(PADDING);
    }
}

/// Little-endian words in a row.
pub fn le16s(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Little-endian words in a row.
pub fn le32s(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
