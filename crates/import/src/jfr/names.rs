//! Names of methods, classes and threads, and stacks, of the constants of a chunk; each is looked up once.

use super::chunk::{Chunk, Value};
use crate::profile::{Place, Profile};
use model::NULL;
use std::collections::HashMap;

/// The most frames of a stack. JVMs take 64 where nobody says, and 2,048 at most.
const DEEPEST: usize = 4096;

/// Bytes of names of methods, all together. A damaged file could have a long one in each of millions of methods.
const MOST_NAMES: usize = 256 << 20;

/// A thread, as rows have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) tid: i64,
    pub(super) name: i64,
}

pub(super) const NOBODY: Thread = Thread { tid: NULL, name: NULL };

/// What was looked up of the present chunk, by number of the constant.
#[derive(Default)]
pub(super) struct Names {
    stacks: HashMap<i64, u32>,
    /// Function and module.
    methods: HashMap<i64, (i64, i64)>,
    threads: HashMap<i64, Thread>,
    classes: HashMap<i64, i64>,
    kinds: HashMap<i64, Kind>,
    /// Whether async-profiler wrote the chunk: then native code has frames, too, with the library in the place of the class.
    of_profiler: bool,
    /// Bytes of names so far, in all chunks.
    bytes: usize,
}

#[derive(Clone, Copy)]
struct Kind {
    cell: i64,
    native: bool,
}

impl Names {
    /// Forgets what is of one chunk alone.
    pub(super) fn next_chunk(&mut self, of_profiler: bool) {
        *self = Names { bytes: self.bytes, of_profiler, ..Names::default() };
    }

    /// A thread.
    pub(super) fn thread(&mut self, chunk: &Chunk, value: Value, profile: &mut Profile) -> Thread {
        let Value::Constant(_, number) = value else { return NOBODY };
        if let Some(known) = self.threads.get(&number) {
            return *known;
        }
        let name = |field: &str| chunk.word(chunk.field(value, field)).filter(|name| !name.is_empty());
        let name = name("javaName").or_else(|| name("osName"));
        // A virtual thread has none of the system's.
        let tid = match chunk.field(value, "osThreadId") {
            Value::Number(tid) if tid > 0 => tid,
            _ => NULL,
        };
        let thread = Thread { tid, name: name.map_or(NULL, |name| profile.text(&name)) };
        self.threads.insert(number, thread);
        thread
    }

    /// The name of a class, as Java writes it.
    pub(super) fn class(&mut self, chunk: &Chunk, value: Value, profile: &mut Profile) -> i64 {
        let Value::Constant(_, number) = value else { return NULL };
        if let Some(known) = self.classes.get(&number) {
            return *known;
        }
        let name = class_name(chunk, value);
        self.bytes += name.len();
        let cell = if self.bytes > MOST_NAMES { NULL } else { profile.text(&name) };
        self.classes.insert(number, cell);
        cell
    }

    /// The number of a stack, 0 for none.
    pub(super) fn stack(&mut self, chunk: &Chunk, value: Value, profile: &mut Profile) -> u32 {
        let Value::Constant(_, number) = value else { return 0 };
        if let Some(known) = self.stacks.get(&number) {
            return *known;
        }
        let frames = chunk.elements(chunk.field(value, "frames"));
        if matches!(chunk.field(value, "truncated"), Value::Number(1)) {
            profile.count(
                "stacks were cut off where they were recorded (stackdepth): their outermost frames are missing",
                1,
            );
        }
        let mut stack = 0;
        // The innermost comes first.
        for frame in frames.iter().take(DEEPEST).rev() {
            let place = self.place(chunk, *frame, profile);
            let place = profile.place(place);
            stack = profile.stack(stack, place);
        }
        self.stacks.insert(number, stack);
        stack
    }

    /// The stack on which an object of a class, a cell, is allocated: the class is its innermost frame.
    pub(super) fn allocating(&mut self, stack: u32, class: i64, profile: &mut Profile) -> u32 {
        if class == NULL {
            return stack;
        }
        let (module, kind) = (profile.text("[class]"), profile.text("class"));
        let place = Place { function: class, module, build_id: NULL, offset: NULL, source: NULL, kind };
        let place = profile.place(place);
        profile.stack(stack, place)
    }

