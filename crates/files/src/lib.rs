//! How Twinscope writes: [`Output`] for results, [`create_new`] for files of its own, [`state`] for what outlasts a command or is
//! shared between commands. Nothing else creates, replaces or renames files (`clippy.toml`), because each of these would have to
//! answer the same questions again: what if a link lies there, a device, or a file that the command reads; what if the disk fills.

mod aside;
mod name;
mod output;
mod owner;
pub mod state;

pub use aside::{Aside, PART};
pub use name::{Rules, check, named, rename_new};
pub use output::{Output, is_stdout, is_stream, write};
pub use owner::{asked_mode, create_new, make_folder, parse_mode, private_folder, set_mode};
