//! Memory of the process.

/// Has the kernel give memory page by page, and never 2 MiB for the first byte of them: what many threads
/// allocate and free is full of gaps, and huge pages would keep them all. Goes on where it is refused.
pub fn use_small_pages() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}
