//! The statistics of a fleet: one number or more of each host in, bands and what separates them out. No input or output, no table, no clock;
//! everything is deterministic, for the generator is our own and its seed is given.
