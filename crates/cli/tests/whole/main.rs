//! Tests of the whole program, as a user runs it: the binary, real recordings of this machine, what is printed and how it
//! ends. Timings never decide a test; what takes longer or wants a quiet machine is in tests/*.sh.

mod common;
mod damage;
mod declared;
mod disk;
mod doctor;
mod explain;
mod flame;
mod fleet;
mod flight;
mod footprint;
mod foreign;
mod hostile;
mod image;
mod imports;
mod instructions;
mod interpreted;
mod java;
mod kill;
mod latency;
mod ledger;
mod load;
mod machines;
mod monitors;
mod outputs;
mod pairs;
mod record;
mod resolve;
mod sharing;
mod stacks;
mod stretches;
mod threads;
mod tune;
mod turns;
mod unharmed;
mod usage;
