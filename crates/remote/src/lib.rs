//! Recording on many hosts at once, by the user's own ssh or kubectl: a recorder is sent where there is none, all begin at the same second on
//! their own, and what they recorded is fetched afterwards. What becomes of each host is kept in `hosts.json` beside the recordings, and one that
//! fails keeps no other. Knows nothing of what a recording holds.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod clock;
mod crew;
mod kubernetes;
mod names;
mod process;
mod reach;
mod recorders;
mod sha256;
mod ssh;
mod state;
mod work;

pub use kubernetes::{Kubernetes, KubernetesOptions, Targets};
pub use names::{host_name, host_names};
pub use reach::Failure;
pub use recorders::Recorders;
pub use ssh::{Ssh, SshOptions};
pub use state::{Book, By, FILE, Host, State, Step, VERSION, What};
pub use work::{Report, Way, Work, fresh_hosts, new_run};
