//! LightGBM's side files. For a data file `x` whose rows have no qid, `x.query` has the number of
//! rows of each query, one number per line; these queries are called 1, 2, 3, ..., counted over all
//! input files together, so that no other input may have qids. For any `x`, `x.weight` has one
//! weight per row and `x.position` the position at which each row was shown to a user.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use rankwright_spec::words::counted;

use crate::bytes::Input;
use crate::dataset::QueryIndex;
use crate::error::{DataError, SourceLocation, quote};
use crate::warnings::{WarningKind, Warnings};

/// The content of the side files of the inputs that were read so far.
#[derive(Debug, Default)]
pub(super) struct SideFiles {
    /// The name of the first input with rows, and whether they have qids.
    first_input: Option<(String, bool)>,
    /// The number of queries from `.query` files.
    queries: u32,
    weights: Vec<f32>,
    positions: Vec<u32>,
}

impl SideFiles {
    /// Reads the side files of an input; fills `query_of_row` if its rows have no qid.
    pub(super) fn read(
        &mut self,
        input: &Input,
        has_qid: bool,
        query_of_row: &mut [u32],
        queries: &mut QueryIndex,
        warnings: &mut Warnings,
    ) -> Result<(), DataError> {
        let rows = query_of_row.len();
        if rows == 0 {
            return Ok(());
        }
        let first = self.first_input.get_or_insert_with(|| (input.name.clone(), has_qid));
        if first.1 != has_qid {
            return Err(mixed_inputs(input, has_qid, &first.0));
        }
        if has_qid {
            let count = u64::from(side_path(input, "query").is_some());
            warnings
                .add(WarningKind::NeedlessQuerySizes, count, || SourceLocation::file(&input.name));
        } else {
            let Some(sizes) = values::<u32>(input, "query", "a number of rows", warnings)? else {
                return Err(no_queries(input));
            };
            self.assign_queries(input, &sizes, query_of_row, queries)?;
        }
        if let Some(weights) = values::<f32>(input, "weight", "a weight", warnings)? {
            check_one_per_row(input, "weight", weights.len(), rows)?;
            self.weights.extend(weights);
        }
        if let Some(positions) = values::<NonZeroU32>(
            input,
            "position",
            "a position, which is a whole number from 1",
            warnings,
        )? {
            check_one_per_row(input, "position", positions.len(), rows)?;
            self.positions.extend(positions.into_iter().map(NonZeroU32::get));
        }
        Ok(())
    }

    /// Gives each row of an input its query, by the sizes of the queries.
    fn assign_queries(
        &mut self,
        input: &Input,
        sizes: &[u32],
        query_of_row: &mut [u32],
        queries: &mut QueryIndex,
    ) -> Result<(), DataError> {
        let total: u64 = sizes.iter().map(|&s| u64::from(s)).sum();
        if total != query_of_row.len() as u64 {
            return Err(DataError::malformed(
                SourceLocation::file(format!("{}.query", input.name)),
                format!("sizes that add up to {total}"),
                format!("{}, the rows of {}", query_of_row.len(), input.name),
            ));
        }
        let mut rest = query_of_row;
        for &size in sizes {
            self.queries += 1;
            let (rows, after) = rest.split_at_mut(size as usize);
            if !rows.is_empty() {
                rows.fill(queries.number(&self.queries.to_string()));
            }
            rest = after;
        }
        Ok(())
    }

    /// The row weights and the positions, each `None` if no input had them; an error if only some
    /// inputs had them.
    #[allow(clippy::type_complexity)]
    pub(super) fn finish(
        self,
        rows: usize,
    ) -> Result<(Option<Vec<f32>>, Option<Vec<u32>>), DataError> {
        for (what, length) in [("weight", self.weights.len()), ("position", self.positions.len())] {
            if length != 0 && length != rows {
                return Err(DataError::SideFiles { ending: what, found: length, rows });
            }
        }
        Ok((
            Some(self.weights).filter(|weights| !weights.is_empty()),
            Some(self.positions).filter(|positions| !positions.is_empty()),
        ))
    }
}

/// Rejects a side file that does not have one value for each row of its input.
fn check_one_per_row(
    input: &Input,
    ending: &str,
    found: usize,
    rows: usize,
) -> Result<(), DataError> {
    if found == rows {
        return Ok(());
    }
    let location = SourceLocation::file(format!("{}.{ending}", input.name));
    let expected = format!("{rows}, one for each row of {}", input.name);
    Err(DataError::malformed(location, counted(found, "line"), expected))
}

/// The side file with this ending, if it exists.
fn side_path(input: &Input, ending: &str) -> Option<PathBuf> {
    let mut path = input.path()?.as_os_str().to_owned();
    path.push(format!(".{ending}"));
    let path = PathBuf::from(path);
    path.is_file().then_some(path)
}

/// The error for inputs of which only some have qids: the number of a query in a `.query` file
/// could be the qid of another query.
fn mixed_inputs(input: &Input, has_qid: bool, first: &str) -> DataError {
    let (found, expected) = match has_qid {
        true => ("rows with a qid", "rows without"),
        false => ("rows without qid", "a qid in each row"),
    };
    let location = SourceLocation::file(&input.name);
    DataError::malformed(location, found, format!("{expected}, as in {first}"))
        .with_help("give the rows of every input a qid, or those of none")
}

/// The error for rows that have neither a qid nor a side file with the sizes of the queries.
fn no_queries(input: &Input) -> DataError {
    DataError::malformed(
        SourceLocation::file(&input.name),
        "rows without qid",
        "'qid:' after each label",
    )
    .with_help(format!("add a file {}.query with the number of rows of each query", input.name))
}

/// The numbers of the side file with this ending, one per line; `None` if there is no file.
fn values<T: FromStr>(
    input: &Input,
    ending: &str,
    expected: &str,
    warnings: &mut Warnings,
) -> Result<Option<Vec<T>>, DataError> {
    let Some(path) = side_path(input, ending) else { return Ok(None) };
    let side = Input::open(&path)?;
    warnings.add(WarningKind::SideFile, 1, || SourceLocation::file(&side.name));
    let mut values = Vec::new();
    for (number, line) in side.bytes.split(|&b| b == b'\n').enumerate() {
        let word = line.trim_ascii();
        if word.is_empty() {
            continue;
        }
        let value = std::str::from_utf8(word).ok().and_then(|t| t.parse().ok());
        let location = SourceLocation::line(&side.name, number as u64 + 1);
        values.push(value.ok_or_else(|| DataError::malformed(location, quote(word), expected))?);
    }
    Ok(Some(values))
}
