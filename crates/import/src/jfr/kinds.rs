//! The kinds of events that are taken, and their fields.

use super::chunk::{Chunk, Value};
use super::metadata::Span;
use std::collections::HashMap;

/// What one sample stands for where the file does not say: what the JVM does by itself.
const USUAL: i64 = 20_000_000;

/// What kind of event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Execution,
    Native,
    CpuTime,
    WallClock,
    MonitorEnter,
    MonitorWait,
    Park,
    Sleep,
    Io(&'static str, &'static str),
    Allocation(Allocated),
    Collection,
    HeapSummary,
    PhasePause,
    Operation,
    SafepointBegin,
    CpuLoad,
    Flag,
    Jvm,
    Cpus,
    Memory,
    Loss,
    Setting,
}

/// By what an allocation was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Allocated {
    Sampled,
    InTlab,
    Outside,
}

/// The fields that some event is read for.
#[derive(Clone, Copy, Debug)]
pub(super) enum F {
    StartTime,
    Duration,
    EventThread,
    SampledThread,
    StackTrace,
    State,
    Samples,
    SamplingPeriod,
    Failed,
    MonitorClass,
    PreviousOwner,
    Address,
    ParkedClass,
    TimedOut,
    ObjectClass,
    Weight,
    AllocationSize,
    TlabSize,
    GcId,
    Name,
    Cause,
    When,
    HeapUsed,
    Operation,
    Safepoint,
    SafepointId,
    JvmUser,
    JvmSystem,
    MachineTotal,
    Value,
    Origin,
    Id,
    HwThreads,
    TotalSize,
    JvmName,
    JvmVersion,
    Pid,
    JavaArguments,
    HeapSpace,
}

/// Their names, in this order.
pub(super) const FIELDS: [&str; 39] = [
    "startTime",
    "duration",
    "eventThread",
    "sampledThread",
    "stackTrace",
    "state",
    "samples",
    "samplingPeriod",
    "failed",
    "monitorClass",
    "previousOwner",
    "address",
    "parkedClass",
    "timedOut",
    "objectClass",
    "weight",
    "allocationSize",
    "tlabSize",
    "gcId",
    "name",
    "cause",
    "when",
    "heapUsed",
    "operation",
    "safepoint",
    "safepointId",
    "jvmUser",
    "jvmSystem",
    "machineTotal",
    "value",
    "origin",
    "id",
    "hwThreads",
    "totalSize",
    "jvmName",
    "jvmVersion",
    "pid",
    "javaArguments",
    "heapSpace",
];

fn takes(class: &str) -> Option<Takes> {
    Some(match class {
        "jdk.ExecutionSample" => Takes::Execution,
        "jdk.NativeMethodSample" => Takes::Native,
        "jdk.CPUTimeSample" => Takes::CpuTime,
        "profiler.WallClockSample" => Takes::WallClock,
        "jdk.JavaMonitorEnter" => Takes::MonitorEnter,
        "jdk.JavaMonitorWait" => Takes::MonitorWait,
        "jdk.ThreadPark" => Takes::Park,
        "jdk.ThreadSleep" => Takes::Sleep,
        "jdk.SocketRead" => Takes::Io("network", "socket read"),
        "jdk.SocketWrite" => Takes::Io("network", "socket write"),
        "jdk.FileRead" => Takes::Io("disk", "file read"),
        "jdk.FileWrite" => Takes::Io("disk", "file write"),
        "jdk.FileForce" => Takes::Io("disk", "file force"),
        "jdk.ObjectAllocationSample" => Takes::Allocation(Allocated::Sampled),
        "jdk.ObjectAllocationInNewTLAB" => Takes::Allocation(Allocated::InTlab),
        "jdk.ObjectAllocationOutsideTLAB" => Takes::Allocation(Allocated::Outside),
        "jdk.GarbageCollection" => Takes::Collection,
        "jdk.GCHeapSummary" => Takes::HeapSummary,
        "jdk.GCPhasePause" => Takes::PhasePause,
        "jdk.ExecuteVMOperation" => Takes::Operation,
        "jdk.SafepointBegin" => Takes::SafepointBegin,
        "jdk.CPULoad" => Takes::CpuLoad,
        "jdk.IntFlag"
        | "jdk.UnsignedIntFlag"
        | "jdk.LongFlag"
        | "jdk.UnsignedLongFlag"
        | "jdk.DoubleFlag"
        | "jdk.BooleanFlag" => Takes::Flag,
        "jdk.JVMInformation" => Takes::Jvm,
        "jdk.CPUInformation" => Takes::Cpus,
        "jdk.PhysicalMemory" => Takes::Memory,
        "jdk.DataLoss" => Takes::Loss,
        "jdk.ActiveSetting" => Takes::Setting,
        _ => return None,
    })
}

