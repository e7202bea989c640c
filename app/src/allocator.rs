//! A refused allocation ends the program with a sentence and exit code 1, as any failing work does, not with
//! an abort. The limits checked before ([`sparsescope_core::memory`]) only hold at that instant.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write as _;

/// The system's allocator, which ends the program with a sentence where it refuses. For programs only: in a
/// library it would end the process of others.
pub struct Telling;

#[cfg(test)]
#[global_allocator]
static ALLOCATOR: Telling = Telling;

/// Returns what was allocated; ends the program if that is null. Allocates nothing itself.
fn told(allocated: *mut u8, bytes: usize) -> *mut u8 {
    if allocated.is_null() {
        let mut to = std::io::stderr();
        let _ = writeln!(to, "error: out of memory: cannot allocate {bytes} more bytes");
        leave();
    }
    allocated
}

/// Exits at once: exit handlers of libraries may wait for a lock that this thread holds.
fn leave() -> ! {
    #[cfg(unix)]
    // SAFETY: it takes a number, and nothing runs after it.
    unsafe {
        libc::_exit(1)
    }
    #[cfg(not(unix))]
    std::process::exit(1)
}

// SAFETY: every call goes to the system allocator with the caller's own arguments.
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller vouches for the layout.
        told(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller vouches for the layout.
        told(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller vouches for the place, which this allocator gave, and for both sizes.
        told(unsafe { System.realloc(place, layout, size) }, size)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller vouches for the place, which this allocator gave.
        unsafe { System.dealloc(place, layout) }
    }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use std::process::Command;

    #[test]
    fn memory_that_is_refused_ends_the_program_with_a_sentence() {
        const ASKED: &str = "SPARSESCOPE_TEST_ALLOCATE";
        const BYTES: usize = 1 << 62;
        if std::env::var_os(ASKED).is_some() {
            drop(std::hint::black_box(Vec::<u8>::with_capacity(BYTES)));
            return;
        }
        let this = "allocator::tests::memory_that_is_refused_ends_the_program_with_a_sentence";
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args([this, "--exact", "--nocapture"]).env(ASKED, "1");
        let ran = again.output().unwrap();
        assert_eq!(ran.status.code(), Some(1));
        let told = String::from_utf8_lossy(&ran.stderr);
        let sentence = format!("error: out of memory: cannot allocate {BYTES} more bytes\n");
        assert!(told.contains(&sentence), "{told}");
    }
}
