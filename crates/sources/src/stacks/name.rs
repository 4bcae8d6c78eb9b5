//! What is said of a frame.

use std::sync::Arc;

/// What kind of code a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Kernel,
    Native,
    Jit,
    Interpreted,
    Python,
    Inlined,
    Class,
    Unknown,
}

impl Kind {
    /// The word in the table.
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Native => "native",
            Kind::Jit => "jit",
            Kind::Interpreted => "interpreted",
            Kind::Python => "python",
            Kind::Inlined => "inlined",
            Kind::Class => "class",
            Kind::Unknown => "unknown",
        }
    }
}

/// Who makes code while a program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Maker {
    #[default]
    Unknown,
    /// HotSpot.
    Jvm,
    /// V8 in Node.js.
    Node,
}

/// A row of the table `frame`, without its number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Row {
    /// The function; `None` where it was not resolved.
    pub function: Option<Arc<str>>,
    /// Path of the file, or a word in brackets.
    pub module: Option<Arc<str>>,
    pub build_id: Option<Arc<str>>,
    /// Address in the file; of the kernel, address minus `_text`.
    pub offset: Option<i64>,
    /// `file.rs:123`.
    pub source: Option<Arc<str>>,
    pub kind: Kind,
    /// Whether it lies in a loop that waits, see [`super::code`].
    pub spins: bool,
    /// Of Java methods: 0 interpreted, 1 to 3 C1, 4 C2.
    pub tier: Option<u8>,
}

impl Row {
    /// A frame of which only the module is known.
    pub(super) fn unresolved(module: Option<Arc<str>>, kind: Kind) -> Self {
        Row { function: None, module, build_id: None, offset: None, source: None, kind, spins: false, tier: None }
    }

    /// A frame in code that a process made itself, which has no name.
    pub(super) fn generated(by: Maker) -> Self {
        let (module, kind) = match by {
            Maker::Jvm => ("[jit]", Kind::Jit),
            Maker::Node => ("[JIT code of node]", Kind::Jit),
            Maker::Unknown => ("[anonymous]", Kind::Unknown),
        };
        Row::unresolved(Some(module.into()), kind)
    }
}
