//! Searches on a simulated machine: that they come near the best, and that the gain that is told is the true one.

#[path = "simulation/mod.rs"]
#[allow(dead_code, unused_imports)]
mod simulation;

#[test]
fn a_search_comes_near_the_best_and_tells_its_gain() {
    let s = simulation::optima(80, 0.05, 0.02, 40);
    println!("{s:?}");
    assert!(s.short < 5.5 && s.overstated.abs() < 1.5, "{s:?}");
    assert!(s.seen > s.overstated + 2.0, "the search itself is too sure: {s:?}");
}
