//! Functions of the kernel and its modules: the kernel is asked by an eBPF program, or where that cannot be, all of `/proc/kallsyms` is read
//! (proc_kallsyms(5)).

use host::Host;
use model::Unavailable;
use std::sync::Arc;

/// The kernel's functions.
#[derive(Debug)]
pub(super) enum Kernel {
    #[cfg(feature = "bpf")]
    Asked(asked::Kernel),
    Listed(Listed),
}

impl Kernel {
    /// Those of the running kernel.
    pub(super) fn read(host: &Host) -> Result<Self, Unavailable> {
        #[cfg(feature = "bpf")]
        if let Some(kernel) = asked::Kernel::open(host) {
            return Ok(Kernel::Asked(kernel));
        }
        Listed::read(host).map(Kernel::Listed)
    }

    /// The address of `_text`, which offsets are counted from; `None` where it is not known.
    pub(super) fn text(&self) -> Option<u64> {
        let text = match self {
            #[cfg(feature = "bpf")]
            Kernel::Asked(kernel) => kernel.text,
            Kernel::Listed(kernel) => kernel.text,
        };
        Some(text).filter(|&text| text != 0)
    }

    /// The function at an address.
    pub(super) fn function(&self, address: u64) -> Option<Function> {
        match self {
            #[cfg(feature = "bpf")]
            Kernel::Asked(kernel) => kernel.function(address),
            Kernel::Listed(kernel) => kernel.function(address),
        }
    }
}

/// A function of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub name: Arc<str>,
    /// The module that it belongs to; `None` for the kernel itself.
    pub module: Option<Arc<str>>,
    /// Address minus `_text`; `None` in modules.
    pub offset: Option<i64>,
}

/// Beyond the last function of its part of memory, an address belongs to none.
const LONGEST: u64 = 1 << 20;

/// All functions, as the kernel lists them.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// Address, and where its name begins in `names`, ascending by address.
    functions: Vec<(u64, u32)>,
    /// `name` or `name\tmodule`, each ended by a line feed.
    names: Vec<u8>,
    /// The address of `_text`, which offsets are counted from.
    text: u64,
}

impl Listed {
    /// Reads them from the running kernel.
    fn read(host: &Host) -> Result<Self, Unavailable> {
        // Some megabytes, of which less than half are kept.
        let mut kernel = Self::default();
        host.read_lines("/proc/kallsyms", |line| kernel.add(line))?;
        kernel.order();
        if kernel.functions.is_empty() {
            return Err(Unavailable::denied("/proc/kallsyms: the kernel hides its addresses")
                .remedy("run as root, or: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"));
        }
        Ok(kernel)
    }

    /// Reads lines `address type name [module]`.
    #[cfg(test)]
    fn parse(text: &[u8]) -> Self {
        let mut kernel = Listed::default();
        text.split(|&byte| byte == b'\n').for_each(|line| kernel.add(line));
        kernel.order();
        kernel
    }

    /// Adds a line `address type name [module]`.
    fn add(&mut self, line: &[u8]) {
        let mut words = line.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { return };
        let Some(address) = hexadecimal(address).filter(|&a| a != 0) else { return };
        if name == b"_text" {
            self.text = address;
        }
        if !matches!(kind, b"t" | b"T" | b"w" | b"W") {
            return;
        }
        self.functions.push((address, self.names.len() as u32));
        self.names.extend_from_slice(name);
        if let Some(module) = words.next() {
            self.names.push(b'\t');
            self.names.extend_from_slice(module);
        }
        self.names.push(b'\n');
    }

    /// Puts them in order, when all have been added.
    fn order(&mut self) {
        // Of several names of one address, the first is the plainest, and the others are aliases: names lie in the order of the lines.
        self.functions.sort_unstable();
        self.functions.dedup_by_key(|(address, _)| *address);
        self.functions.shrink_to_fit();
        self.names.shrink_to_fit();
    }

    /// The function at an address.
    fn function(&self, address: u64) -> Option<Function> {
        let at = self.functions.partition_point(|&(start, _)| start <= address).checked_sub(1)?;
        let &(start, name) = self.functions.get(at)?;
        if address - start > LONGEST {
            return None;
        }
        let rest = self.names.get(name as usize..)?;
        let line = rest.get(..memchr::memchr(b'\n', rest)?)?;
        let (name, module) = match memchr::memchr(b'\t', line) {
            Some(tab) => (line.get(..tab)?, line.get(tab + 1..)),
            None => (line, None),
        };
        let text = |bytes: &[u8]| Arc::<str>::from(String::from_utf8_lossy(bytes));
        let offset = address.checked_sub(self.text).filter(|_| module.is_none() && self.text != 0).map(|o| o as i64);
        Some(Function { name: text(name), module: module.map(text), offset })
    }
}

/// The functions as the kernel tells them one by one.
#[cfg(feature = "bpf")]
mod asked {
    use super::Function;
    use host::Host;
    use host::bpf::{Asked, Programs};
    use std::collections::HashMap;
    use std::io::{BufRead, BufReader};
    use std::sync::{Arc, Mutex, PoisonError};

    static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/functions.bpf.o"));

    /// So many answers are kept.
    const MOST: usize = 1 << 14;

