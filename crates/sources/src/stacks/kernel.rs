//! Functions of the kernel and its modules, from `/proc/kallsyms` (proc_kallsyms(5)).

use host::Host;
use model::Unavailable;
use std::sync::Arc;

/// The kernel's functions.
#[derive(Debug, Default)]
pub(super) struct Kernel {
    /// Address, and where its name begins in `names`, ascending by address.
    functions: Vec<(u64, u32)>,
    /// `name` or `name\tmodule`, each ended by a line feed.
    names: Vec<u8>,
    /// The address of `_text`, which offsets are counted from.
    text: u64,
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

impl Kernel {
    /// Reads them from the running kernel.
    pub(super) fn read(host: &Host) -> Result<Self, Unavailable> {
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
        let mut kernel = Kernel::default();
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
    pub(super) fn function(&self, address: u64) -> Option<Function> {
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
        let kernel = Kernel::parse(TEXT);
        let named =
            |address| kernel.function(address).map(|f| (f.name.to_string(), f.module.map(|m| m.to_string()), f.offset));
        assert_eq!(named(0xffff_ffff_8100_0190), Some(("do_work".into(), None, Some(0x190))));
        assert_eq!(named(0xffff_ffff_c000_0012), Some(("open".into(), Some("[ext4]".into()), None)));
        assert_eq!(named(0x1000), None);
        assert_eq!(named(0xffff_ffff_f000_0000), None);
        assert!(Kernel::parse(b"0000000000000000 T _text\n").functions.is_empty(), "hidden addresses");
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>, address: u64) {
            let _ = Kernel::parse(&bytes).function(address);
        }
        #[test]
        fn foreign_lines_never_panic(lines in "([0-9a-f]{0,17} [tTwWd ]{0,2} ?[a-z_\t]{0,5}(\t\\[[a-z]{0,3}\\])?\n){0,20}", address: u64) {
            let _ = Kernel::parse(lines.as_bytes()).function(address);
        }
    }
}
