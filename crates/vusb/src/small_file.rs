//! Files that a user names and that are read whole: scripts and maps.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Far more than any of them has; also a whole kernel log fits.
const LARGEST: u64 = 16 << 20;

/// Reads a file.
///
/// # Errors
/// The system's, and a file (or device) that does not end before 16 MiB.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "larger than 16 MiB: this is another file"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_end_are_refused() {
        assert!(read(Path::new("/dev/null")).unwrap().is_empty());
        assert_eq!(read(Path::new("/dev/zero")).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(Path::new("/does/not/exist")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