/// A class of events that is taken, in one chunk.
pub(super) struct Wanted {
    pub(super) class: usize,
    pub(super) takes: Takes,
    /// Of each of its fields the place among [`FIELDS`].
    pub(super) places: Vec<Option<usize>>,
    /// By place among these: what a number of it counts.
    spans: Vec<Option<Span>>,
    /// Nanoseconds that a sample stands for.
    pub(super) period: i64,
}

/// An event while it is taken.
pub(super) struct Taken<'a, 'b> {
    pub(super) chunk: &'b Chunk<'a>,
    pub(super) wanted: &'b Wanted,
    pub(super) values: &'b [Value<'a>],
}

impl<'a> Taken<'a, '_> {
    pub(super) fn value(&self, name: F) -> Value<'a> {
        self.values.get(name as usize).copied().unwrap_or(Value::Missing)
    }

    pub(super) fn number(&self, name: F) -> Option<i64> {
        match self.value(name) {
            Value::Number(n) => Some(n),
            _ => None,
        }
    }

    pub(super) fn real(&self, name: F) -> f64 {
        match self.value(name) {
            Value::Real(x) => x,
            _ => f64::NAN,
        }
    }

    /// A length of time in nanoseconds.
    pub(super) fn span(&self, name: F) -> Option<i64> {
        let n = self.number(name)?;
        Some(match self.wanted.spans.get(name as usize).copied().flatten() {
            Some(Span::Nanoseconds(by)) => n.saturating_mul(by),
            Some(Span::Ticks) | None => self.chunk.header.length(n),
        })
    }

    pub(super) fn begin(&self) -> i64 {
        self.number(F::StartTime).map_or(self.chunk.header.start(), |ticks| self.chunk.header.time(ticks))
    }

    pub(super) fn word(&self, name: F) -> Option<String> {
        self.chunk.word(self.value(name))
    }

    /// The first of two fields that is there.
    pub(super) fn either(&self, one: F, other: F) -> Value<'a> {
        match self.value(one) {
            Value::Missing => self.value(other),
            value => value,
        }
    }

    pub(super) fn class(&self) -> usize {
        self.wanted.class
    }
}

/// The classes of events that are taken.
pub(super) fn wanted(chunk: &Chunk) -> HashMap<usize, Wanted> {
    let of = |(class, takes): (usize, Takes)| {
        let fields = &chunk.class(class)?.fields;
        let place = |name: &str| FIELDS.iter().position(|wanted| *wanted == name);
        let places: Vec<Option<usize>> = fields.iter().map(|field| place(&field.name)).collect();
        let mut spans = vec![None; FIELDS.len()];
        for (field, place) in fields.iter().zip(&places) {
            if let Some(slot) = place.and_then(|at| spans.get_mut(at)) {
                *slot = field.span;
            }
        }
        Some((class, Wanted { class, takes, places, spans, period: USUAL }))
    };
    let known = chunk.types.classes.iter().enumerate().filter_map(|(at, class)| Some((at, takes(&class.name)?)));
    known.filter_map(of).collect()
}

/// The class that a setting is of, and the time that it says one sample stands for: `20 ms`, of async-profiler nanoseconds.
pub(super) fn period(e: &Taken) -> Option<(usize, i64)> {
    if !matches!(e.word(F::Name)?.as_str(), "period" | "interval") {
        return None;
    }
    let value = e.word(F::Value)?;
    let (number, unit) = value.trim().split_once(' ').unwrap_or((value.trim(), "ns"));
    let by = match unit.trim() {
        "ns" => 1,
        "us" => 1000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    let period = number.parse::<i64>().ok()?.checked_mul(by).filter(|period| *period > 0)?;
    Some((e.chunk.types.by_id(e.number(F::Id)?)?, period))
}
