//! What of a device is saved, so that another process continues with it.
//!
//! A device is made again from the same options, and then [`State::restore`] puts into it what [`State::save`] wrote: queues,
//! timers, counters, registers, random sources. What options decide is not saved. Data are saved by serde, in postcard's
//! format; what also holds settings, files or other devices names its fields with [`state!`](crate::state!), all of them, so
//! that a new field has to be either saved or made.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use serde::de::DeserializeOwned;
use serde::Serialize;

/// Why nothing can be saved or restored.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The device does not implement it.
    #[error("this device cannot be saved")]
    NotSaved,
    /// The state is not one of this version, or not of such a device.
    #[error("this is not the state of such a device: {0}")]
    Format(#[from] postcard::Error),
    /// More is there than was read, or less.
    #[error("this is not the state of such a device: it has another length")]
    Length,
    /// What the caller says.
    #[error("this state cannot be taken: {0}")]
    Other(String),
    /// A file that is continued.
    #[error("{0}")]
    File(#[from] io::Error),
}

/// Takes what is saved, in order.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Writes a value.
    ///
    /// # Errors
    /// It has no such form.
    pub fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StateError> {
        self.0 = postcard::to_extend(value, std::mem::take(&mut self.0))?;
        Ok(())
    }

    /// All of it.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Gives what was saved, in the same order.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Of bytes of [`Writer::into_bytes`].
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads a value.
    ///
    /// # Errors
    /// There is none.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<T, StateError> {
        let (value, rest) = postcard::take_from_bytes(self.0)?;
        self.0 = rest;
        Ok(value)
    }

    /// Everything has to be read.
    ///
    /// # Errors
    /// Something is left.
    pub const fn end(self) -> Result<(), StateError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(StateError::Length)
        }
    }
}

/// What is saved and restored in place.
pub trait State {
    /// Writes what has changed since it was made, or could have.
    ///
    /// # Errors
    /// See [`StateError`].
    fn save(&self, to: &mut Writer) -> Result<(), StateError>;

    /// Takes it, into one that was made in the same way.
    ///
    /// # Errors
    /// See [`StateError`]; it is not to be used then.
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), StateError>;
}

impl<T: Serialize + DeserializeOwned> State for T {
    fn save(&self, to: &mut Writer) -> Result<(), StateError> {
        to.put(self)
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        *self = from.take()?;
        Ok(())
    }
}

/// Says what of a struct is state: the fields that are saved; in `each` those with several of what is restored in place (as
/// many as options decide); in `within` devices, peers and the like, which save themselves; in `made` those that options
/// decide.
#[macro_export]
macro_rules! state {
    ($({$($generics:tt)*})? $type:ty { $($saved:ident),* $(,)? } $(each { $($each:ident),* })?
        $(within { $($within:ident),* })? $(made { $($made:ident),* $(,)? })?) => {
        impl$(<$($generics)*>)? $crate::state::State for $type {
            fn save(&self, to: &mut $crate::state::Writer) -> Result<(), $crate::state::StateError> {
                let Self { $($saved,)* $($($each,)*)? $($($within,)*)? $($($made: _,)*)? } = self;
                $($crate::state::State::save($saved, to)?;)*
                $($(for one in $each.iter() {
                    $crate::state::State::save(one, to)?;
                })*)?
                $($($within.save_state(to)?;)*)?
                let _ = to;
                Ok(())
            }

            fn restore(&mut self, from: &mut $crate::state::Reader<'_>) -> Result<(), $crate::state::StateError> {
                let Self { $($saved,)* $($($each,)*)? $($($within,)*)? $($($made: _,)*)? } = self;
                $($crate::state::State::restore($saved, from)?;)*
                $($(for one in $each.iter_mut() {
                    $crate::state::State::restore(one, from)?;
                })*)?
                $($($within.restore_state(from)?;)*)?
                let _ = from;
                Ok(())
            }
        }
    };
}

