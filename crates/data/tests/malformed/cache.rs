//! Binary caches.

use rankwright_data::format::Format;

use super::Reader::{As, SecondCache, Text};
use super::{Case, case};
use super::{file_of, sample};

pub(crate) fn cache() -> Vec<Case> {
    vec![
        case(
            "cache: another version",
            Text("bad.rwd"),
            changed(|b| b[8] = 9),
            "bad.rwd has format version 9; this program reads versions up to 4 -> write the file again from its source",
        ),
        case(
            "cache: nothing after the magic",
            Text("magic.rwd"),
            b"RWDATA\r\n",
            "magic.rwd is damaged: it ends inside its header -> create the file again from its source; do not use its content",
        ),
        case(
            "cache: cut in the table",
            Text("table.rwd"),
            changed(|b| b.truncate(100)),
            "table.rwd is damaged: it ends inside its header -> create the file again from its source; do not use its content",
        ),
        case(
            "cache: cut in the data",
            Text("cut.rwd"),
            changed(|b| b.truncate(b.len() - 1)),
            "cut.rwd is damaged: it has 983 bytes, but 984 were written -> create the file again from its source; do not use its content",
        ),
        case(
            "cache: one byte more",
            Text("more.rwd"),
            changed(|b| b.push(0)),
            "more.rwd is damaged: it has 985 bytes, but 984 were written -> create the file again from its source; do not use its content",
        ),
        case(
            "cache: flip in the header",
            Text("header.rwd"),
            changed(|b| b[40] ^= 1),
            "header.rwd is damaged: the checksum of its header does not match -> create the file again from its source; do not use its content",
        ),
        case(
            "cache: flip in the matrix",
            Text("matrix.rwd"),
            changed(|b| b[start(2)] ^= 1),
            "matrix.rwd is damaged: section 2 (matrix) has a checksum that does not match -> create the file again from its source; do not use its content",
        ),
        case(
            "cache: flip in the labels",
            Text("labels.rwd"),
            changed(|b| b[start(3)] ^= 128),
            "labels.rwd is damaged: section 3 (labels) has a checksum that does not match -> create the file again from its source; do not use its content",
        ),
        case(
            "cache: flip between sections",
            Text("gap.rwd"),
            changed(|b| b[start(3) - 1] ^= 1),
            "gap.rwd is damaged: section 3 (labels) follows bytes that are not zero -> create the file again from its source; do not use its content",
        ),
        case(
            "cache: too many sections",
            Text("sections.rwd"),
            changed(|b| b[12] = 200),
            "sections.rwd is damaged: its header names more sections than the format has -> create the file again from its source; do not use its content",
        ),
        case(
            "cache: line ends changed",
            Text("lines.rwd"),
            changed(|b| {
                b.remove(6);
            }),
            "lines.rwd is damaged: its first bytes were changed, possibly by a transfer in text mode -> create the file again from its source; do not use its content",
        ),
        case(
            "cache: no cache at all",
            As(Format::Cache),
            b"qid,label\n1,2\n",
            "forced: this is not a Rankwright cache: it does not start with RWDATA -> convert the data to a cache file (.rwd) first",
        ),
        case(
            "cache: two caches",
            SecondCache,
            changed(|_| ()),
            "b.rwd: a cache is a whole data set and cannot be joined with a.rwd -> convert all source files together into one cache file (.rwd)",
        ),
    ]
}

/// The bytes of a cache file after a change.
fn changed(change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = file_of(&sample(3), Format::Cache);
    change(&mut bytes);
    bytes
}

/// The start of a section of the cache: the table has 32 bytes an entry, the offset at 8.
fn start(kind: usize) -> usize {
    let bytes = file_of(&sample(3), Format::Cache);
    let at = 32 + (kind - 1) * 32 + 8;
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}