    fn place(&mut self, chunk: &Chunk, frame: Value, profile: &mut Profile) -> Place {
        let kind = self.kind(chunk, chunk.field(frame, "type"), profile);
        let method = chunk.field(frame, "method");
        let named = |names: &mut Names, profile: &mut Profile| {
            let (class, name) = method_name(chunk, method);
            names.bytes += class.len() + name.len();
            if names.bytes > MOST_NAMES {
                return (NULL, NULL);
            }
            match class.as_str() {
                "" => (profile.text(&name), NULL),
                library if kind.native => (profile.text(&name), profile.text(library)),
                class => (profile.text(&format!("{class}.{name}")), profile.text("[jit]")),
            }
        };
        let (function, module) = match method {
            Value::Constant(_, number) => match self.methods.get(&number) {
                Some(known) => *known,
                None => {
                    let named = named(self, profile);
                    self.methods.insert(number, named);
                    named
                }
            },
            _ => (NULL, NULL),
        };
        // Which file a class is of is not recorded: its lines are.
        let source = match chunk.field(frame, "lineNumber") {
            Value::Number(line) if line > 0 && !kind.native => profile.text(&format!("line {line}")),
            _ => NULL,
        };
        Place { function, module, build_id: NULL, offset: NULL, source, kind: kind.cell }
    }

    fn kind(&mut self, chunk: &Chunk, value: Value, profile: &mut Profile) -> Kind {
        let number = if let Value::Constant(_, number) = value { number } else { -1 };
        if let Some(known) = self.kinds.get(&number) {
            return *known;
        }
        let (word, native) = match chunk.word(value).as_deref() {
            Some("Interpreted") => ("interpreted", false),
            Some("Inlined") => ("inlined", false),
            // Of the JVM's own recorder methods of Java that are written in C.
            Some("Native") => ("native", self.of_profiler),
            Some("C++") => ("native", true),
            Some("Kernel") => ("kernel", true),
            // "JIT compiled", "C1 compiled".
            Some(_) => ("jit", false),
            None => ("unknown", false),
        };
        let kind = Kind { cell: profile.text(word), native };
        self.kinds.insert(number, kind);
        kind
    }
}

/// `java/util/HashMap` and `[Ljava/lang/String;` as Java writes them. What the JVM puts after the name of a class that it has made
/// itself, which is another each time, is left out.
pub(super) fn class_name(chunk: &Chunk, class: Value) -> String {
    let name = chunk.word(chunk.field(class, "name")).unwrap_or_default();
    java(&name)
}

fn java(name: &str) -> String {
    let lists = name.bytes().take_while(|b| *b == b'[').count();
    let element = name.get(lists..).unwrap_or_default();
    let element = match (lists, element) {
        (0, class) => class,
        (_, "Z") => "boolean",
        (_, "B") => "byte",
        (_, "C") => "char",
        (_, "S") => "short",
        (_, "I") => "int",
        (_, "J") => "long",
        (_, "F") => "float",
        (_, "D") => "double",
        (_, class) => class.strip_prefix('L').and_then(|c| c.strip_suffix(';')).unwrap_or(class),
    };
    // The number of a lambda is that of how many were made before it.
    let lambda = element.find("$$Lambda").map(|at| at + "$$Lambda".len());
    let marks = ["+0x", "/0x", ".0x"].into_iter().filter_map(|mark| element.find(mark));
    let hidden = marks.chain(lambda).min().unwrap_or(element.len());
    element.get(..hidden).unwrap_or(element).replace('/', ".") + &"[]".repeat(lists.min(255))
}

/// The class of a method, or the library of a function, and its name.
fn method_name(chunk: &Chunk, method: Value) -> (String, String) {
    let name = chunk.word(chunk.field(method, "name")).unwrap_or_default();
    (class_name(chunk, chunk.field(method, "type")), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_called_as_in_java() {
        for (name, expected) in [
            ("java/util/HashMap", "java.util.HashMap"),
            ("[B", "byte[]"),
            ("[[Ljava/lang/String;", "java.lang.String[][]"),
            ("p/Main$$Lambda$14+0x00007f1234", "p.Main$$Lambda"),
            ("p/Main$$Lambda/0x00007f1234", "p.Main$$Lambda"),
            ("p/Main$$Lambda$5.0x00007f1234", "p.Main$$Lambda"),
            ("", ""),
        ] {
            assert_eq!(java(name), expected);
        }
    }
}
