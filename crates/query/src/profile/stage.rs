//! How a virtual machine ran a function, as kinds of frames: interpreted, then compiled at first, then compiled well.

/// In the order in which a function comes by them. What other machines than HotSpot compile is `jit` at once.
const STAGES: [&str; 3] = ["interpreted", "c1", "jit"];

/// The kind of a frame with its tier, which the table `frame` has beside it: what the first compiler of HotSpot made is `c1` (tiers 1 to 3 of
/// `compilationPolicy.hpp`).
pub fn of_tier(kind: &str, tier: i64) -> &str {
    if kind == "jit" && (1..4).contains(&tier) { "c1" } else { kind }
}

/// How far a function has come, from 1; 0 for a kind that is no such stage.
pub fn stage(kind: &str) -> u32 {
    (1..).zip(STAGES).find(|(_, of)| *of == kind).map_or(0, |(number, _)| number)
}

/// What of a kind tells two functions of the same name apart: not how far it has come, else two runs of one program would have few functions in common.
pub fn identity(kind: &str) -> &str {
    if stage(kind) > 0 { "jit" } else { kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Tree;

    #[test]
    fn tiers_are_kinds() {
        let of = |kind, tiers: &[i64]| tiers.iter().map(|&tier| of_tier(kind, tier)).collect::<Vec<_>>();
        assert_eq!(of("jit", &[model::NULL, 1, 2, 3, 4]), ["jit", "c1", "c1", "c1", "jit"]);
        assert_eq!(of("interpreted", &[0]), ["interpreted"]);
        assert_eq!(of("inlined", &[2]), ["inlined"]);
    }

    #[test]
    fn a_function_is_one_frame_and_has_the_last_stage() {
        let mut tree = Tree::new(1);
        let seen = ["c1", "interpreted", "jit", "c1"].map(|kind| tree.intern("Orders.get", "[jit]", "", kind));
        let (other, inlined) =
            (tree.intern("main", "[jit]", "", "interpreted"), tree.intern("Orders.get", "[jit]", "", "inlined"));
        assert!(seen.iter().all(|frame| *frame == seen[0]) && other != seen[0] && inlined != seen[0]);
        let kinds: Vec<&str> = tree.frames().iter().map(|frame| &*frame.kind).collect();
        assert_eq!(kinds, ["jit", "interpreted", "inlined"]);
    }
}
