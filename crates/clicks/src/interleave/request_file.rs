//! Files of requests: a line has the id of a request and the id of its query, separated by a tab or
//! by spaces. Empty lines and those that begin with `#` are ignored.

use std::collections::HashSet;

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, SourceLocation, quote};

/// Checks requests in memory, id and query of each, as those of a file: an id occurs once.
pub fn check_requests(requests: &[(String, String)]) -> Result<(), DataError> {
    let mut ids = HashSet::new();
    match requests.iter().find(|(id, _)| !ids.insert(id)) {
        None => Ok(()),
        Some((id, _)) => {
            let location = SourceLocation::file("the requests");
            let found = format!("request '{id}'");
            Err(DataError::malformed(location, found, "a request id that no request before has"))
        }
    }
}

/// Reads requests: id and query of each, in the order of the file. An id occurs once.
///
/// ```
/// use rankwright_clicks::interleave::read_requests;
/// use rankwright_data::bytes::Input;
///
/// let requests = read_requests(&Input::raw("requests", b"r1\tred shoe\nr2 hat\n".to_vec()))?;
/// assert_eq!(requests[0], ("r1".to_owned(), "red shoe".to_owned()));
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_requests(input: &Input) -> Result<Vec<(String, String)>, DataError> {
    let mut requests = Vec::new();
    let mut ids = HashSet::new();
    for (number, line) in (1..).zip(input.bytes.split(|byte| *byte == b'\n')) {
        let malformed = |expected: &str| {
            let location = SourceLocation::line(&input.name, number);
            DataError::malformed(location, quote(line), expected)
        };
        let text = std::str::from_utf8(line).map_err(|_| malformed("UTF-8 text"))?.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = match text.contains('\t') {
            true => text.split('\t').map(str::trim).collect(),
            false => text.split_whitespace().collect(),
        };
        let [id, query] = words[..] else {
            return Err(malformed("the id of a request and the id of its query"));
        };
        if !ids.insert(id.to_owned()) {
            return Err(malformed("a request id that no line before has"));
        }
        requests.push((id.to_owned(), query.to_owned()));
    }
    Ok(requests)
}