/// A file that is written from its beginning to its end, and continued where it was.
pub trait Continued: Write {
    /// Writes how far it is.
    ///
    /// # Errors
    /// Those of the file.
    fn save_place(&self, to: &mut Writer) -> Result<(), StateError>;

    /// Continues there; what is behind it is gone. What is before it has to be in the file.
    ///
    /// # Errors
    /// Those of the file, or it is shorter.
    fn restore_place(&mut self, from: &mut Reader<'_>) -> Result<(), StateError>;
}

impl Continued for BufWriter<File> {
    fn save_place(&self, to: &mut Writer) -> Result<(), StateError> {
        to.put(&self.get_ref().stream_position()?)?;
        to.put(self.buffer())
    }

    fn restore_place(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let (at, waiting): (u64, Vec<u8>) = (from.take()?, from.take()?);
        self.flush()?;
        if self.get_ref().metadata()?.len() < at {
            return Err(StateError::Length);
        }
        self.get_ref().set_len(at)?;
        self.seek(SeekFrom::Start(at))?;
        Ok(self.write_all(&waiting)?)
    }
}

impl Continued for Vec<u8> {
    fn save_place(&self, to: &mut Writer) -> Result<(), StateError> {
        to.put(self)
    }

    fn restore_place(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        *self = from.take()?;
        Ok(())
    }
}

/// Arrays of more than 32, which serde has no form for: `#[serde(with = "crate::state::array")]`.
pub mod array {
    use serde::de::{DeserializeOwned, Error};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// As a sequence.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<T: Serialize, const N: usize, S: Serializer>(of: &[T; N], to: S) -> Result<S::Ok, S::Error> {
        of.as_slice().serialize(to)
    }

    /// As a sequence of that many.
    ///
    /// # Errors
    /// There are more, or less.
    pub fn deserialize<'de, T: DeserializeOwned, const N: usize, D: Deserializer<'de>>(
        from: D,
    ) -> Result<[T; N], D::Error> {
        let all = Vec::<T>::deserialize(from)?;
        all.try_into().map_err(|all: Vec<T>| D::Error::invalid_length(all.len(), &"the length of the array"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Whole {
        size: u8,
        counted: u64,
        parts: Vec<Part>,
    }

    struct Part {
        name: &'static str,
        values: Vec<i32>,
    }

    state!(Whole { counted } each { parts } made { size });
    state!(Part { values } made { name });

    fn whole(counted: u64) -> Whole {
        let part = |name| Part { name, values: vec![counted as i32; 3] };
        Whole { size: 2, counted, parts: vec![part("a"), part("b")] }
    }

    #[test]
    fn what_was_made_stays_and_what_was_saved_comes_back() {
        let mut to = Writer::default();
        whole(7).save(&mut to).unwrap();
        let (bytes, mut other) = (to.into_bytes(), whole(0));
        other.parts[1].name = "c";
        let mut from = Reader::new(&bytes);
        other.restore(&mut from).unwrap();
        assert!(from.end().is_ok());
        assert_eq!((other.size, other.counted, other.parts[1].name), (2, 7, "c"));
        assert_eq!(other.parts[1].values, [7; 3]);
        assert!(other.restore(&mut Reader::new(&bytes[..3])).is_err());
        assert!(Reader::new(&bytes).end().is_err());
    }

    #[test]
    fn a_file_continues_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut file = BufWriter::new(File::create(&path).unwrap());
        file.write_all(b"before").unwrap();
        file.flush().unwrap();
        file.write_all(b" waits").unwrap();
        let mut to = Writer::default();
        file.save_place(&mut to).unwrap();
        let bytes = to.into_bytes();
        file.write_all(b" lost").unwrap();
        drop(file);
        let opened = File::options().write(true).open(&path).unwrap();
        let mut again = BufWriter::new(opened);
        again.write_all(b"bef").unwrap();
        again.restore_place(&mut Reader::new(&bytes)).unwrap();
        again.write_all(b", after").unwrap();
        drop(again);
        assert_eq!(std::fs::read(&path).unwrap(), b"before waits, after");
    }
}