    pub(in super::super) struct Kernel {
        asked: Asked,
        /// The address of `_text`, which offsets are counted from; 0 where it is not known.
        pub(super) text: u64,
        known: Mutex<HashMap<u64, Option<Function>>>,
    }

    impl std::fmt::Debug for Kernel {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Kernel").finish_non_exhaustive()
        }
    }

    impl Kernel {
        /// `None` where the kernel cannot be asked: without eBPF, or before Linux 5.14.
        pub(super) fn open(host: &Host) -> Option<Self> {
            let programs = Programs::load(host, "functions", OBJECT, &[], &[]).ok()?;
            let asked = programs.asked("name_function", "answer").ok()?;
            let kernel = Kernel { asked, text: text()?, known: Mutex::default() };
            // Where it does not tell, reading its list says why.
            kernel.function(kernel.text).map(|_| kernel)
        }

        pub(super) fn function(&self, address: u64) -> Option<Function> {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MOST {
                known.clear();
            }
            known.entry(address).or_insert_with(|| parse(&self.asked.ask(address).ok()?, address, self.text)).clone()
        }
    }

    /// The address of `_text`: one of the first lines of the list.
    fn text() -> Option<u64> {
        let list = BufReader::with_capacity(4 << 10, std::fs::File::open("/proc/kallsyms").ok()?);
        let lines = list.lines().map_while(Result::ok);
        let found = lines.take(100).find_map(|line| Some(line.strip_suffix(" T _text")?.to_owned()));
        found.and_then(|digits| super::hexadecimal(digits.as_bytes())).filter(|&address| address != 0)
    }

    /// Reads `name [module]`, which ends with a zero; a number where the kernel knows no name.
    pub(super) fn parse(answer: &[u8], address: u64, text: u64) -> Option<Function> {
        let answer = answer.split(|&byte| byte == 0).next().filter(|name| !name.is_empty())?;
        let answer = String::from_utf8_lossy(answer);
        if answer.starts_with("0x") {
            return None;
        }
        let (name, module) = match answer.split_once(' ') {
            Some((name, module)) => (name, Some(Arc::from(module))),
            None => (&*answer, None),
        };
        let offset = address.checked_sub(text).filter(|_| module.is_none()).map(|offset| offset as i64);
        Some(Function { name: name.into(), module, offset })
    }
}

pub(super) fn hexadecimal(digits: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &[u8] = b"ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81000100 t do_work\n\
        ffffffff81000180 d data\nffffffffc0000010 t open\t[ext4]\nffffffffc0000020 T close\t[ext4]\n";

    #[test]
    fn addresses_have_functions() {
        let kernel = Listed::parse(TEXT);
        let named =
            |address| kernel.function(address).map(|f| (f.name.to_string(), f.module.map(|m| m.to_string()), f.offset));
        assert_eq!(named(0xffff_ffff_8100_0190), Some(("do_work".into(), None, Some(0x190))));
        assert_eq!(named(0xffff_ffff_c000_0012), Some(("open".into(), Some("[ext4]".into()), None)));
        assert_eq!(named(0x1000), None);
        assert_eq!(named(0xffff_ffff_f000_0000), None);
        assert!(Listed::parse(b"0000000000000000 T _text\n").functions.is_empty(), "hidden addresses");
    }

    #[cfg(feature = "bpf")]
    #[test]
    fn the_kernel_tells_what_it_lists() {
        let host = Host::live();
        let (Some(asked), Ok(listed)) = (asked::Kernel::open(&host), Listed::read(&host)) else {
            eprintln!("SKIPPED: asking the kernel for its functions: eBPF cannot be had, or addresses are hidden");
            return;
        };
        let step = (listed.functions.len() / 500).max(1);
        let addresses: Vec<u64> = listed.functions.iter().step_by(step).map(|&(start, _)| start).collect();
        // Programs of other tests come and go meanwhile, and of several names of one address the kernel may take another than the first.
        let same = |&&address: &&u64| asked.function(address) == listed.function(address);
        let agreed = addresses.iter().filter(same).count();
        assert!(agreed * 10 > addresses.len() * 9, "{agreed} of {}", addresses.len());
        assert_eq!(asked.function(0x1000), None);
    }

    #[cfg(feature = "bpf")]
    #[test]
    fn answers_are_read() {
        let told = |answer: &[u8]| {
            asked::parse(answer, 0x190, 0x100).map(|f| (f.name.to_string(), f.module.map(|m| m.to_string()), f.offset))
        };
        assert_eq!(told(b"do_work\0\0x"), Some(("do_work".into(), None, Some(0x90))));
        assert_eq!(told(b"open [ext4]\0"), Some(("open".into(), Some("[ext4]".into()), None)));
        assert_eq!(told(b"0xffff888000000000\0"), None);
        assert_eq!((told(b"\0"), told(b"")), (None, None));
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>, address: u64) {
            let _ = Listed::parse(&bytes).function(address);
        }
        #[test]
        fn foreign_lines_never_panic(lines in "([0-9a-f]{0,17} [tTwWd ]{0,2} ?[a-z_\t]{0,5}(\t\\[[a-z]{0,3}\\])?\n){0,20}", address: u64) {
            let _ = Listed::parse(lines.as_bytes()).function(address);
        }
    }
}
