//! Judgements, runs and preference pairs.

use super::Reader::{Pairs, Qrels, Run};
use super::{Case, case};

pub(crate) fn qrels() -> Vec<Case> {
    vec![
        case("qrels: nothing", Qrels, b"\n", "bad.qrels holds no judgements"),
        case(
            "qrels: too few columns",
            Qrels,
            b"q1 0 d1 1\nq1 0 d2\n",
            "bad.qrels:2: found 3 columns in 'q1 0 d2', expected 4 columns 'qid 0 docid relevance' -> a table of three columns needs the header 'query-id corpus-id score'",
        ),
        case(
            "qrels: relevance is a word",
            Qrels,
            b"q1 0 d1 yes\n",
            "bad.qrels:1: found 'yes', expected a finite number as relevance",
        ),
        case(
            "qrels: relevance is not finite",
            Qrels,
            b"q1 0 d1 1\n\nq1 0 d2 inf\n",
            "bad.qrels:3: found 'inf', expected a finite number as relevance",
        ),
        case(
            "qrels: one column",
            Qrels,
            b"q1\n",
            "bad.qrels:1: found 1 column in 'q1', expected 4 columns 'qid 0 docid relevance'",
        ),
        case(
            "qrels: a table without header",
            Qrels,
            b"q1\td1\thigh\n",
            "bad.qrels:1: found 3 columns in 'q1\\td1\\thigh', expected 4 columns 'qid 0 docid relevance' -> a table of three columns needs the header 'query-id corpus-id score'",
        ),
        case(
            "qrels: query id is no text",
            Qrels,
            b"\xff 0 d1 1\n",
            "bad.qrels:1: found '�', expected a query id in UTF-8",
        ),
        case(
            "qrels: JSON without a document",
            Qrels,
            b"{\"query_id\":\"q\",\"relevance\":1}\n",
            "bad.qrels:1: found the keys 'query_id, relevance', expected a key 'doc_id' or 'corpus-id' or 'corpus_id' or 'docid' or 'document_id' or 'doc'",
        ),
        case(
            "qrels: JSON that does not end",
            Qrels,
            b"{\"query_id\":\"q\"\n",
            "bad.qrels:1:15: found '{\\\"query_id\\\":\\\"q\\\"', expected a JSON object (EOF while parsing an object at line 1 column 15)",
        ),
    ]
}

pub(crate) fn run() -> Vec<Case> {
    vec![
        case("run: nothing", Run, b"", "bad.run holds no results"),
        case(
            "run: too few columns",
            Run,
            b"q1 Q0 d1 1 0.5\n",
            "bad.run:1: found 5 columns in 'q1 Q0 d1 1 0.5', expected 6 columns 'qid Q0 docid rank score tag'",
        ),
        case(
            "run: judgements instead",
            Run,
            b"q1 0 d1 1\n",
            "bad.run:1: found 4 columns in 'q1 0 d1 1', expected 6 columns 'qid Q0 docid rank score tag' -> this looks like a file of judgements, not like a run",
        ),
        case(
            "run: score is a word",
            Run,
            b"q1 Q0 d1 1 best tag\n",
            "bad.run:1: found 'best', expected a finite number as score",
        ),
        case(
            "run: score is nan",
            Run,
            b"q1 Q0 d1 1 nan tag\n",
            "bad.run:1: found 'nan', expected a finite number as score",
        ),
        case(
            "run: a row of a table is too short",
            Run,
            b"query-id\tcorpus-id\tscore\nq1\td1\n",
            "bad.run:2: found 2 columns in 'q1\\td1', expected 3 columns 'query-id corpus-id score', as in the header",
        ),
        case(
            "run: query id is no text",
            Run,
            b"q1 Q0 d1 1 0.5 t\n\xfe Q0 d1 1 0.5 t\n",
            "bad.run:2: found '�', expected a query id in UTF-8",
        ),
        case(
            "run: JSON score is a string",
            Run,
            b"{\"query_id\":\"q\",\"doc_id\":\"d\",\"score\":\"1\"}\n",
            "bad.run:1 (column 'score'): found '\\\"1\\\"', expected a finite number as score",
        ),
    ]
}

pub(crate) fn pairs() -> Vec<Case> {
    vec![
        case("pairs: nothing", Pairs, b"# none\n", "bad.pairs holds no preference pairs"),
        case(
            "pairs: unknown query",
            Pairs,
            b"q9 0 1\n",
            "bad.pairs:1: found 'q9', expected a query of the data set",
        ),
        case(
            "pairs: unknown document",
            Pairs,
            b"q 0 7\n",
            "bad.pairs:1: found '7', expected a document id or row number (from 0) of query 'q'",
        ),
        case(
            "pairs: a document with itself",
            Pairs,
            b"q 1 > 1\n",
            "bad.pairs:1: found a document paired with itself, expected two different documents",
        ),
        case(
            "pairs: too few words",
            Pairs,
            b"q 1\n",
            "bad.pairs:1: found 'q 1', expected 'qid better worse [weight]' or 'qid A > B [weight]'",
        ),
        case(
            "pairs: weight is not above zero",
            Pairs,
            b"qid better worse weight\nq 0 1 0\n",
            "bad.pairs:2: found '0', expected a weight above 0",
        ),
    ]
}
