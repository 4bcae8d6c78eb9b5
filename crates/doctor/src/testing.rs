//! Hosts for tests.

use crate::check::Finding;
use crate::context::Context;
use host::Host;
pub(crate) use host::testing::host_of;
use model::Unavailable;
use std::path::Path;
use std::sync::atomic::AtomicBool;

pub(crate) fn context<'a>(host: &'a Host, stop: &'a AtomicBool) -> Context<'a> {
    Context { host, dir: Path::new("/"), quick: true, stop }
}

/// What a check finds on a recorded host.
pub(crate) fn on(host: &Host, run: fn(&Context<'_>) -> Result<Finding, Unavailable>) -> Result<Finding, Unavailable> {
    let stop = AtomicBool::new(false);
    run(&context(host, &stop))
}

/// What a check finds here. One at a time: tests that measure at once would disturb each other for nothing.
pub(crate) fn live(run: fn(&Context<'_>) -> Result<Finding, Unavailable>) -> Result<Finding, Unavailable> {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    on(&Host::live(), run)
}
