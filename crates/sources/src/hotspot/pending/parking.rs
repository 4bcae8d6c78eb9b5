//! What parked threads wait for: `Thread.parkBlocker` says which synchronizer of java.util.concurrent it is, and the exclusive ones say whose they are
//! (`AbstractOwnableSynchronizer.exclusiveOwnerThread`).

use super::{Kind, MOST_PENDING, Machine, Pending};
use crate::hotspot::objects::Objects;
use crate::hotspot::{Unknown, Way};
use crate::memory::{Memory, Trouble};
use std::collections::HashMap;
use std::sync::Arc;

/// How to read what threads are parked for.
#[derive(Debug)]
pub(super) struct Parking {
    objects: Objects,
    /// Where in a `JavaThread` its object is, and whether by a handle.
    object: u64,
    is_handle: bool,
}

impl Parking {
    pub fn new(memory: &impl Memory, way: &Way) -> Result<Self, Unknown> {
        let tables = &way.tables;
        Ok(Parking {
            objects: Objects::new(memory, tables, false)?,
            object: tables.offset(&[("JavaThread", "_threadObj")]).ok_or(Unknown::Missing("JavaThread::_threadObj"))?,
            is_handle: tables.kind("JavaThread", "_threadObj").is_some_and(|kind| kind.contains("Handle")),
        })
    }

    /// The objects of threads.
    fn of(&self, memory: &impl Memory, threads: &[u64]) -> Result<Vec<u64>, Trouble> {
        let words = memory.words(&threads.iter().map(|thread| thread.wrapping_add(self.object)).collect::<Vec<_>>())?;
        self.objects.held(memory, &words, self.is_handle)
    }

    /// What the objects of threads are parked for; 0 for none.
    fn blockers(&mut self, memory: &impl Memory, objects: &[u64]) -> Result<Vec<u64>, Trouble> {
        let mut places = Vec::with_capacity(objects.len());
        for class in self.objects.classes(memory, objects)? {
            let field = if class == 0 { None } else { self.objects.field(memory, class, "parkBlocker")? };
            places.push(field);
        }
        let at = |(object, field): (&u64, Option<u64>)| field.map_or(0, |field| object.wrapping_add(field));
        let places: Vec<u64> = objects.iter().zip(places).map(at).collect();
        self.objects.referred(memory, &places)
    }
}

impl Machine {
    /// The threads that are parked for a synchronizer now.
    pub(super) fn parked(&mut self, memory: &impl Memory, threads: &[u64]) -> Result<Vec<Pending>, Trouble> {
        let Some(mut parking) = self.parking.take() else { return Ok(Vec::new()) };
        let found = self.parked_by(memory, threads, &mut parking);
        self.parking = Some(parking);
        found
    }

    fn parked_by(
        &mut self,
        memory: &impl Memory,
        threads: &[u64],
        parking: &mut Parking,
    ) -> Result<Vec<Pending>, Trouble> {
        let objects = parking.of(memory, threads)?;
        let blockers = parking.blockers(memory, &objects)?;
        let is_parked = |(at, blocker): (usize, &u64)| (*blocker != 0).then_some(at);
        let waiting: Vec<usize> = blockers.iter().enumerate().filter_map(is_parked).take(MOST_PENDING).collect();
        let of = |list: &[u64]| waiting.iter().filter_map(|&at| list.get(at).copied()).collect::<Vec<u64>>();
        let (parked, threads_of, objects_of) = (of(&blockers), of(threads), of(&objects));
        let classes = parking.objects.classes(memory, &parked)?;
        let names = self.named(memory, &classes)?;
        let mut owners = Vec::with_capacity(parked.len());
        for (&blocker, &class) in parked.iter().zip(&classes) {
            let field = if class == 0 { None } else { parking.objects.field(memory, class, "exclusiveOwnerThread")? };
            owners.push(field.map_or(0, |field| blocker.wrapping_add(field)));
        }
        let owners = parking.objects.referred(memory, &owners)?;
        let by_object: HashMap<u64, u64> = objects.iter().copied().zip(threads.iter().copied()).collect();
        let owners: Vec<u64> = owners.iter().map(|owner| by_object.get(owner).copied().unwrap_or(0)).collect();
        let numbers = self.numbers(memory, &threads_of)?;
        let owners = self.numbers(memory, &owners)?;
        let sps = memory.words(&threads_of.iter().map(|t| t.wrapping_add(self.layout.java_sp)).collect::<Vec<_>>())?;
        // Who was woken, or whose objects were moved meanwhile, is left out.
        let again = parking.blockers(memory, &objects_of)?;
        let mut found = Vec::with_capacity(parked.len());
        let rest = names.into_iter().zip(again.iter().zip(&parked)).zip(sps);
        for ((tid, owner), ((name, (again, before)), sp)) in numbers.into_iter().zip(owners).zip(rest) {
            if let (Some(tid), true) = (tid, again == before) {
                let of = name.map(|name| Arc::from(synchronizer(&name)));
                let owner = owner.filter(|&owner| owner != tid);
                found.push(Pending { tid, sp: sp.unwrap_or(0), monitor: 0, of, owner, kind: Kind::Synchronizer });
            }
        }
        Ok(found)
    }

    /// The numbers of threads, by the addresses of their `JavaThread`s.
    fn numbers(&self, memory: &impl Memory, threads: &[u64]) -> Result<Vec<Option<u32>>, Trouble> {
        let places: Vec<u64> =
            threads.iter().map(|&t| if t == 0 { 0 } else { t.wrapping_add(self.layout.osthread) }).collect();
        let places = memory.words(&places)?;
        let places: Vec<u64> =
            places.into_iter().map(|os| os.map_or(0, |os| os.wrapping_add(self.layout.number))).collect();
        let numbers = memory.words(&places)?;
        Ok(numbers.into_iter().map(|word| word.map(|word| word as u32).filter(|&tid| tid != 0)).collect())
    }
}

/// What a programmer calls a synchronizer: the class that it is a part of, such as `ReentrantLock` of `ReentrantLock$NonfairSync`.
fn synchronizer(class: &str) -> &str {
    let outer = ["$NonfairSync", "$FairSync", "$Sync"].into_iter().find_map(|end| class.strip_suffix(end));
    outer.unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synchronizers_are_called_as_in_programs() {
        for (held, called) in [
            ("java.util.concurrent.locks.ReentrantLock$NonfairSync", "java.util.concurrent.locks.ReentrantLock"),
            ("java.util.concurrent.Semaphore$FairSync", "java.util.concurrent.Semaphore"),
            ("java.util.concurrent.CountDownLatch$Sync", "java.util.concurrent.CountDownLatch"),
            ("com.example.Gate", "com.example.Gate"),
        ] {
            assert_eq!(synchronizer(held), called);
        }
    }
}
