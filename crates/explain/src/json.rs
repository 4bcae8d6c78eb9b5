//! The JSON of an explanation: a stable contract, documented in docs/explain-json.md.

use crate::cause::Cause;
use crate::{Explanation, Finding, Outcome};
use serde_json::{Value, json};

impl Explanation {
    /// The explanation as JSON: a stable contract, documented in docs/explain-json.md. Fields may be added; none is renamed or removed
    /// within a major version.
    pub fn to_json(&self) -> Value {
        let alone = self.outcome == Outcome::Alone;
        let against = |value: f64| if alone { Value::Null } else { json!(value) };
        let ledger: serde_json::Map<String, Value> = self
            .ledger
            .iter()
            .map(|(state, times, share)| {
                let part = |value: f64| if alone || self.outcome.is_loss() { json!(value) } else { Value::Null };
                let value = json!({
                    "slow": times.slow, "against": against(times.baseline), "share": part(share.value), "low": part(share.low),
                    "high": part(share.high),
                });
                (state.name().to_owned(), value)
            })
            .collect();
        let finding = |f: &Finding| {
            json!({
                "cause": f.cause,
                "title": f.title,
                "share": f.share.value,
                "low": f.share.low,
                "high": f.share.high,
                "subject": f.subject,
                "says": f.says,
                "evidence": f.evidence,
                "advice": f.advice,
                "check": f.check,
                "experiment": f.experiment,
                "references": f.see,
                "states": f.states.iter().map(|(s, share)| (s.name().to_owned(), json!(share))).collect::<serde_json::Map<_, _>>(),
                "query": f.query,
            })
        };
        // What was recorded as something else.
        let waits = self.waits.iter().filter(|w| w.state != w.recorded).map(|w| {
            json!({
                "comm": w.comm, "thread": w.thread, "what": w.what, "waker": w.waker, "recorded": w.recorded.name(),
                "state": w.state.name(), "why": w.why.to_string(), "slow": w.time.slow, "against": against(w.time.baseline),
            })
        });
        let windows =
            self.runs.iter().zip(&self.windows).map(
                |(run, w)| json!({"run": run, "from": w.from as f64 / 1e9, "to": w.to as f64 / 1e9, "why": w.why}),
            );
        json!({
            "verdict": self.verdict,
            "outcome": match self.outcome {
                Outcome::Slower => "slower",
                Outcome::NoSlower => "no slower",
                Outcome::Undecided => "undecided",
                Outcome::Evenly => "evenly slower",
                Outcome::MoreTime => "more time",
                Outcome::LongerRequests => "longer requests",
                Outcome::Alone => "alone",
            },
            "slow": self.runs.get(..self.slow).unwrap_or_default(),
            "against": self.runs.get(self.slow..).unwrap_or_default(),
            "windows": windows.collect::<Vec<_>>(),
            "work": {
                "unit": self.unit.name(),
                "slow": self.elapsed.slow,
                "against": against(self.elapsed.baseline),
                "ratio": against(self.ratio.value),
                "low": against(self.ratio.low),
                "high": against(self.ratio.high),
            },
            "tail": self.tail.as_ref().map(|tail| json!({
                "port": tail.service.port, "comm": tail.service.comm, "what": tail.kind.name(), "quantile": tail.quantile.name,
                "slow": tail.quantile.other, "against": tail.quantile.baseline, "ratio": tail.quantile.times(),
                "low": tail.quantile.ratio.map(|r| r.0), "high": tail.quantile.ratio.map(|r| r.1),
            })),
            "ledger": ledger,
            "waits": waits.collect::<Vec<_>>(),
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
            "differs": self.differs.iter().map(finding).collect::<Vec<_>>(),
            "limits_both": self.limits_both.as_ref().map(|both| json!({"slow": finding(&both.slow), "against": finding(&both.baseline)})),
            "reversed": self.reversed,
            "unexplained": self.unexplained,
            "notes": self.notes.iter().map(|n| json!({"cause": n.cause, "text": n.text})).collect::<Vec<_>>(),
            "not_evaluated":
                self.not_evaluated.iter().map(|n| json!({"cause": n.cause, "needs": n.needs})).collect::<Vec<_>>(),
            "facts": self.facts.iter().map(|f| json!({"fact": f.full_name(), "values": f.values, "why": f.why})).collect::<Vec<_>>(),
            "machines": self.machines.to_json(),
            "cautions": self.cautions.iter().map(|c| json!({"what": c.kind.as_str(), "text": c.text})).collect::<Vec<_>>(),
        })
    }
}

impl Cause {
    /// The cause as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "cause": self.id, "title": self.title, "layer": self.layer, "needs": self.needs, "against": self.against,
            "yields": self.yields, "before": self.before, "last": self.last, "says": self.says, "evidence": self.evidence, "check": self.check, "advice": self.advice,
            "experiment": self.experiment.iter().map(ToString::to_string).collect::<Vec<_>>(), "references": self.see,
            "when": self.when, "claims": self.claims, "tells": self.tells, "query": self.query(),
        })
    }
}
