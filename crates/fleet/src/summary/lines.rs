//! Summaries as lines of JSON, for programs that write the folder themselves, as `engines/spark.py` does: a line a dataset, column by column.

use super::Rows;
use crate::folder::{Batch, Type, Values};
use serde_json::{Value, json};

/// The rows as lines: `{"dataset": "metric", "key": 5, "columns": [["metric", "text", ["cpu.busy", …]], …]}`, that of the recordings last. `key` is
/// how many columns a part is sorted by; a value that is missing is null.
pub fn lines(rows: &Rows) -> Vec<String> {
    rows.batches().into_iter().map(|batch| line(batch).to_string()).collect()
}

fn line(batch: &Batch) -> Value {
    let column = |(at, column): (usize, &crate::folder::Column)| {
        let values = batch.columns.get(at);
        let value = |row: usize| match (column.ty, values) {
            (Type::Text, _) => json!(batch.text(row, at)),
            (Type::Int, Some(values)) => json!(values.int(row)),
            (_, Some(values @ (Values::Real(_) | Values::Single(_)))) => {
                json!(Some(values.real(row)).filter(|value| value.is_finite()))
            }
            _ => Value::Null,
        };
        json!([column.name, column.ty.word(), (0..batch.len()).map(value).collect::<Vec<_>>()])
    };
    let columns: Vec<Value> = batch.dataset.columns.iter().enumerate().map(column).collect();
    json!({ "dataset": batch.dataset.name, "key": batch.dataset.key, "columns": columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_dataset_that_of_the_recordings_last() {
        let mut rows = Rows::default();
        rows.process.push(&["h".into(), "a".into(), 7i64.into(), Option::<&str>::None.into(), 9i64.into()]);
        let lines = lines(&rows);
        assert_eq!(lines.len(), 7);
        let of = |at: usize| serde_json::from_str::<Value>(&lines[at]).unwrap();
        assert_eq!(of(6)["dataset"], "recording");
        let process = of(5);
        assert_eq!((&process["dataset"], &process["key"]), (&json!("process"), &json!(3)));
        assert_eq!(process["columns"][2], json!(["pid", "integer", [7]]));
        assert_eq!(process["columns"][3], json!(["name", "text", [null]]));
    }
}
