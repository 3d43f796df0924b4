//! BTF: the types of a Linux kernel, as it describes them itself (Linux Documentation/bpf/btf.rst).

/// First two bytes, little endian.
const MAGIC: u16 = 0xeb9f;
/// Bytes of a type's header and of a member.
const TYPE_LEN: usize = 12;
/// How far unnamed structures are looked into.
const DEPTH_MAX: u32 = 8;
/// Members that are looked at for one that is asked for, at most.
const MEMBERS_MAX: u32 = 1 << 20;

const STRUCT: u32 = 4;
const UNION: u32 = 5;

/// Types and their names.
#[derive(Clone, Debug)]
pub struct Btf<'a> {
    types: Vec<Type<'a>>,
    strings: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
struct Type<'a> {
    name: u32,
    info: u32,
    /// What follows the header.
    rest: &'a [u8],
}

impl Type<'_> {
    const fn kind(&self) -> u32 {
        self.info >> 24 & 0x1f
    }

    const fn is_compound(&self) -> bool {
        matches!(self.kind(), STRUCT | UNION)
    }

    /// The upper 8 bits of a member's place are the width of a bit field.
    const fn has_bit_fields(&self) -> bool {
        self.info >> 31 == 1
    }
}

fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Bytes that follow a type's header; `None`: a kind that is not known.
const fn rest_len(kind: u32, count: usize) -> Option<usize> {
    Some(match kind {
        // pointers, forward declarations, type definitions, qualifiers, functions, floats, tags of types
        2 | 7..=12 | 16 | 18 => 0,
        // integers, variables, tags of declarations
        1 | 14 | 17 => 4,
        // an array
        3 => 12,
        // structures, unions, sections of data, 64-bit enumerations
        STRUCT | UNION | 15 | 19 => 12 * count,
        // enumerations, parameters of functions
        6 | 13 => 8 * count,
        _ => return None,
    })
}

impl<'a> Btf<'a> {
    /// Reads types; `None`: they are not whole, or of a kind that is not known.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        if u16::from_le_bytes(*bytes.first_chunk()?) != MAGIC {
            return None;
        }
        let word = |at| le32(bytes, at).and_then(|word| usize::try_from(word).ok());
        let header = word(4)?;
        let part = |start: usize, len: usize| {
            let start = header.checked_add(start)?;
            bytes.get(start..start.checked_add(len)?)
        };
        let (mut left, strings) = (part(word(8)?, word(12)?)?, part(word(16)?, word(20)?)?);
        let mut types = Vec::new();
        while !left.is_empty() {
            let (name, info) = (le32(left, 0)?, le32(left, 4)?);
            let after = left.get(TYPE_LEN..)?;
            let (rest, next) = after.split_at_checked(rest_len(info >> 24 & 0x1f, (info & 0xffff) as usize)?)?;
            types.push(Type { name, info, rest });
            left = next;
        }
        Some(Self { types, strings })
    }

    fn name(&self, at: u32) -> &'a [u8] {
        let rest = self.strings.get(at as usize..).unwrap_or_default();
        rest.split(|&byte| byte == 0).next().unwrap_or_default()
    }

    /// Where a member of a structure or union begins, bytes; members of unnamed structures in it are its own.
    pub fn member_offset(&self, structure: &str, member: &str) -> Option<u32> {
        let mut named = self.types.iter().filter(|it| it.is_compound() && self.name(it.name) == structure.as_bytes());
        let mut left = MEMBERS_MAX;
        named.find_map(|found| self.bits_to(found, member.as_bytes(), DEPTH_MAX, &mut left)).map(|bits| bits / 8)
    }

    fn bits_to(&self, compound: &Type<'_>, member: &[u8], depth: u32, left: &mut u32) -> Option<u32> {
        compound.rest.chunks_exact(TYPE_LEN).find_map(|each| {
            *left = left.checked_sub(1)?;
            let (name, number, place) = (self.name(le32(each, 0)?), le32(each, 4)?, le32(each, 8)?);
            let bits = if compound.has_bit_fields() { place & 0x00ff_ffff } else { place };
            if name == member {
                return Some(bits);
            }
            if !name.is_empty() || depth == 0 {
                return None;
            }
            // Number 0 is void.
            let inner = self.types.get((number as usize).checked_sub(1)?).filter(|it| it.is_compound())?;
            bits.checked_add(self.bits_to(inner, member, depth - 1, left)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct sk_buff { union { struct { long next; }; long list; }; int flags:1; char *data; }`, with an integer before it.
    fn types() -> Vec<u8> {
        let names = ["", "long", "sk_buff", "next", "list", "flags", "data"];
        let mut strings = Vec::new();
        let places: Vec<u32> = names
            .iter()
            .map(|name| {
                let at = strings.len() as u32;
                strings.extend(name.as_bytes());
                strings.push(0);
                at
            })
            .collect();
        let [none, long, sk_buff, next, list, flags, data] = places[..] else { panic!("seven names") };
        let words: [&[u32]; 5] = [
            &[long, 1 << 24, 8, 64],
            &[none, STRUCT << 24 | 1, 8, next, 1, 0],
            &[none, UNION << 24 | 2, 8, none, 2, 0, list, 1, 0],
            &[none, 2 << 24, 1],
            &[sk_buff, 1 << 31 | STRUCT << 24 | 3, 24, none, 3, 0, flags, 1, 1 << 24 | 64, data, 4, 128],
        ];
        let types: Vec<u8> = words.concat().iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        let lens = [24, 0, types.len() as u32, types.len() as u32, strings.len() as u32];
        bytes.extend(lens.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(types);
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn members_are_found_where_they_are() {
        let bytes = types();
        let btf = Btf::parse(&bytes).expect("types");
        let place = |member| btf.member_offset("sk_buff", member);
        assert_eq!(
            [place("next"), place("list"), place("flags"), place("data")],
            [Some(0), Some(0), Some(8), Some(16)]
        );
        assert_eq!((place("tail"), btf.member_offset("sock", "data")), (None, None));
    }

    #[test]
    fn what_is_cut_is_not_types() {
        let bytes = types();
        for len in 0..bytes.len() {
            assert!(Btf::parse(&bytes[..len]).is_none(), "{len}");
        }
    }

    proptest::proptest! {
        #[test]
        fn anything_is_read(mut bytes: Vec<u8>, places: [u32; 4]) {
            let _ = Btf::parse(&bytes).map(|btf| btf.member_offset("a", "b"));
            let mut whole = vec![0x9f, 0xeb, 1, 0, 24, 0, 0, 0];
            whole.extend(places.iter().flat_map(|place| (place % 64).to_le_bytes()));
            whole.append(&mut bytes);
            let _ = Btf::parse(&whole).map(|btf| btf.member_offset("", ""));
        }
    }
}
