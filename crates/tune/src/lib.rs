//! Experiments: variants of a run, trials in a random order, statistics that know when to stop. Its issue is still to come; the part has its
//! place in the design and holds nothing yet.
