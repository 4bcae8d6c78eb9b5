//! The JSON of JMH (`-rf json -rff FILE`). Throughput is the rate, all other modes give the mean; percentiles are those of single
//! operations (modes `sample` and `ss`): those of the other modes are of whole iterations, and not read.

use super::Numbers;
use super::text::{at, cut, last_json, none, number, unit};
use serde_json::Value;

pub fn read(output: &str) -> Result<Numbers, String> {
    let report =
        last_json(output, "\"primaryMetric\"", |value| value.as_array().is_some_and(|all| all.iter().any(is_result)))
            .ok_or_else(|| none("a JSON list with \"benchmark\" and \"primaryMetric\": -rf json"))?;
    let all = report.as_array().map(Vec::as_slice).unwrap_or_default();
    let [result] = all else {
        return Err(format!(
            "{} results are in it (benchmarks, modes or parameters), so it is not clear which counts: run one",
            all.len()
        ));
    };
    let metric = result.get("primaryMetric").ok_or_else(|| cut("primaryMetric"))?;
    // A score that could not be computed is the text "NaN".
    let score = at(metric, &["score"]).ok_or_else(|| cut("primaryMetric.score"))?;
    let of = metric.get("scoreUnit").and_then(Value::as_str).ok_or_else(|| cut("primaryMetric.scoreUnit"))?;
    let other = || format!("scoreUnit is {of:?}, expected one such as ops/s or us/op");
    let (left, right) = of.split_once('/').ok_or_else(other)?;
    if left == "ops" {
        return Ok(Numbers { rate: Some(score / unit(right).ok_or_else(other)?), ..Numbers::default() });
    }
    let length = unit(left).filter(|_| right == "op").ok_or_else(other)?;
    let mut numbers = Numbers { mean: Some(score * length), ..Numbers::default() };
    let mode = result.get("mode").and_then(Value::as_str).unwrap_or_default();
    if matches!(mode, "sample" | "ss") {
        for (share, time) in metric.get("scorePercentiles").and_then(Value::as_object).into_iter().flatten() {
            if let Some(share) = number(share) {
                numbers.set_quantile(share / 100.0, time.as_f64().map(|time| time * length));
            }
        }
        (numbers.min, numbers.max) = (numbers.value("p0").map(|(t, _)| t), numbers.value("p100").map(|(t, _)| t));
    }
    Ok(numbers)
}

fn is_result(value: &Value) -> bool {
    value.get("benchmark").is_some() && value.get("primaryMetric").is_some()
}
