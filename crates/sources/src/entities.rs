//! What a reader remembers of the entities that a file lists (disks, interfaces, mounts, groups), found again without hashing: a
//! file lists them in the same order read after read.

/// Entities in the order of the last read.
#[derive(Debug)]
pub struct Entities<T> {
    known: Vec<Known<T>>,
    next: usize,
}

#[derive(Debug)]
struct Known<T> {
    name: Box<[u8]>,
    seen: bool,
    what: T,
}

impl<T> Default for Entities<T> {
    fn default() -> Self {
        Entities { known: Vec::new(), next: 0 }
    }
}

impl<T> Entities<T> {
    /// Starts another read; forgets what the last one did not list.
    pub fn start(&mut self) {
        self.known.retain(|k| k.seen);
        self.known.iter_mut().for_each(|k| k.seen = false);
        self.next = 0;
    }

    /// What is known of the entity `name`; `make` says it of one that is new.
    pub fn find(&mut self, name: &[u8], make: impl FnOnce() -> T) -> &mut T {
        let at = match self.known.get(self.next) {
            Some(known) if *known.name == *name => self.next,
            _ => self.known.iter().position(|k| *k.name == *name).unwrap_or_else(|| {
                let at = self.next.min(self.known.len());
                self.known.insert(at, Known { name: name.into(), seen: true, what: make() });
                at
            }),
        };
        self.next = at + 1;
        let known = &mut self.known[at];
        known.seen = true;
        &mut known.what
    }
}

#[cfg(test)]
mod tests {
    use super::Entities;

    fn read(all: &mut Entities<u32>, names: &[&str]) -> Vec<u32> {
        let mut made = 100 * names.len() as u32;
        all.start();
        names
            .iter()
            .map(|name| {
                *all.find(name.as_bytes(), || {
                    made += 1;
                    made
                })
            })
            .collect()
    }

    #[test]
    fn entities_come_and_go() {
        let mut all = Entities::default();
        assert_eq!(read(&mut all, &["a", "b"]), [201, 202]);
        assert_eq!(read(&mut all, &["x", "a", "b"]), [301, 201, 202]);
        assert_eq!(read(&mut all, &["b", "a", "x"]), [202, 201, 301]);
        assert_eq!(read(&mut all, &["b"]), [202]);
        // Forgotten by now.
        assert_eq!(read(&mut all, &["a", "b", "c"]), [301, 202, 302]);
    }
}
