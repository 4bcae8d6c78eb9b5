//! What the Parquet reader believes of a dictionary: it makes room for as many values as the header of its page says, which damage can make billions.

use parquet::column::page::Page;
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;

/// Checks that the dictionary of a column of a row group, if it has one, promises no more values than it has bytes: each takes one at least.
///
/// # Errors
/// In words, where it does, or where its page cannot be read.
pub fn check_dictionary(group: &dyn RowGroupReader, column: usize) -> Result<(), String> {
    let words = |why: ParquetError| why.to_string();
    let mut pages = group.get_column_page_reader(column).map_err(words)?;
    // It comes before all other pages of a column; of these only the first header is read.
    if !pages.peek_next_page().map_err(words)?.is_some_and(|page| page.is_dict) {
        return Ok(());
    }
    match pages.get_next_page().map_err(words)? {
        Some(Page::DictionaryPage { buf, num_values, .. }) if num_values as usize > buf.len() => {
            Err(format!("a dictionary of {num_values} values in {} bytes", buf.len()))
        }
        _ => Ok(()),
    }
}
