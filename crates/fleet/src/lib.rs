//! Many hosts: each recording is reduced once to a summary, and what is asked of a fleet is asked of its summaries: which bands of hosts there
//! are, what separates them, and why. `docs/fleet-format.md` describes the folder of summaries, docs/method.md the statistics.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod add;
mod ask;
pub mod engine;
pub mod folder;
mod loaded;
pub mod result;
mod separate;
mod since;
pub mod sql;
pub mod statistics;
mod straying;
pub mod summary;

pub use add::{Added, Report, add};
pub use ask::{Answer, AskError, Asked, Banding, Group, Question, ask};
pub use folder::{Damage, Folder, FolderError};
pub use loaded::{Course, Declared, Fact, Fleet, Key, Metric, Part, Place, Recording};
pub use separate::{FactSplit, Line, Of, PlaceLine, Separated};
pub use since::{Anchor, Around, OneHost, Since, Switch};
pub use straying::{StrayLine, Straying};
