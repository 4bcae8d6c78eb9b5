//! The small tables that go to an engine beside the summaries: which recordings and which metrics, functions and facts a question is of.

use crate::folder::{Column, Dataset, int, text};

const METRIC: Column = text("metric", "name of the metric");
const LABELS: Column = text("labels", "its group");
const PER: Column = text("per", "`second` or `operation`");

/// Recordings that are asked of.
pub static MEMBER: Dataset = Dataset {
    name: "member",
    help: "a recording that is asked of",
    columns: &[
        text("id", "the recording"),
        int("recording_no", "its number, from 0"),
        int("band", "its band, from 0; missing where it has none"),
        int("decided", "1 where its band is sure, else 0"),
        int("side", "1 in the band that is asked about, 0 in another; missing: on neither side"),
    ],
    key: 0,
};

/// Metrics that are asked.
pub static ASKED: Dataset = Dataset {
    name: "asked",
    help: "a column of values that is asked",
    columns: &[
        int("column_no", "its number, from 0"),
        METRIC,
        LABELS,
        PER,
        text("part", "which of its values: `odd` or `deviation`"),
        int("family", "number of the metrics of one name whose labels have the same names"),
        int("fill", "1 where a recording that has others of the family and lacks this one was 0"),
        int("wanted", "0 where it is there for its family alone"),
    ],
    key: 0,
};

/// Functions that are asked.
pub static ASKED_PLACE: Dataset = Dataset {
    name: "asked_place",
    help: "a function that is asked",
    columns: &[
        int("place_no", "its number, from 0"),
        text("state", "its state"),
        text("function", "its name"),
        text("module", "file name of its program or library; empty where it has none"),
    ],
    key: 0,
};

/// Facts that are asked.
pub static ASKED_FACT: Dataset = Dataset {
    name: "asked_fact",
    help: "a fact that is asked",
    columns: &[int("fact_no", "its number, from 0"), text("category", "its category"), text("name", "its name")],
    key: 0,
};
