//! LETOR text.

use super::Reader::{Limit, Text};
use super::{Case, case};

pub(crate) fn letor() -> Vec<Case> {
    vec![
        case(
            "letor: label is a word",
            Text("bad.txt"),
            b"x qid:1 1:2\n",
            "bad.txt:1:1: found 'x', expected a number as label -> a LETOR line is 'label qid:Q id:value ...'",
        ),
        case(
            "letor: label is not finite",
            Text("bad.txt"),
            b"inf qid:1 1:2\n",
            "bad.txt:1:1: found 'inf', expected a number as label -> a LETOR line is 'label qid:Q id:value ...'",
        ),
        case(
            "letor: label is missing",
            Text("bad.txt"),
            b"1 qid:1 1:2\nqid:1 1:2\n",
            "bad.txt:2:1: found 'qid:1', expected a number as label -> a LETOR line is 'label qid:Q id:value ...'",
        ),
        case(
            "letor: qid is empty",
            Text("bad.txt"),
            b"1 qid: 1:2\n",
            "bad.txt:1:3: found an empty qid, expected a query id",
        ),
        case(
            "letor: qid stands twice",
            Text("bad.txt"),
            b"1 qid:1 qid:2 1:2\n",
            "bad.txt:1:9: found '2', expected qid right after the label, once",
        ),
        case(
            "letor: qid after a feature",
            Text("bad.txt"),
            b"1 1:2 qid:1\n",
            "bad.txt:1:7: found '1', expected qid right after the label, once",
        ),
        case(
            "letor: qid is no text",
            Text("bad.txt"),
            b"1 qid:\xff 1:2\n",
            "bad.txt:1:3: found '�', expected a query id in UTF-8",
        ),
        case(
            "letor: no qid anywhere",
            Text("bad.txt"),
            b"1 1:2\n0 1:3\n",
            "bad.txt: found rows without qid, expected 'qid:' after each label -> add a file bad.txt.query with the number of rows of each query",
        ),
        case(
            "letor: a later row lacks its qid",
            Text("bad.txt"),
            b"1 qid:1 1:2\n1 1:2\n",
            "bad.txt:2: found a row without qid, expected 'qid:' after the label, as in the first row",
        ),
        case(
            "letor: a later row has a qid",
            Text("bad.txt"),
            b"1 1:2\n1 qid:1 1:2\n",
            "bad.txt:2: found 'qid:1', expected no qid, as in the first row",
        ),
        case(
            "letor: value is a word",
            Text("bad.txt"),
            b"1 qid:1 1:0.5 2:high\n",
            "bad.txt:1:17: found 'high', expected a number, NULL or nan",
        ),
        case(
            "letor: value is empty",
            Text("bad.txt"),
            b"1 qid:1 1:\n",
            "bad.txt:1:11: found nothing, expected a number, NULL or nan",
        ),
        case(
            "letor: value does not fit f32",
            Text("bad.txt"),
            b"1 qid:1 1:1e39\n",
            "bad.txt:1:11: found '1e39', expected a value that fits a 32-bit float",
        ),
        case(
            "letor: value has a decimal comma",
            Text("bad.txt"),
            b"1 qid:1 1:0,5\n",
            "bad.txt:1:11: found '0,5', expected a number, NULL or nan",
        ),
        case(
            "letor: id is a word",
            Text("bad.txt"),
            b"1 qid:1 bm25:3\n",
            "bad.txt:1:9: found 'bm25', expected a whole number as feature id",
        ),
        case(
            "letor: id is negative",
            Text("bad.txt"),
            b"1 qid:1 -1:3\n",
            "bad.txt:1:9: found '-1', expected a whole number as feature id",
        ),
        case(
            "letor: id is not whole",
            Text("bad.txt"),
            b"1 qid:1 1.5:3\n",
            "bad.txt:1:9: found '1.5', expected a whole number as feature id",
        ),
        case(
            "letor: id is too large",
            Text("bad.txt"),
            b"1 qid:1 16777217:3\n",
            "bad.txt:1:9: found '16777217', expected a feature id of at most 16777216 -> ids number the columns of a dense matrix; renumber the features",
        ),
        case(
            "letor: id stands twice",
            Text("bad.txt"),
            b"1 qid:1 1:1 2:1 1:2\n",
            "bad.txt:1:17: found '1:2', expected each feature id once in a row",
        ),
        case(
            "letor: a word without colon",
            Text("bad.txt"),
            b"1 qid:1 1:1 stray\n",
            "bad.txt:1:13: found 'stray', expected a feature 'id:value'",
        ),
        case(
            "letor: comment is no text",
            Text("bad.txt"),
            b"1 qid:1 1:1 # \xff\xfe\n",
            "bad.txt:1:14: found '��', expected a comment in UTF-8",
        ),
        case(
            "letor: nothing but comments",
            Text("comments.txt"),
            b"# a\n\n# b\n",
            "comments.txt holds no rows",
        ),
        case(
            "letor: matrix beyond the limit",
            Limit(100),
            b"1 qid:1 100:1\n",
            "large: a matrix of 1 row and 100 features takes 400 bytes; the limit is 100 bytes -> the matrix is dense; renumber sparse feature ids, or split the data",
        ),
    ]
}
