//! What a guest needs to trace its own kernel: where members of structures are, and what a trace pipe holds.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use rustix::fs::OFlags;
use wire::btf::Btf;

/// Types of the running kernel (Linux Documentation/bpf/btf.rst).
const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";
/// Bytes of a page of the trace buffer, and of what is read at once.
const READ_BYTES: usize = 65_536;

/// Why a trace cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// A file.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A member that the kernel does not have.
    #[error("this kernel's types have no {0}")]
    NoMember(String),
    /// Not types.
    #[error("{0}: not the types of a kernel (BTF)")]
    NotTypes(PathBuf),
}

/// Members to look for.
#[derive(Debug, Args)]
pub struct LayoutArgs {
    /// As in sk_buff.data.
    #[arg(required = true, value_name = "STRUCTURE.MEMBER")]
    members: Vec<String>,
    /// Where the types are.
    #[arg(long, default_value = KERNEL_TYPES, value_name = "FILE")]
    types: PathBuf,
}

/// A pipe to empty.
#[derive(Debug, Args)]
pub struct PagesArgs {
    /// trace_pipe_raw of a processor.
    #[arg(value_name = "FILE")]
    pipe: PathBuf,
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> TraceError + '_ {
    move |source| TraceError::File { path: path.into(), source }
}

impl LayoutArgs {
    /// Prints the offset of each member in bytes, in one line.
    ///
    /// # Errors
    /// There are no types, or no such member.
    pub fn run(&self) -> Result<(), TraceError> {
        let bytes = std::fs::read(&self.types).map_err(at(&self.types))?;
        let btf = Btf::parse(&bytes).ok_or_else(|| TraceError::NotTypes(self.types.clone()))?;
        let offsets = self.members.iter().map(|member| {
            let found = member.split_once('.').and_then(|(structure, member)| btf.member_offset(structure, member));
            found.map(|offset| offset.to_string()).ok_or_else(|| TraceError::NoMember(member.clone()))
        });
        let line = offsets.collect::<Result<Vec<_>, _>>()?.join(" ");
        writeln!(io::stdout(), "{line}").map_err(at(Path::new("standard output")))
    }
}

impl PagesArgs {
    /// Copies the pages that are there to standard output, and waits for none.
    ///
    /// # Errors
    /// Those of the files.
    pub fn run(&self) -> Result<(), TraceError> {
        let flags = OFlags::NONBLOCK.bits() as i32;
        let pipe = OpenOptions::new().read(true).custom_flags(flags).open(&self.pipe).map_err(at(&self.pipe))?;
        copy(pipe, &mut io::stdout().lock()).map_err(at(&self.pipe))
    }
}

fn copy(mut pipe: File, out: &mut impl Write) -> io::Result<()> {
    let mut page = vec![0; READ_BYTES];
    loop {
        match pipe.read(&mut page) {
            Ok(0) => return out.flush(),
            Ok(len) => out.write_all(page.get(..len).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return out.flush(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
