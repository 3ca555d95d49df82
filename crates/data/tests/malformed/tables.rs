//! CSV and TSV.

use super::Reader::{Columns, Limit, Second, Text};
use super::{Case, case};

pub(crate) fn csv() -> Vec<Case> {
    vec![
        case(
            "csv: no query column",
            Text("bad.csv"),
            b"id,label,a\n1,2,3\n",
            "bad.csv: no column is recognised as the qid; the columns are 'id', 'label', 'a' -> give the roles `qid=none`; `qid=none` if all rows are one list",
        ),
        case(
            "csv: no label column",
            Text("bad.csv"),
            b"qid,a\n1,2\n",
            "bad.csv: no column is recognised as the label; the columns are 'qid', 'a' -> give the roles `label=a`; `label=none` if there is no label",
        ),
        case(
            "csv: two query columns",
            Text("bad.csv"),
            b"qid,query,label\n1,2,3\n",
            "bad.csv: both 'qid' and 'query' could be the qid -> give the roles `qid=qid,ignore=query` or `qid=query,ignore=qid`",
        ),
        case(
            "csv: two label columns",
            Text("bad.csv"),
            b"qid,label,relevance\n1,2,3\n",
            "bad.csv: both 'label' and 'relevance' could be the label -> give the roles `label=label,ignore=relevance` or `label=relevance,ignore=label`",
        ),
        case(
            "csv: no header",
            Text("bad.csv"),
            b"1,2,0.5\n1,3,0.5\n",
            "bad.csv: the first line holds numbers; a header with column names is needed -> add a first line such as `qid,label,feature1,feature2`",
        ),
        case(
            "csv: two columns of one name",
            Text("bad.csv"),
            b"qid,label,a,a\n1,2,3,4\n",
            "bad.csv: there are two columns 'a' -> give every column its own name",
        ),
        case(
            "csv: a column without name",
            Text("bad.csv"),
            b"qid,label,\n1,2,3\n",
            "bad.csv: column 3 of 3 has no name -> give every column its own name",
        ),
        case(
            "csv: a header and nothing else",
            Text("header.csv"),
            b"qid,label,a\n",
            "header.csv holds no rows",
        ),
        case(
            "csv: too few fields",
            Text("bad.csv"),
            b"qid,label,a\n1,2,3\n1,2\n",
            "bad.csv:3: found 2 fields, expected 3, as many as the header has",
        ),
        case(
            "csv: too many fields",
            Text("bad.csv"),
            b"qid,label,a\n1,2,3,4\n",
            "bad.csv:2: found 4 fields, expected 3, as many as the header has",
        ),
        case(
            "csv: feature is a word",
            Text("bad.csv"),
            b"qid,label,bm25\n1,2,3\n1,2,high\n",
            "bad.csv: column 'bm25' has numbers and texts (the first text, 'high', is at bad.csv:3) -> give the roles `category=bm25`",
        ),
        case(
            "csv: feature has a decimal comma",
            Text("bad.csv"),
            b"qid,label,a\n1,2,\"0,5\"\n",
            "bad.csv: column 'a' has numbers with a decimal comma (the first, '0,5', is at bad.csv:2); decimal points are read -> write these values differently; or give the roles `ignore=a`",
        ),
        case(
            "csv: feature does not fit f32",
            Text("bad.csv"),
            b"qid,label,a\n1,2,-4e38\n",
            "bad.csv:2 (column 'a'): found '-4e38', expected a number within ±3.4e38 (features are 32-bit floats)",
        ),
        case(
            "csv: feature is no text",
            Text("bad.csv"),
            b"qid,label,a\n1,2,\xff\n",
            "bad.csv:2 (column 'a'): found bytes '�', expected UTF-8 text -> save the file as UTF-8",
        ),
        case(
            "csv: label is empty",
            Text("bad.csv"),
            b"qid,label,a\n1,,3\n",
            "bad.csv:2 (column 'label'): found nothing, expected a label, which is a finite number -> leave out rows that nobody judged, or write 0 if they count as not relevant",
        ),
        case(
            "csv: label is a word",
            Text("bad.csv"),
            b"qid,label,a\n1,good,3\n",
            "bad.csv:2 (column 'label'): found 'good', expected a label, which is a finite number -> write grades as numbers, higher is better, such as 0 for bad and 2 for good",
        ),
        case(
            "csv: label is not finite",
            Text("bad.csv"),
            b"qid,label,a\n1,inf,3\n",
            "bad.csv:2 (column 'label'): found 'inf', expected a label, which is a finite number",
        ),
        case(
            "csv: label is nan",
            Text("bad.csv"),
            b"qid,label,a\n1,NaN,3\n",
            "bad.csv:2 (column 'label'): found 'NaN', expected a label, which is a finite number",
        ),
        case(
            "csv: query id is empty",
            Text("bad.csv"),
            b"qid,label,a\n,2,3\n",
            "bad.csv:2 (column 'qid'): found nothing, expected a query id",
        ),
        case(
            "csv: query id is no text",
            Text("bad.csv"),
            b"qid,label,a\n\xc3(,2,3\n",
            "bad.csv:2 (column 'qid'): found bytes '�(', expected UTF-8 text -> save the file as UTF-8",
        ),
        case(
            "csv: weight is negative",
            Text("bad.csv"),
            b"qid,label,weight\n1,2,-1\n",
            "bad.csv:2 (column 'weight'): found '-1', expected a weight, which is a finite number from 0",
        ),
        case(
            "csv: weight is empty",
            Text("bad.csv"),
            b"qid,label,weight\n1,2,\n",
            "bad.csv:2 (column 'weight'): found nothing, expected a weight, which is a finite number from 0",
        ),
        case(
            "csv: query weights disagree",
            Text("bad.csv"),
            b"qid,label,query_weight\n1,2,1\n1,2,3\n",
            "bad.csv:3 (column 'query_weight'): found 3, expected 1 as in the first row of query '1'",
        ),
        case(
            "csv: query weight is a word",
            Text("bad.csv"),
            b"qid,label,query_weight\n1,2,heavy\n",
            "bad.csv:2 (column 'query_weight'): found 'heavy', expected a weight, which is a finite number from 0",
        ),
        case(
            "csv: position is not whole",
            Text("bad.csv"),
            b"qid,label,position\n1,2,1.5\n",
            "bad.csv:2 (column 'position'): found '1.5', expected a position, which is a whole number from 1",
        ),
        case(
            "csv: position is negative",
            Text("bad.csv"),
            b"qid,label,pos\n1,2,-3\n",
            "bad.csv:2 (column 'pos'): found '-3', expected a position, which is a whole number from 1",
        ),
        case(
            "csv: a quote never closes",
            Text("bad.csv"),
            b"qid,label,docid\n1,2,\"a\n1,3,b\n",
            "bad.csv:2: found a quote that is never closed, expected a closing quote at the end of the cell",
        ),
        case(
            "csv: header is no text",
            Text("bad.csv"),
            b"qid,label,\xff\n1,2,3\n",
            "bad.csv:1: found bytes '�', expected UTF-8 text -> save the file as UTF-8",
        ),
        case(
            "csv: a decimal point among decimal commas",
            Text("bad.csv"),
            b"qid;label;a\n1;2;3,5\n1;2;1.5\n",
            "bad.csv: column 'a' has numbers with a point, a currency sign or a percent sign in a file with decimal commas (the first, '1.5', is at bad.csv:3); numbers such as 1234,50 are read -> write these values differently; or give the roles `ignore=a`",
        ),
        case(
            "csv: a label with a decimal point among decimal commas",
            Text("bad.csv"),
            b"qid;label;a\n1;2.5;3,5\n",
            "bad.csv:2 (column 'label'): found '2.5', expected a number with a decimal comma, as this file has them",
        ),
        case(
            "csv: a cell too many between semicolons",
            Text("bad.csv"),
            b"qid;label;a\n1;2;3\n1;2;3;4\n",
            "bad.csv:3: found 4 fields, expected 3, as many as the header has",
        ),
        case(
            "csv: a role for no column",
            Columns("ignore=url"),
            b"qid,label,a\n1,2,3\n",
            "roles.csv: `ignore=url` names the column 'url', which does not exist; the columns are 'qid', 'label', 'a' -> check the column names in the roles",
        ),
        case(
            "csv: a second label besides the given one",
            Columns("label=clicks"),
            b"qid,clicks,rel\n1,2,3\n",
            "roles.csv: both 'clicks' and 'rel' could be the label -> give the roles `label=clicks,ignore=rel`",
        ),
        case(
            "csv: matrix beyond the limit",
            Limit(7),
            b"qid,label,a\n1,2,3\n1,2,3\n",
            "large: a matrix of 2 rows and 1 feature takes 8 bytes; the limit is 7 bytes -> leave columns out by the role `ignore`, or read fewer rows",
        ),
        case(
            "csv: files with different columns",
            Second("qid,label,a\n1,2,3\n"),
            b"qid,label,b\n1,2,3\n",
            "second: the columns differ from those of first: added 'b', missing 'a' -> all files of one data set must have the same columns",
        ),
        case(
            "csv: files of different formats",
            Second("1 qid:1 1:2\n"),
            b"qid,label,b\n1,2,3\n",
            "second: this is csv, but first is letor -> all files of one data set must have the same format; convert one of them",
        ),
    ]
}

pub(crate) fn tsv() -> Vec<Case> {
    vec![
        case(
            "tsv: feature is a word",
            Text("bad.tsv"),
            b"qid\tlabel\ta\n1\t2\t5\n1\t2\tx y\n",
            "bad.tsv: column 'a' has numbers and texts (the first text, 'x y', is at bad.tsv:3) -> give the roles `category=a`",
        ),
        case(
            "tsv: too few fields",
            Text("bad.tsv"),
            b"qid\tlabel\ta\n1\t2\n",
            "bad.tsv:2: found 2 fields, expected 3, as many as the header has",
        ),
        case(
            "tsv: no query column",
            Text("bad.tsv"),
            b"id\tlabel\n1\t2\n",
            "bad.tsv: no column is recognised as the qid; the columns are 'id', 'label' -> give the roles `qid=none`; `qid=none` if all rows are one list",
        ),
    ]
}
