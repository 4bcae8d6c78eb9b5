//! What `explain` says of recorded pairs. One program of tests, for each links all of Twinscope.

mod answers;
mod field;
