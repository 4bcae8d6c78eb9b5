//! Figures of memory: how long an access takes in each cache, beyond them and on each node, and what one CPU reads a second.

use super::{On, Prepared, Probe, level, spare};
use crate::calls as libc;
use crate::measure::{Memory, on_cpu};
use crate::memory::{beyond_caches, bind, follow, ring, ring_length, sum};
use crate::{Context, machine};
use model::Unavailable;
use std::sync::Arc;
use std::time::Instant;

/// Loads of a round within a cache, within a large one, and beyond all of them.
const NEAR: usize = 20_000;
const FAR: usize = 5_000;

/// Larger caches take longer: fewer loads tell.
const LARGE: i64 = 2;

/// Bytes that are read in a round for the bandwidth, and of a cache.
const READ: usize = 16 << 20;
const NEAR_READ: usize = 2 << 20;

/// Nodes that are looked at.
const NODES: usize = 4;

/// The most memory of one node.
const OF_NODE: usize = 256 << 20;

/// Adds all of them. What takes long to prepare only where it `is_thorough`.
pub(super) fn prepare<'a>(on: On<'a>, is_thorough: bool, into: &mut Prepared<'a>) {
    let On { context, cpu, .. } = on;
    into.add("memory.l", caches(context, cpu));
    into.add("memory.dram", dram(context, cpu));
    if is_thorough {
        into.add("memory.small", small(context, cpu));
        let nodes = machine::nodes(context.host);
        if nodes.len() > 1 {
            into.add("memory.node", by_node(on, &nodes));
        }
    }
}

/// Seconds of each of `steps` loads, and where they have come to.
fn chase(memory: &Memory, at: usize, steps: usize) -> (f64, usize) {
    let start = Instant::now();
    let at = std::hint::black_box(follow(memory, at, steps));
    (start.elapsed().as_secs_f64() / steps as f64, at)
}

fn caches<'a>(context: &'a Context<'a>, cpu: usize) -> Result<Vec<Probe<'a>>, Unavailable> {
    let found = machine::caches(context.host, cpu);
    if found.is_empty() {
        return Err(Unavailable::absent("/sys/devices/system/cpu/cpu*/cache: it tells of no caches"));
    }
    let mut all = Vec::new();
    for cache in found {
        // Half of it, but of a last cache no more than a share of it that other CPUs leave.
        let share = if cache.shared.len() > 1 || cache.size > 8 << 20 { 8 } else { 2 };
        let length = (cache.size as usize / share).clamp(4096, 32 << 20);
        let memory = Memory::map(length, Some(libc::MADV_HUGEPAGE)).or_else(|_| Memory::map(length, None))?;
        memory.touch();
        let lines = ring(&memory, length);
        let memory = Arc::new(memory);
        let (own, name) = (Arc::clone(&memory), level(cache.level));
        let loads = if cache.level > LARGE { FAR } else { NEAR };
        all.push(Probe::time(format!("memory.l{}", cache.level), format!("a load from {name}"), move || {
            // What ran meanwhile has taken its place: some of it comes back first.
            let (_, at) = chase(&own, 0, lines.min(loads));
            Ok(chase(&own, at, loads).0)
        }));
        let title = format!("bytes that one CPU reads from {name}");
        all.push(Probe::rate(format!("bandwidth.l{}", cache.level), title, "B/s", move || {
            let turns = (NEAR_READ / memory.length()).max(1);
            std::hint::black_box(sum(memory.start(), memory.length()));
            let start = Instant::now();
            for _ in 0..turns {
                std::hint::black_box(sum(std::hint::black_box(memory.start()), memory.length()));
            }
            Ok((turns * memory.length()) as f64 / start.elapsed().as_secs_f64())
        }));
    }
    Ok(all)
}

fn mapped(size: usize, advice: i32) -> Result<Memory, Unavailable> {
    let memory = Memory::map(size, Some(advice)).or_else(|_| Memory::map(size, None))?;
    memory.touch();
    Ok(memory)
}

/// A probe of loads beyond all caches.
fn far<'a>(id: &str, title: &str, memory: Arc<Memory>) -> Probe<'a> {
    let mut at = 0;
    Probe::time(id, title, move || {
        let (seconds, next) = chase(&memory, at, FAR);
        at = next;
        Ok(seconds)
    })
}

fn dram<'a>(context: &'a Context<'a>, cpu: usize) -> Result<Vec<Probe<'a>>, Unavailable> {
    let size = beyond_caches(context, cpu)?;
    let memory = Arc::new(mapped(size, libc::MADV_HUGEPAGE)?);
    ring(&memory, ring_length(size));
    let (own, mut from) = (Arc::clone(&memory), 0);
    Ok(vec![
        far("memory.dram", "a load from DRAM", memory),
        Probe::rate("bandwidth", "bytes that one CPU reads from memory", "B/s", move || {
            // Each round another part, so that none is still in a cache.
            from = if from + 2 * READ > own.length() { 0 } else { from + READ };
            let length = READ.min(own.length());
            let start = Instant::now();
            std::hint::black_box(sum(own.start().wrapping_add(from), length));
            Ok(length as f64 / start.elapsed().as_secs_f64())
        }),
    ])
}

fn small<'a>(context: &'a Context<'a>, cpu: usize) -> Result<Vec<Probe<'a>>, Unavailable> {
    let size = beyond_caches(context, cpu)?;
    let memory = Arc::new(mapped(size, libc::MADV_NOHUGEPAGE)?);
    ring(&memory, ring_length(size));
    Ok(vec![far("memory.small", "a load from DRAM, memory in pages of 4 KiB", memory)])
}

/// From each node to the memory of each: latency and bandwidth.
fn by_node<'a>(on: On<'a>, nodes: &[(usize, Vec<usize>)]) -> Result<Vec<Probe<'a>>, Unavailable> {
    let On { context, cpu, cpus: allowed } = on;
    let size = beyond_caches(context, cpu)?.min(OF_NODE).min(spare(context) / NODES);
    let mut all = Vec::new();
    for (node, _) in nodes.iter().take(NODES) {
        let memory = Memory::map(size, Some(libc::MADV_HUGEPAGE)).or_else(|_| Memory::map(size, None))?;
        // A node without memory, or without room.
        if bind(&memory, *node).is_err() {
            continue;
        }
        memory.touch();
        ring(&memory, ring_length(size));
        let memory = Arc::new(memory);
        for (from, cpus) in nodes.iter().take(NODES) {
            let Some(cpu) = cpus.iter().copied().find(|cpu| allowed.contains(cpu)) else { continue };
            let (own, mut at) = (Arc::clone(&memory), 0);
            let title = format!("a load of node {from} from memory of node {node}");
            all.push(Probe::time(format!("memory.node{from}-{node}"), title, move || {
                let (seconds, next) = on_cpu(cpu, || Ok(chase(&own, at, FAR)))?;
                at = next;
                Ok(seconds)
            }));
            let own = Arc::clone(&memory);
            let title = format!("bytes that a CPU of node {from} reads from memory of node {node}");
            all.push(Probe::rate(format!("bandwidth.node{from}-{node}"), title, "B/s", move || {
                on_cpu(cpu, || {
                    let (start, length) = (Instant::now(), READ.min(own.length()));
                    std::hint::black_box(sum(own.start(), length));
                    Ok(length as f64 / start.elapsed().as_secs_f64())
                })
            }));
        }
    }
    Ok(all)
}
