//! Messages with descriptors, over a pair of sockets that keeps them apart (unix(7): SOCK_SEQPACKET, SCM_RIGHTS).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Descriptors that one message carries at most.
const MOST: usize = 2;

/// Room for them, aligned as the kernel wants its headers.
#[repr(C, align(8))]
struct Room([u8; 64]);

/// Both ends.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel fills in both numbers, which are new descriptors.
    unsafe {
        if libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Sends one message. The descriptors stay open here as well.
pub(super) fn send(socket: &OwnedFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let numbers: Vec<i32> = descriptors.iter().take(MOST).map(AsRawFd::as_raw_fd).collect();
    let size = size_of_val(numbers.as_slice()) as u32;
    let mut room = Room([0; 64]);
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: all that the header points to lives until the call returns, and the room is large enough for MOST descriptors.
    unsafe {
        let mut header = MaybeUninit::<libc::msghdr>::zeroed().assume_init();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        if !numbers.is_empty() {
            header.msg_control = room.0.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(size) as _;
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(size) as _;
            std::ptr::copy_nonoverlapping(numbers.as_ptr().cast::<u8>(), libc::CMSG_DATA(first), size as usize);
        }
        loop {
            if libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) >= 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

/// Waits for a message: how many bytes it had, 0 where the other end was closed, and its descriptors.
pub(super) fn receive(socket: &OwnedFd, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut room = Room([0; 64]);
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: all that the header points to lives until the call returns; the descriptors that came are new ones, which nobody else has.
    unsafe {
        let mut header = MaybeUninit::<libc::msghdr>::zeroed().assume_init();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        let count = loop {
            header.msg_control = room.0.as_mut_ptr().cast();
            header.msg_controllen = room.0.len() as _;
            let count = libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC);
            if count >= 0 {
                break count as usize;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        };
        let mut descriptors = Vec::new();
        let mut at = libc::CMSG_FIRSTHDR(&raw const header);
        while !at.is_null() {
            if (*at).cmsg_level == libc::SOL_SOCKET && (*at).cmsg_type == libc::SCM_RIGHTS {
                let data = libc::CMSG_DATA(at).cast::<i32>();
                let size = ((*at).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
                for n in 0..size / size_of::<i32>() {
                    descriptors.push(OwnedFd::from_raw_fd(data.add(n).read_unaligned()));
                }
            }
            at = libc::CMSG_NXTHDR(&raw const header, at);
        }
        Ok((count, descriptors))
    }
}
