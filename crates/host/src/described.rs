//! Gives libbpf the part of the kernel's types that an object refers to, and finds what programs attach to, so that libbpf
//! reads nothing itself. The kernel's types are read at the first object and kept until [`forget`].

use crate::btf::{self, Indexed, Types};
use libbpf_sys::{bpf_link, bpf_prog_load_opts, bpf_program};
use std::ffi::{CStr, CString, c_int, c_long};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Where the kernel describes its types.
pub(crate) const KERNEL: &str = "/sys/kernel/btf/vmlinux";

static TYPES: Mutex<Option<Indexed>> = Mutex::new(None);

/// The kernel's types; `None` inside where they cannot be read or are not understood.
fn types() -> MutexGuard<'static, Option<Indexed>> {
    let mut types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
    if types.is_none() {
        *types = std::fs::read(KERNEL).ok().and_then(Types::parse).map(Indexed::new);
    }
    types
}

/// Gives back the memory that the kernel's types take, some 7 MB. They are read again if another object is loaded.
pub(crate) fn forget() {
    *TYPES.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Whether the kernel's description has this name; `None` where it cannot be read.
pub(crate) fn has_name(name: &str) -> Option<bool> {
    types().as_ref().map(|types| types.has_name(name))
}

/// How many arguments a tracepoint gives; `None` where it is not described.
pub(crate) fn arguments(tracepoint: &str) -> Option<usize> {
    types().as_ref()?.arguments(tracepoint)
}

/// A file in memory with the types that an object refers to.
pub(crate) struct Part(File);

impl Part {
    /// What the file can be opened by while it is held.
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }
}

/// The types that `object` refers to. `None` where there are none, or libbpf has to look for itself.
pub(crate) fn part(object: &[u8]) -> Option<Part> {
    static HANDLERS: Once = Once::new();
    // The kernel's types are 7 MB, and are forgotten when all collectors have begun: what comes later should not have them read again.
    if !btf::is_relocated(object) {
        return None;
    }
    let own = Types::parse(btf::section(object, b".BTF")?.to_vec())?;
    let bytes = types().as_ref()?.part(&own.roots())?;
    let file = rustix::fs::memfd_create("types", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let mut file = File::from(file);
    file.write_all(&bytes).ok()?;
    HANDLERS.call_once(register);
    Some(Part(file))
}

/// Sections whose programs name what they attach to by a type: its prefix, whether it is a function, kind of attachment, and how it is attached.
const SECTIONS: [(&CStr, &str, &str, bool, u32, Attach); 2] = [
    (c"tp_btf+", "tp_btf/", "btf_trace_", false, libbpf_sys::BPF_TRACE_RAW_TP, attach_tracepoint),
    (c"iter+", "iter/", "bpf_iter_", true, libbpf_sys::BPF_TRACE_ITER, attach_iterator),
];

type Attach = unsafe extern "C" fn(*const bpf_program, c_long, *mut *mut bpf_link) -> c_int;

/// Takes these sections over from libbpf.
fn register() {
    for (cookie, (section, _, _, _, attachment, attach)) in SECTIONS.into_iter().enumerate() {
        let handlers = libbpf_sys::libbpf_prog_handler_opts {
            sz: size_of::<libbpf_sys::libbpf_prog_handler_opts>() as _,
            cookie: cookie as c_long,
            prog_setup_fn: None,
            prog_prepare_load_fn: Some(prepare),
            prog_attach_fn: Some(attach),
        };
        // SAFETY: the text and the handlers are read during the call; the functions live as long as the program. A failure leaves libbpf's own
        // handler, which reads the kernel's types again.
        unsafe {
            libbpf_sys::libbpf_register_prog_handler(
                section.as_ptr(),
                libbpf_sys::BPF_PROG_TYPE_TRACING,
                attachment,
                &raw const handlers,
            );
        }
    }
}

/// Says what a program attaches to, as it is loaded.
unsafe extern "C" fn prepare(program: *mut bpf_program, options: *mut bpf_prog_load_opts, cookie: c_long) -> c_int {
    let Some((_, section, prefix, function, attachment, _)) =
        usize::try_from(cookie).ok().and_then(|at| SECTIONS.get(at))
    else {
        return -libc::EINVAL;
    };
    // SAFETY: libbpf hands over a program of an open object, whose section name is a text that lives as long as it.
    let name = unsafe { CStr::from_ptr(libbpf_sys::bpf_program__section_name(program)) };
    let Some(name) = name.to_str().ok().and_then(|name| name.strip_prefix(section)) else { return -libc::EINVAL };
    let known = types().as_ref().and_then(|types| types.find(&format!("{prefix}{name}"), *function));
    let number = known.map(|number| number as c_int).unwrap_or_else(|| {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: a text that lives during the call.
        unsafe { libbpf_sys::libbpf_find_vmlinux_btf_id(name.as_ptr(), *attachment) }
    });
    if number <= 0 {
        return if number < 0 { number } else { -libc::ESRCH };
    }
    // SAFETY: libbpf hands over the options of this load, which nobody else holds.
    unsafe {
        (*options).attach_btf_id = number as u32;
        (*options).attach_btf_obj_fd = 0;
        (*options).attach_prog_fd = 0;
    }
    0
}

unsafe extern "C" fn attach_tracepoint(program: *const bpf_program, _: c_long, to: *mut *mut bpf_link) -> c_int {
    // SAFETY: libbpf hands over a loaded program and a place for the link.
    unsafe { put(libbpf_sys::bpf_program__attach_trace(program), to) }
}

unsafe extern "C" fn attach_iterator(program: *const bpf_program, _: c_long, to: *mut *mut bpf_link) -> c_int {
    // SAFETY: as above; no options are given.
    unsafe { put(libbpf_sys::bpf_program__attach_iter(program, std::ptr::null()), to) }
}

/// # Safety
/// `to` is a place that may be written.
unsafe fn put(link: *mut bpf_link, to: *mut *mut bpf_link) -> c_int {
    if link.is_null() {
        return -std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
    }
    // SAFETY: as the caller says.
    unsafe { *to = link };
    0
}
