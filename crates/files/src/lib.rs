//! How Twinscope writes: [`Output`] for results, [`create_new`] for files of its own, [`state`] for what outlasts a command or is
//! shared between commands. Nothing else creates, replaces or renames files (`clippy.toml`), because each of these would have to
//! answer the same questions again: what if a link lies there, a device, or a file that the command reads; what if the disk fills.
//! What others wrote is read by [`foreign`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod aside;
pub mod foreign;
mod name;
mod output;
mod owner;
pub mod state;

pub use aside::{Aside, PART, is_part, start_over};
pub use name::{Rules, check, plain_name, rename_new, result_name};
pub use output::{Output, is_stdout, is_stream, write};
pub use owner::{append, asked_mode, create_new, make_folder, parse_mode, private_folder, set_mode};
