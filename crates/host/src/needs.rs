//! What eBPF programs need of a kernel that some kernels lack, and since when it is there.
//!
//! Asked by name of the description of the kernel's types, not by its version: distributions bring much of it to older kernels.

use crate::Host;
use crate::described;
use model::Unavailable;

/// Something that programs use and that a kernel may lack.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Its name in the description of the kernel's types.
    name: &'static str,
    what: &'static str,
    since: &'static str,
}

impl Need {
    /// Storage that goes with a task, in programs of tracepoints.
    pub const TASK_STORAGE: Need =
        Need { name: "BPF_MAP_TYPE_TASK_STORAGE", what: "eBPF storage that goes with a task", since: "5.11" };
    /// The current task as a structure; since the same version programs of tracepoints may keep storage with a socket.
    pub const CURRENT_TASK: Need =
        Need { name: "BPF_FUNC_get_current_task_btf", what: "the eBPF helper get_current_task_btf", since: "5.11" };
    /// The registers with which a task entered the kernel.
    pub const TASK_REGISTERS: Need =
        Need { name: "BPF_FUNC_task_pt_regs", what: "the eBPF helper task_pt_regs", since: "5.15" };

    /// The first of `needs` that this kernel lacks, as a reason. Nothing where it cannot be known: then loading will tell.
    ///
    /// # Errors
    /// [`model::Status::Absent`], with the version of Linux that has it.
    pub fn all(host: &Host, needs: &[Need]) -> Result<(), Unavailable> {
        if host.is_fixture() {
            return Ok(());
        }
        // Who lacks two is told of the newer one: it says what kernel would do.
        match needs.iter().rev().find(|need| described::has_name(need.name) == Some(false)) {
            Some(need) => {
                let why = format!("this kernel lacks {}", need.what);
                Err(Unavailable::absent(why).remedy(format!("Linux {} or newer", need.since)))
            }
            None => Ok(()),
        }
    }
}

/// The oldest kernel on which all programs load, as far as what they attach to is there.
const OLDEST: (u32, u32) = (5, 18);

/// Why the kernel did not take programs that it was given: an old one lacks something, a newer one was to take them.
pub(crate) fn refused(name: &str, what: &str) -> Unavailable {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let why = format!("eBPF {name}: {what}: refused by this kernel ({release})");
    match version(&release) {
        Some(version) if version < OLDEST => {
            Unavailable::absent(why).remedy(format!("Linux {}.{} or newer", OLDEST.0, OLDEST.1))
        }
        _ => Unavailable::failed(why)
            .remedy(format!("{SAY_ALL}=1 prints what the kernel says of it: please report that")),
    }
}

/// The environment variable that has all that libbpf and the kernel's verifier say printed to standard error.
pub(crate) const SAY_ALL: &str = "TWINSCOPE_BPF_LOG";

/// Major and minor of a release such as `6.1.0-50-cloud-amd64`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Status;

    #[test]
    fn releases_have_versions() {
        assert_eq!(version("6.1.0-50-cloud-amd64"), Some((6, 1)));
        assert_eq!(version("5.15.0-1075-aws"), Some((5, 15)));
        assert_eq!(["", "6", "x.y"].map(version), [None; 3]);
    }

    #[test]
    fn what_a_kernel_lacks_is_absent_with_the_version_that_has_it() {
        let future = Need { name: "BPF_FUNC_of_a_later_time", what: "what nobody has", since: "99.1" };
        if described::has_name("task_struct").is_none() {
            eprintln!("SKIPPED: what this kernel lacks: it does not describe its types");
            return;
        }
        let why = Need::all(&Host::live(), &[future]).unwrap_err();
        assert_eq!((why.status, why.why.as_str()), (Status::Absent, "this kernel lacks what nobody has"));
        assert_eq!(why.remedy.as_deref(), Some("Linux 99.1 or newer"));
    }
}
