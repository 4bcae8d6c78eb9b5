//! A file of machine code that processes have mapped: what unwinding needs of it.

use host::Host;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Object, ObjectSection, ReadCache, ReadRef, elf};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// The largest section that is read for unwinding, bytes.
const LARGEST: u64 = 64 << 20;

/// What the kernel says of a mapped file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    pub major: u32,
    pub minor: u32,
    pub inode: u64,
    /// As the process sees it.
    pub path: Arc<str>,
}

/// Part of a file and where it lies in the module's own addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub offset: u64,
    pub size: u64,
    pub address: u64,
}

/// Bytes of a section and their addresses.
pub(super) type Section = (Range<u64>, Arc<[u8]>);

/// A module.
#[derive(Clone, Debug, Default)]
pub(super) struct Module {
    /// The segments that hold code.
    pub segments: Vec<Segment>,
    /// Where its variables lie.
    pub data: Vec<Range<u64>>,
    /// In hexadecimal.
    pub build_id: Option<Arc<str>>,
    pub frames: Option<Section>,
    pub index: Option<Section>,
    pub text: Option<Range<u64>>,
    pub got: Option<Range<u64>>,
    /// DWARF unwind information that is not loaded, as Go's.
    pub debug_frames: Option<Arc<[u8]>>,
    /// Whether it was built by Go, which keeps frame pointers.
    pub is_go: bool,
    /// Whether it has debug information in itself.
    pub has_lines: bool,
    /// Open, for its symbols: the path may be gone by then.
    pub file: Option<Arc<File>>,
    /// Why it could not be read.
    pub error: Option<String>,
}

