//! Many hosts: each recording is reduced once to a summary, and what is asked of a fleet is asked of its summaries: which bands of hosts there
//! are, what separates them, and why. `docs/fleet-format.md` describes the folder of summaries, docs/method.md the statistics.

mod add;
mod ask;
pub mod folder;
mod json;
mod loaded;
mod separate;
mod since;
pub mod sql;
pub mod statistics;
pub mod summary;
pub mod words;

pub use add::{Added, Report, add};
pub use ask::{Answer, AskError, Asked, Banding, Group, Question, ask};
pub use folder::{Damage, Folder, FolderError};
pub use loaded::{Course, Declared, Fact, Fleet, Key, Metric, Place, Recording};
pub use separate::{Line, Of, PlaceLine, Separated};
pub use since::{OneHost, Since, Switch};
