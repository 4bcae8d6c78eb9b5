//! The file format of speedscope (www.speedscope.app/file-format-schema.json): one `sampled` profile for each run, over shared frames.

use super::tree::Tree;
use serde_json::{Value, json};

/// The tree as speedscope's JSON. `runs` are names; `unit` is one of speedscope's: "seconds", "none".
pub fn speedscope(tree: &Tree, runs: &[String], title: &str, unit: &str) -> Value {
    let frames: Vec<Value> = tree
        .frames()
        .iter()
        .map(|f| {
            let mut frame = json!({ "name": &*f.name });
            let (file, line) = match f.source.rsplit_once(':') {
                Some((file, line)) => (file, line.parse::<u32>().ok()),
                None => (&*f.source, None),
            };
            let file = if file.is_empty() { &*f.module } else { file };
            if !file.is_empty() {
                frame["file"] = file.into();
            }
            if let Some(line) = line {
                frame["line"] = line.into();
            }
            frame
        })
        .collect();
    let profiles: Vec<Value> = runs
        .iter()
        .enumerate()
        .map(|(run, name)| {
            let (mut samples, mut weights) = (Vec::new(), Vec::new());
            for (node, &weight) in tree.own(run).iter().enumerate().skip(1).filter(|(_, w)| **w != 0.0) {
                samples.push(tree.path(node as u32));
                weights.push(weight);
            }
            json!({
                "type": "sampled", "name": name, "unit": unit, "startValue": 0, "endValue": weights.iter().sum::<f64>(),
                "samples": samples, "weights": weights,
            })
        })
        .collect();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": title,
        "exporter": concat!("twinscope ", env!("CARGO_PKG_VERSION")),
        "shared": { "frames": frames },
        "profiles": profiles,
    })
}
