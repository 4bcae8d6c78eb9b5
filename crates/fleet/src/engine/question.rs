//! The questions that an engine answers: the SQL files of the folder `fleet`, with the columns of their answers. They keep to what all engines
//! share, which a test holds (lint.rs).

use crate::folder::{Column, Dataset, int, real, text};

/// A question.
#[derive(Debug)]
pub struct Question {
    /// Its name: that of its file and of its answer.
    pub name: &'static str,
    /// The file.
    pub file: &'static str,
    /// The columns of the answer.
    pub answer: Dataset,
}

impl Question {
    /// The statement, without comments.
    pub fn sql(&self) -> String {
        let is_comment = |line: &&str| line.trim_start().starts_with("--");
        self.file.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n")
    }
}

macro_rules! question {
    ($static:ident, $name:literal, $columns:expr) => {
        #[doc = concat!("fleet/", $name, ".sql")]
        pub static $static: Question = Question {
            name: $name,
            file: include_str!(concat!("../../../../fleet/", $name, ".sql")),
            answer: Dataset { name: $name, help: "", columns: $columns, key: 0 },
        };
    };
}

const fn whole(name: &'static str) -> Column {
    int(name, "")
}

const fn number(name: &'static str) -> Column {
    real(name, "")
}

const fn word(name: &'static str) -> Column {
    text(name, "")
}

question!(
    MEMBERSHIP,
    "membership",
    &[
        word("host"),
        word("id"),
        word("run"),
        word("file"),
        whole("start"),
        number("seconds"),
        word("work_unit"),
        word("labels"),
        word("boot"),
        whole("booted"),
        word("marks"),
        whole("oldest"),
    ]
);
question!(
    SPREAD,
    "spread",
    &[
        word("metric"),
        word("labels"),
        word("per"),
        whole("recordings"),
        word("unit"),
        word("per_operation"),
        word("better"),
        whole("is_rate"),
        number("floor"),
        word("help"),
    ]
);
question!(
    VALUES,
    "values",
    &[
        whole("column_no"),
        whole("recording_no"),
        number("mean"),
        number("error"),
        number("deviation"),
        number("even"),
        number("odd"),
    ]
);
question!(
    SEPARATE,
    "separate",
    &[whole("column_no"), whole("ones"), whole("others"), whole("twice_ranks"), whole("ties")]
);
question!(
    PLACE_SPLIT,
    "place_split",
    &[
        word("state"),
        word("function"),
        word("module"),
        whole("ones"),
        whole("others"),
        whole("twice_ranks"),
        whole("ties"),
        whole("saw_ones"),
        whole("saw_others"),
    ]
);
question!(PLACE_VALUES, "place_values", &[word("state"), whole("recording_no"), whole("place_no"), number("own")]);
question!(
    FACT_SPLIT,
    "fact_split",
    &[word("category"), word("name"), word("value"), whole("band"), whole("decided"), whole("recordings")]
);
question!(FACT_VALUES, "fact_values", &[whole("fact_no"), whole("recording_no"), word("value")]);
question!(FACT_NAMES, "fact_names", &[word("category"), word("name"), whole("recordings")]);
question!(
    SLICES,
    "slices",
    &[whole("recording_no"), whole("slice_no"), whole("begins"), whole("ends"), number("mean")]
);

/// All of them.
#[cfg(test)]
pub static ALL: [&Question; 10] = [
    &MEMBERSHIP,
    &SPREAD,
    &VALUES,
    &SEPARATE,
    &PLACE_SPLIT,
    &PLACE_VALUES,
    &FACT_SPLIT,
    &FACT_VALUES,
    &FACT_NAMES,
    &SLICES,
];
