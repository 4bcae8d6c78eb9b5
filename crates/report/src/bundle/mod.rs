//! The report bundle as types: what this crate writes and the page reads. Binary layout and the idea of it are in docs/report-bundle.md;
//! every field is described here, and nowhere else: the page's types, `ui/src/bundle/generated.ts`, are made from these.
//!
//! All times are seconds since the start of their recording, unless a field says otherwise; lists "by run" are in the order of [`Head::runs`];
//! texts that come from a recorded host (names, paths, labels, commands) are data, never markup.

mod blocks;
mod budget;
mod charts;
mod code;
mod counters;
mod explanation;
mod flame;
mod fleet;
mod head;
mod instructions;
mod jvm;
mod machine;
mod profile;
mod requests;
mod sharing;
mod tables;
#[cfg(test)]
mod typescript;
mod unit;

pub use blocks::{BlockIndex, Coding, ColumnIndex, ColumnsIndex, LevelIndex, SeriesIndex, TableIndex, TimeIndex};
pub use budget::{Budget, BudgetSource, Share, State, StateKind};
pub use charts::{Chart, ChartKind, PageSpec, SeriesRef, View};
pub use code::{CodeGroup, CodeMaps, CodeOfRun, CodeRegion};
pub use counters::{
    CounterChange, CounterGroup, CounterMetric, CounterValue, Counters, CountersOfRun, FunctionCycles,
    FunctionCyclesOfRun, FunctionsCycles, TopDown,
};
pub use explanation::{Explanation, Finding, NotEvaluated, Note, Outcome, StateShare};
pub use flame::{FLAME_FORMAT, FlameData, FlameFrames, FlameRun};
pub use fleet::{FLEET_FORMAT, FleetCourse, FleetDrawn, FleetFacts, FleetPage, FleetPageGroup, FleetStrips, FleetWhy};
pub use head::{
    BlockRef, Caution, Comparison, Difference, DifferencePer, Exit, Fact, FactDifference, Head, Level, Mark, Missing,
    MissingStatus, Output, Polarity, Role, Run, SetUp, Sprint, Strip, Tool, Verdict, Window, Work,
};
pub use instructions::{
    Instructions, Listed, ListedCalls, ListedCell, ListedFunction, ListedLoop, ListedRow, ListedSides, Listings,
    NoCode, Round, SourceLine, WaitShare,
};
pub use jvm::{JvmCodeHeap, JvmFlag, JvmMethod, JvmPause, Jvms, JvmsOfRun};
pub use machine::{MachineFigure, MachinePart, MachineRatio, MachineValue, Machines};
pub use profile::{Measure, PerWhat, ProfileSpec, Sawtooth, Serial, Turns, WeightPer};
pub use requests::{Place, RequestQueries, Requests, Service};
pub use sharing::{
    SharedAccess, SharedCells, SharedField, SharedFunction, SharedLine, SharedLines, SharedMoved, SharedOfRun,
    SharedThing, SharedThread,
};
pub use tables::{
    Bucket, Column, EventKey, EventTable, EventValue, How, Only, PageTable, Row, StackColumn, WindowTable,
};
pub use unit::Unit;

/// The version of the contract. A page draws reports of its own version only.
pub const FORMAT: u32 = 2;