impl Module {
    /// The address in the module of a place in its file.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        // Whole pages are mapped: what lies before a segment on its first page comes along.
        let in_it = |s: &&Segment| offset >= s.offset & !0xfff && offset < s.offset.saturating_add(s.size);
        self.segments.iter().find(in_it).map(|s| offset.wrapping_sub(s.offset).wrapping_add(s.address))
    }

    /// The place in the file of an address of code.
    pub(super) fn offset(&self, address: u64) -> Option<u64> {
        let in_it = |s: &&Segment| address >= s.address && address - s.address < s.size;
        self.segments.iter().find(in_it).map(|s| address - s.address + s.offset)
    }

    /// Reads a file of a process.
    pub(super) fn open(host: &Host, pid: u32, range: &Range<u64>, identity: &Identity) -> Self {
        match find(host, pid, range, identity) {
            Ok(file) => {
                let cache = ReadCache::new(&file);
                match Self::parse(&cache) {
                    Ok(module) => {
                        drop(cache);
                        Module { file: Some(Arc::new(file)), ..module }
                    }
                    Err(error) => Module { error: Some(error), ..Module::default() },
                }
            }
            Err(error) => Module { error: Some(error), ..Module::default() },
        }
    }

    /// Reads the parts of an ELF file.
    pub(super) fn parse<'data, R: ReadRef<'data>>(data: R) -> Result<Self, String> {
        let file = ElfFile64::<'data, object::LittleEndian, R>::parse(data).map_err(|e| e.to_string())?;
        let endian = file.endian();
        // Two segments may lie on one page, and what is asked for is code.
        let is_code = |h: &&elf::ProgramHeader64<_>| {
            h.p_type(endian) == elf::PT_LOAD && h.p_flags(endian) & elf::PF_X != elf::ProgramFlags(0)
        };
        let code = file.elf_program_headers().iter().filter(is_code).map(|h| Segment {
            offset: h.p_offset(endian),
            size: h.p_filesz(endian),
            address: h.p_vaddr(endian),
        });
        let mut module = Module { segments: code.collect(), ..Module::default() };
        let is_data = |h: &&elf::ProgramHeader64<_>| {
            h.p_type(endian) == elf::PT_LOAD && h.p_flags(endian) & elf::PF_W != elf::ProgramFlags(0)
        };
        let data = file.elf_program_headers().iter().filter(is_data);
        module.data = data.map(|h| h.p_vaddr(endian)..h.p_vaddr(endian).saturating_add(h.p_memsz(endian))).collect();
        module.build_id = file.build_id().ok().flatten().map(hexadecimal);
        for section in file.sections() {
            let name = section.name().unwrap_or_default();
            let range = section.address()..section.address().saturating_add(section.size());
            let bytes = || -> Option<Arc<[u8]>> {
                (section.size() <= LARGEST).then(|| section.uncompressed_data().ok().map(|b| Arc::from(&*b)))?
            };
            match name {
                ".eh_frame" => module.frames = bytes().map(|b| (range, b)),
                ".eh_frame_hdr" => module.index = bytes().map(|b| (range, b)),
                ".debug_frame" => module.debug_frames = bytes(),
                ".text" => module.text = Some(range),
                ".got" => module.got = Some(range),
                ".gopclntab" | ".go.buildinfo" => module.is_go = true,
                ".debug_info" => module.has_lines = true,
                _ => {}
            }
        }
        Ok(module)
    }

    /// The bytes of unwind information that it holds.
    pub(super) fn size(&self) -> usize {
        let of = |section: &Option<Section>| section.as_ref().map_or(0, |(_, bytes)| bytes.len());
        of(&self.frames) + of(&self.index) + self.debug_frames.as_ref().map_or(0, |bytes| bytes.len())
    }

    /// Drops that.
    pub(super) fn forget_frames(&mut self) {
        (self.frames, self.index, self.debug_frames) = (None, None, None);
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> Arc<str> {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<String>().into()
}

/// Opens the file that a process has mapped: through the mapping itself, which also leads to files that were deleted or replaced; by
/// its path as the process sees it; by its path as we see it. What turns out to be another file is not taken. A process has a say in what
/// lies at these paths, so that nothing but a regular file is opened.
fn find(host: &Host, pid: u32, range: &Range<u64>, identity: &Identity) -> Result<File, String> {
    let Identity { inode, path, .. } = identity;
    let mapped = host.path(&format!("/proc/{pid}/map_files/{:x}-{:x}", range.start, range.end));
    if let Ok(file) = File::open(&mapped) {
        return Ok(file);
    }
    let mut why = format!("{path}: the process is gone");
    for candidate in [host::seen_by(pid, path), path.to_string()] {
        let opened = files::foreign::open(&host.path(&candidate));
        match opened.and_then(|file| Ok((file.metadata()?, file))) {
            // An overlay shows other inodes than it maps; then the path is all there is to go by.
            Ok((found, file)) if found.ino() == *inode || *inode == 0 => return Ok(file),
            Ok(_) => why = format!("{path}: is another file now"),
            Err(error) => why = format!("{path}: {error}"),
        }
    }
    Err(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn this_program_is_understood() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        let module = Module::parse(bytes.as_slice()).unwrap();
        assert!(module.frames.is_some() && module.index.is_some() && module.text.is_some());
        let text = module.segments.iter().find(|s| s.address != s.offset || s.offset != 0).unwrap();
        assert_eq!(module.address(text.offset + 1), Some(text.address + 1));
        assert_eq!(module.address(u64::MAX), None);
        assert!(module.size() > 0 && !module.is_go);
    }

    #[test]
    fn a_fifo_in_the_place_of_a_program_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: a string that ends with a zero.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let identity = Identity { major: 0, minor: 0, inode: 0, path: path.to_str().unwrap().into() };
        // Of a process that is gone only the path is left.
        let module = Module::open(&Host::live(), u32::MAX, &(0..1), &identity);
        assert!(module.error.as_ref().is_some_and(|why| why.contains("it is a FIFO")), "{:?}", module.error);
    }

    proptest! {
        #[test]
        fn damaged_files_never_panic(at in 0usize..20_000, bytes in prop::collection::vec(any::<u8>(), 1..64)) {
            static FILE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
            // The vDSO is a small and whole ELF file.
            let file = FILE.get_or_init(|| crate::stacks::process::vdso().unwrap_or_default());
            let mut file = file.clone();
            let length = file.len().max(1);
            for (i, byte) in bytes.iter().enumerate() {
                if let Some(place) = file.get_mut((at + i) % length) {
                    *place = *byte;
                }
            }
            let _ = Module::parse(file.as_slice());
        }
    }
}
