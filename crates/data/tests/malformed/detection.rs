//! Files of an unknown or unsupported format.

use super::Reader::Text;
use super::{Case, case};

pub(crate) fn detection() -> Vec<Case> {
    vec![
        case("detection: nothing at all", Text("empty"), b"", "empty holds no rows"),
        case("detection: blank lines only", Text("blank"), b"\n  \r\n\n", "blank holds no rows"),
        case(
            "detection: prose",
            Text("notes"),
            b"Dear reader\n",
            "notes: this is no ranking data: the first line has no known format -> the formats are letor, csv, tsv, jsonl, parquet, arrow, rwd",
        ),
        case(
            "detection: a TREC run",
            Text("run"),
            b"301 Q0 FT911-1 1 12.5 bm25\n",
            "run: this is a TREC run, not feature data -> evaluate a run together with judgements; the formats of feature data are letor, csv, tsv, jsonl, parquet, arrow, rwd",
        ),
        case(
            "detection: TREC qrels",
            Text("qrels"),
            b"301 0 FT911-1 1\n",
            "qrels: this is a file of judgements (qrels), not feature data -> evaluate a run together with judgements; the formats of feature data are letor, csv, tsv, jsonl, parquet, arrow, rwd",
        ),
        case(
            "detection: BEIR qrels",
            Text("qrels.tsv"),
            b"query-id\tcorpus-id\tscore\n1\t2\t1\n",
            "qrels.tsv: this is a file of judgements (qrels), not feature data -> evaluate a run together with judgements; the formats of feature data are letor, csv, tsv, jsonl, parquet, arrow, rwd",
        ),
        case(
            "detection: a JSON array",
            Text("data.json"),
            b"[{\"qid\":1,\"label\":2}]\n",
            "data.json: this is a JSON array, not one object per line -> write one object per line, for instance with `jq -c '.[]'`",
        ),
        case(
            "detection: a zip archive",
            Text("data.zip"),
            b"PK\x03\x04\x14\0\0\0",
            "data.zip: this is a zip archive (or a spreadsheet, or .npz) -> unpack it, or export it as CSV",
        ),
        case(
            "detection: a NumPy array",
            Text("data.npy"),
            b"\x93NUMPY\x01\0",
            "data.npy: this is a NumPy array -> export it as Parquet or CSV, with qid and label",
        ),
        case(
            "detection: UTF-16",
            Text("data.csv"),
            b"\xff\xfeq\0i\0d\0",
            "data.csv: this is UTF-16 text -> save it as UTF-8",
        ),
        case(
            "detection: bzip2",
            Text("data.bz2"),
            b"BZh91AY&SY",
            "data.bz2: this is compressed with bzip2 -> decompress it, or compress it with gzip or zstd",
        ),
        case(
            "detection: noise",
            Text("noise"),
            b"\x00\x01\x02\x03\x04",
            "noise: this is a binary file of an unknown format -> the formats are letor, csv, tsv, jsonl, parquet, arrow, rwd",
        ),
        case(
            "detection: a score file",
            Text("scores"),
            b"0.5\n-1e-3\n",
            "scores: this file has one number per line; it is not feature data -> evaluate the scores together with their data",
        ),
    ]
}
