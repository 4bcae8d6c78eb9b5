//! The JSON of a comparison: a stable contract, documented in docs/compare-json.md.

use crate::latency::{Latency, Quantile, Requests};
use crate::{Comparison, Per, Waited};
use model::Polarity;
use query::concurrency::Serial;
use serde_json::{Value, json};

impl Comparison {
    /// The comparison as JSON. Fields may be added; none is renamed or removed within a major version.
    pub fn to_json(&self) -> Value {
        let name = |index: usize| self.runs.get(index).cloned().unwrap_or_default();
        let windows =
            self.runs.iter().zip(&self.windows).map(
                |(run, w)| json!({"run": run, "from": w.from as f64 / 1e9, "to": w.to as f64 / 1e9, "why": w.why}),
            );
        let differences = self.differences.iter().map(|d| {
            json!({
                "metric": d.metric,
                "labels": d.labels,
                "unit": d.unit,
                "run": name(d.run),
                "per": match d.per { Per::Second => "second", Per::Operation => "operation" },
                "baseline": d.baseline,
                "other": d.other,
                "change": d.change,
                "low": d.low,
                "high": d.high,
                "q": d.q,
                "median": d.median,
                "p99": d.p99,
                "polarity": match d.polarity { Polarity::Better => "better", Polarity::Worse => "worse", Polarity::Neutral => "neutral" },
                "help": d.help,
            })
        });
        // With two runs, which is the rule, "other" is a plain value.
        let facts = self.facts.iter().map(|f| {
            let mut values = f.values.iter();
            let baseline = values.next().cloned().flatten();
            let others: Vec<_> = values.cloned().collect();
            json!({"fact": f.full_name(), "baseline": baseline, "other": others.first().cloned().flatten(), "others": others, "why": f.why})
        });
        let phases = self.phases.iter().map(|p| {
            json!({"run": name(p.run), "against": name(p.against), "from": p.from, "to": p.to, "cpus": p.cpus, "rest": p.rest, "other": p.other})
        });
        let serial = |s: &Serial| {
            let (process, thread) = s.thread.clone().unzip();
            json!({"from": s.from, "to": s.to, "process": process, "thread": thread, "function": s.function})
        };
        let concurrency = self.concurrency.iter().zip(&self.windows).enumerate().map(|(run, (c, w))| {
            let Some(c) = c else { return Value::Null };
            let (phases, share) = c.serial_in(w);
            let sawtooth =
                c.sawtooth.map(|s| json!({"period": s.period, "swing": s.swing, "share": s.share, "p": s.p}));
            json!({
                "run": name(run),
                "profile": c.profile,
                "serial": phases.into_iter().map(serial).collect::<Vec<_>>(),
                "serial_share": share,
                "sawtooth": sawtooth,
                "text": self.turns.iter().find(|t| t.run == run).map(|t| &t.text),
            })
        });
        let waited = |w: &Waited| json!({"time": w.time, "count": w.count, "longest": w.longest, "waiters": w.waiters, "holder": w.holder});
        let locks = self.locks.iter().map(|l| {
            let runs: Vec<Value> = l.of.iter().map(|w| w.as_ref().map_or(Value::Null, waited)).collect();
            json!({"name": l.name, "kind": l.kind, "process": l.process, "runs": runs})
        });
        let latency = self.latency.iter().map(|l| {
            let mut one = of_latency(l);
            if let Value::Object(fields) = &mut one {
                fields.insert("run".into(), json!(name(l.run)));
            }
            one
        });
        let cautions =
            self.cautions.iter().map(|c| json!({"what": c.kind.as_str(), "run": c.run.map(name), "text": c.text}));
        json!({
            "baseline": name(0),
            "others": self.runs.get(1..).unwrap_or_default(),
            "windows": windows.collect::<Vec<_>>(),
            "headline": self.headline.headline,
            "detail": self.headline.detail,
            "compared": self.compared,
            "differences": differences.collect::<Vec<_>>(),
            "facts": facts.collect::<Vec<_>>(),
            "repeats": self.repeats,
            "phases": phases.collect::<Vec<_>>(),
            "concurrency": concurrency.collect::<Vec<_>>(),
            "latency": latency.collect::<Vec<_>>(),
            "locks": locks.collect::<Vec<_>>(),
            "cautions": cautions.collect::<Vec<_>>(),
            "not_compared": self.not_compared.iter().map(|n| json!({"what": n.what, "why": n.why})).collect::<Vec<_>>(),
        })
    }
}

/// A service, of both sides.
fn of_latency(l: &Latency) -> Value {
    let service = &l.other.service;
    let side = |r: &Requests| json!({"process": r.service.comm, "port": r.service.port, "rate": r.rate, "queue_time": r.queue_time});
    let quantile = |q: &Quantile| {
        json!({
            "quantile": q.name,
            "baseline": q.baseline,
            "other": q.other,
            "baseline_interval": q.baseline_interval,
            "other_interval": q.other_interval,
            "change": q.times() - 1.0,
            "low": q.ratio.map(|r| r.0 - 1.0),
            "high": q.ratio.map(|r| r.1 - 1.0),
            "q": q.q,
            "significant": q.significant,
        })
    };
    json!({
        "role": if service.server { "server" } else { "client" },
        "protocol": service.protocol,
        "port": service.port,
        "path": service.path,
        "process": service.comm,
        "baseline": side(&l.baseline),
        "other": side(&l.other),
        "quantiles": l.quantiles.iter().map(quantile).collect::<Vec<_>>(),
    })
}
