//! An experiment as a page of its own.

use crate::{Error, html};
use tune::result::Experiment;

/// The page as `ui/` builds it.
const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/dist/experiment.html"));

/// Where the data go.
const PLACE: &str = "<!--TWINSCOPE-DATA-->";

/// The page of an experiment: one file that needs no network.
///
/// # Errors
/// Where the data cannot be written as JSON or compressed.
pub fn experiment_html(experiment: &Experiment) -> Result<String, Error> {
    // Names and output from outside are in compressed base64: no markup can come of them.
    let packed = html::pack(&serde_json::to_vec(experiment)?)?;
    let (before, after) = PAGE.split_once(PLACE).unwrap_or((PAGE, ""));
    Ok(format!("{before}<script type=\"text/plain\" id=\"twinscope-experiment\">{packed}</script>\n{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use flate2::read::GzDecoder;
    use serde_json::Value;
    use std::io::Read;
    use tune::result::{DesignKind, FORMAT, MeasureHead, Next, Trial, TrialEnd, Variant};

    const HOSTILE: &str = "</script><img src=x onerror=alert(1)><!--TWINSCOPE-DATA-->";

    fn hostile() -> Experiment {
        Experiment {
            format: FORMAT,
            name: HOSTILE.into(),
            design: DesignKind::Ab,
            began: None,
            host: HOSTILE.into(),
            command: HOSTILE.into(),
            finished: false,
            verdict: HOSTILE.into(),
            measures: vec![MeasureHead { name: HOSTILE.into(), unit: "s".into(), more_is_better: false, limit: None }],
            together: false,
            effect: 0.03,
            blocks: 30,
            variants: vec![Variant {
                name: HOSTILE.into(),
                set: vec![(HOSTILE.into(), HOSTILE.into())],
                command: HOSTILE.into(),
                trials: 0,
                failed: 1,
                medians: vec![None],
                recording_costs: None,
            }],
            changes: Vec::new(),
            rungs: Vec::new(),
            sweep: None,
            factorial: None,
            optimum: None,
            search: None,
            trials: vec![Trial {
                number: 1,
                stage: 0,
                block: 0,
                variant: 0,
                set: vec![(HOSTILE.into(), HOSTILE.into())],
                explained: false,
                end: TrialEnd::Failed,
                reason: Some(HOSTILE.into()),
                at: Some(0.0),
                seconds: Some(1.5),
                // What is no number must not make what is no JSON.
                values: vec![Some(f64::NAN)],
                stolen: None,
                others: None,
                cpu: None,
                cpus_used: None,
                output: Some(HOSTILE.into()),
            }],
            cautions: vec![HOSTILE.into()],
            next: vec![Next { says: HOSTILE.into(), command: Some(HOSTILE.into()) }],
        }
    }

    #[test]
    fn text_from_outside_is_no_markup() {
        let page = experiment_html(&hostile()).unwrap();
        assert!(!page.contains("onerror=alert") && !page.contains(PLACE));
        assert!(page.contains("Content-Security-Policy"));
        assert_eq!(page.matches("<script").count(), PAGE.matches("<script").count() + 1, "one script more: the data");
    }

    #[test]
    fn the_page_holds_the_experiment() {
        let page = experiment_html(&hostile()).unwrap();
        let (_, rest) = page.split_once("id=\"twinscope-experiment\">").expect("there are data");
        let (packed, _) = rest.split_once("</script>").expect("they end");
        let mut json = String::new();
        GzDecoder::new(&STANDARD.decode(packed).unwrap()[..]).read_to_string(&mut json).unwrap();
        let read: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["format"], FORMAT);
        assert_eq!(read["design"], "ab");
        assert_eq!(read["variants"][0]["name"], HOSTILE);
        assert_eq!(read["trials"][0]["values"][0], Value::Null);
    }
}
