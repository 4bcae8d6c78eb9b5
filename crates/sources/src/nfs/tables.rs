//! The tables of the NFS client.

use model::{Column, Compare, Den, Derived, Kind, Polarity, Table, Unit};

const MOUNT: Column = Column::label("mount", "where it is mounted");
const DEVICE: Column = Column::label("device", "server and what it exports");

const fn count(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help)
}

const fn bad(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).worse().floor(0.1)
}

const fn bytes(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Bytes, help)
}

const fn wait(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Milliseconds, help).worse()
}

/// One row: all mounts together, of this network namespace.
pub(super) static CLIENT: Table = Table::wide(
    "nfs_client",
    "remote procedure calls of the NFS client in all",
    &[
        count("calls", "calls made"),
        bad("retransmissions", "calls sent again because no answer came in time"),
        count("auth_refreshes", "times that credentials were fetched anew"),
    ],
);

/// One row per mount.
pub(super) static MOUNTS: Table = Table::wide(
    "nfs_mounts",
    "data and transport of each NFS mount",
    &[
        MOUNT,
        DEVICE,
        bytes("normal_read", "read by programs through the page cache"),
        bytes("normal_write", "written by programs through the page cache"),
        bytes("direct_read", "read by programs past the page cache"),
        bytes("direct_write", "written by programs past the page cache"),
        bytes("server_read", "read from the server"),
        bytes("server_write", "written to the server"),
        count("pages_read", "pages read from the server"),
        count("pages_written", "pages written to the server"),
        bad("connects", "connections made; more than one is a lost connection"),
        count("sends", "requests sent"),
        count("receives", "answers received"),
        bad("bad_xids", "answers to requests that nobody waits for any more"),
        wait_in_queue("slots_used", "sum over all sends of the requests that were on their way"),
        wait_in_queue("backlog", "sum over all sends of the requests that waited for a slot"),
        wait_in_queue("sending", "sum over all sends of the requests that waited to be sent"),
        wait_in_queue("pending", "sum over all sends of the requests that waited for an answer"),
    ],
)
.derived(&[Derived {
    name: "backlog_mean",
    unit: "",
    help: "mean number of requests that waited for a slot; above 0 the mount is limited by its slots (nconnect, sunrpc.tcp_max_slot_table_entries)",
    num: &[("backlog", 1.0)],
    den: Den::Columns(&[("sends", 1.0)]),
    polarity: Polarity::Worse,
    compare: Compare::Difference,
    floor: 0.1,
}])
.grouped(&[&["mount"]])
.from_zero();

const fn wait_in_queue(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).compared(Compare::Never)
}

/// One row per mount and operation.
pub(super) static OPS: Table = Table::wide(
    "nfs_ops",
    "operations of each NFS mount; only those that were ever made",
    &[
        MOUNT,
        Column::label("op", "name of the operation, as the protocol has it"),
        count("ops", "operations completed"),
        count("transmissions", "requests sent for them, those sent again included"),
        bad("timeouts", "times that the server did not answer at all for long"),
        bytes("sent", "sent, headers included"),
        bytes("received", "received, headers included"),
        wait("queue_time", "time of requests before they were sent"),
        wait("rtt_time", "time from sending to the answer: network and server"),
        wait("execute_time", "time from the call to its end"),
        bad("errors", "operations that ended with an error (Linux 5.3)"),
    ],
)
.derived(&[
    mean("rtt", "mean time from sending to the answer: network and server", &[("rtt_time", 1.0)]),
    mean("queue", "mean time before a request was sent: this host, or too few slots", &[("queue_time", 1.0)]),
    mean("execute", "mean time of an operation", &[("execute_time", 1.0)]),
])
.grouped(&[&["mount"], &["mount", "op"]])
.from_zero();

const fn mean(name: &'static str, help: &'static str, num: &'static [(&'static str, f64)]) -> Derived {
    Derived {
        name,
        unit: "s",
        help,
        num,
        den: Den::Columns(&[("ops", 1.0)]),
        polarity: Polarity::Worse,
        compare: Compare::Ratio,
        floor: 100e-6,
    }
}

/// One row per mount and event.
pub(super) static EVENTS: Table = Table::long(
    "nfs_events",
    "what the NFS client did for each mount; only events that ever happened",
    Kind::Counter,
    &[
        MOUNT,
        count("inode_revalidates", "times that an inode's attributes were asked for again"),
        count("dentry_revalidates", "times that a name was checked again"),
        bad(
            "data_invalidates",
            "times that cached data of a file was thrown away because the file had changed on the server",
        ),
        bad("attribute_invalidates", "times that cached attributes were thrown away"),
        count("vfs_open", "files and folders opened"),
        count("vfs_lookup", "names looked up"),
        count("vfs_access", "permissions checked"),
        count("vfs_update_page", "pages written in the cache"),
        count("vfs_read_page", "reads of one page"),
        count("vfs_read_pages", "reads of several pages"),
        count("vfs_write_page", "writes of one page"),
        count("vfs_write_pages", "writes of several pages"),
        count("vfs_getdents", "reads of folders"),
        count("vfs_setattr", "changes of attributes"),
        count("vfs_flush", "flushes when a file was closed"),
        count("vfs_fsync", "calls of fsync"),
        count("vfs_lock", "locks"),
        count("vfs_release", "files closed"),
        bad("congestion_wait", "waits because too much was being written"),
        count("setattr_truncate", "truncations"),
        count("extend_write", "writes that made a file longer"),
        count("silly_rename", "open files that were removed, and renamed until they are closed"),
        bad("short_read", "reads for which the server gave less than asked"),
        bad("short_write", "writes of which the server took less than given"),
        bad("delay", "times that the server said to come back later (JUKEBOX, DELAY)"),
        count("pnfs_read", "reads through pNFS"),
        count("pnfs_write", "writes through pNFS"),
    ],
)
.grouped(&[&["mount"]])
.from_zero();
