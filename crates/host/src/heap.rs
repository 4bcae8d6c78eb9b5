//! The C library's heap, kept small: this program reads large files now and then, and lives for days.

/// Has what is large be given back to the system at once when it is freed, and few heaps be kept (mallopt(3)). By default the C library learns from
/// large pieces to keep them, in a heap for each thread. Only the GNU library has these.
pub fn keep_heap_small() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: takes numbers only; called before there are other threads.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 256 << 10);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 512 << 10);
    }
}

/// Gives back what lies free in the heaps (malloc_trim(3)): after much was used for a while.
pub fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: touches only memory that is free.
    unsafe {
        libc::malloc_trim(0);
    }
}
