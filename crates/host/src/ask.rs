//! Asks an eBPF program of the section `syscall`: it runs when it is asked, and leaves its answer in a map.

use crate::bpf::Map;
use model::Unavailable;
use std::os::fd::{AsRawFd, OwnedFd};

/// A loaded program that answers.
pub struct Asked {
    name: &'static str,
    program: OwnedFd,
    answer: Map,
}

impl Asked {
    pub(crate) fn new(name: &'static str, program: OwnedFd, answer: Map) -> Self {
        Asked { name, program, answer }
    }

    /// What the program, which is told `question`, leaves as the first value of its map.
    pub fn ask(&self, question: u64) -> Result<Vec<u8>, Unavailable> {
        let mut told = question.to_ne_bytes();
        let mut options = libbpf_sys::bpf_test_run_opts {
            sz: size_of::<libbpf_sys::bpf_test_run_opts>() as _,
            ctx_in: told.as_mut_ptr().cast(),
            ctx_size_in: told.len() as u32,
            ..Default::default()
        };
        // SAFETY: a program's descriptor that is held, and options that live during the call, as does what they point to.
        let failed = unsafe { libbpf_sys::bpf_prog_test_run_opts(self.program.as_raw_fd(), &raw mut options) };
        let error = |why: &dyn std::fmt::Display| Unavailable::failed(format!("eBPF {}: asking it: {why}", self.name));
        if failed != 0 {
            return Err(error(&std::io::Error::last_os_error()));
        }
        self.answer.get(&0u32.to_ne_bytes())?.ok_or_else(|| error(&"no answer"))
    }
}
