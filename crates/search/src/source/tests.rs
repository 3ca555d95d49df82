use super::*;
use proptest::prelude::*;

/// All documents of an input in memory, which messages call `f`, and the warnings.
fn read_as(
    bytes: &[u8],
    format: Option<DocumentFormat>,
) -> Result<(Vec<Document>, Warnings), SearchError> {
    let mut warnings = Warnings::default();
    let mut documents = Vec::new();
    let input = Input::from_bytes("f", bytes.to_vec())?;
    if let Some((mut reader, _)) = input_reader(input, format, &mut warnings)? {
        while let Some(document) = reader.next(&mut warnings) {
            documents.push(document?);
            let (read, length) = reader.position();
            assert!(read <= length);
        }
    }
    Ok((documents, warnings))
}

fn read(text: &str) -> Vec<Document> {
    read_as(text.as_bytes(), None).unwrap().0
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn texts(texts: &[&str]) -> Value {
    Value::Texts(texts.iter().map(|&text| text.to_owned()).collect())
}

/// Regression: the error named the number of cells of the row, or rows were joined without a word.
#[test]
fn the_line_of_a_quote_that_is_never_closed_is_named() {
    let error = |text: &str| read_as(text.as_bytes(), None).unwrap_err().to_string();
    let open = "id,title,body\na,\"two\nlines\",x\nb,c,\"open\nc,d,\"e\"\n";
    let message =
        "found a quote that is never closed, expected a closing quote at the end of the cell";
    assert_eq!(error(open), format!("f:4: {message}"));
    let semicolons = "\u{feff}id;title\r\na;b\r\nc;\"open\r\nd;e\r\n";
    assert_eq!(error(semicolons), format!("f:3: {message}"));
}

#[test]
fn json_lines_keep_order_flatten_objects_and_take_the_last_of_equal_keys() {
    let (documents, warnings) = read_as(
        "\u{feff}{\"title\":\"x\",\"_id\":\"MED-1\",\"year\":1958,\"new\":true,\"none\":null,\
         \"title\":\"\\u00e4\",\"metadata\":{},\"m\":{\"url\":\"u\",\"deep\":{\"n\":2.5}},\
         \"tags\":[\"a\",3,{\"x\":1},[1]],\"empty\":[]}\r\n\n{\"id\":12345678901234567890}\n"
            .as_bytes(),
        None,
    )
    .unwrap();
    let expected = Document::new("MED-1")
        .with("title", text("ä"))
        .with("year", Value::Number(1958.0))
        .with("new", Value::Number(1.0))
        .with("m.url", text("u"))
        .with("m.deep.n", Value::Number(2.5))
        .with("tags", texts(&["a", "3"]));
    assert_eq!(documents, [expected, Document::new("12345678901234567890")]);
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["2 values skipped: neither text, number nor list (first: f:1 (column 'tags'))"]
    );
}

#[test]
fn trec_tags_are_fields_and_inner_markup_is_stripped() {
    let documents = read(
        "<DOC>\n<DOCID> 9 </DOCID><DOCNO> WSJ-1 </DOCNO>\n<HL>A &amp;\n B</HL>\n<DD>1987</DD>\n\
         <TEXT>\n<P>one</P><P>1 < 2 &#228; &lt;b&gt;</P>\n</TEXT>\n<!-- c --><TEXT>two</TEXT>\n\
         </DOC>\n<doc><docno>2</docno>words outside\n</doc>\n",
    );
    let first = Document::new("WSJ-1")
        .with("title", text("A &\n B"))
        .with("dd", text("1987"))
        .with("text", text("one 1 < 2 ä <b>\n\ntwo"));
    assert_eq!(documents, [first, Document::new("2").with("text", text("words outside"))]);
}

#[test]
fn text_between_trec_documents_gives_a_warning() {
    let bytes = b"<DOC><DOCNO>1</DOCNO></DOC>\nstray\n<DOC><DOCNO>2</DOCNO></DOC>\n";
    let (documents, warnings) = read_as(bytes, None).unwrap();
    assert_eq!(documents.len(), 2);
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["1 text outside of documents, skipped (first: f:2)"]);
}

#[test]
fn smart_sections_are_fields_and_citations_are_links() {
    let documents = read(
        ".I 1\r\n.T\r\nTitle on\r\ntwo lines\r\n.A\r\nPerlis\r\n.W\r\nBody .\r\n.dot\r\n.X\r\n\
         2\t5\t1\r\n.I 2\n.B\nCACM May, 1960\n.K\nk\n.N\nn\n.C\n3.5\n.Q\nq\n.X\n1\t5\t2\n2\t5\t2\n",
    );
    let first = Document::new("1")
        .with("title", text("Title on\ntwo lines"))
        .with("author", text("Perlis"))
        .with("text", text("Body .\n.dot"));
    let second = Document::new("2")
        .with("source", text("CACM May, 1960"))
        .with("keywords", text("k"))
        .with("note", text("n"))
        .with("category", text("3.5"))
        .with("q", text("q"))
        .with("links", texts(&["1"]));
    assert_eq!(documents, [first, second]);
}

#[test]
fn tables_give_text_and_leave_empty_cells_out() {
    let expected = [
        Document::new("d1").with("title", text("a \"b\"")).with("year", text("1958")),
        Document::new("d2").with("year", text("7")),
    ];
    let csv = "\u{feff}title,ID,year\r\n\"a \"\"b\"\"\",d1,1958\n,d2,7\n";
    assert_eq!(read(csv), expected);
    // As spreadsheets of countries with a decimal comma write it.
    let semicolons = "\u{feff}title;ID;year\r\n\"a \"\"b\"\"\";d1;1958\r\n;d2;7\r\n";
    assert_eq!(read(semicolons), expected);
    let found = read("id;title;price\nd1;\"red; green, blue\";-12,50\nd2;1,2 or 3,4;1.000,5\n");
    let texts: Vec<String> = found.iter().map(|document| format!("{document:?}")).collect();
    let texts = texts.concat();
    for text in ["red; green, blue", "\"-12.50\"", "1,2 or 3,4", "1.000,5"] {
        assert!(texts.contains(text), "{text}: {texts}");
    }
    assert_eq!(read("title\tdocno\tyear\na \"b\"\td1\t1958\n\td2\t7\n"), expected);
    assert_eq!(read("name,n\nx,1\n"), [Document::new("x").with("n", text("1"))]);
}

#[test]
fn a_header_alone_and_blank_files_hold_no_documents() {
    assert!(read("id,title\n").is_empty());
    assert!(read(" \n").is_empty());
    assert!(read("").is_empty());
}

#[test]
fn errors_of_documents_name_their_location() {
    let ids = "id, _id, docid, doc_id, docno, key, document_id, product_id, item_id, sku, uuid";
    for (text, message) in [
        ("{\"id\":1}\n{\"id\":2,}\n", "f:2:9: found text that is not JSON (trailing comma), expected one JSON object per line".to_owned()),
        ("{\"id\":1}\n[1]\n", "f:2: found '[1]', expected one JSON object per line".into()),
        ("{\n\"id\": 1\n}", "f:1:1: found text that is not JSON (EOF while parsing an object), expected one JSON object per line".into()),
        ("{\"title\":\"x\"}", format!("f:1: found no id among the fields 'title', expected one of the fields {ids}")),
        ("{}", format!("f:1: found an object without fields, expected one of the fields {ids}")),
        ("{\"id\":\"a b\"}", "f:1: found the id 'a b', expected an id without whitespace and control characters".into()),
        ("{\"id\":\"\"}", "f:1: found an empty id, expected an id".into()),
        ("{\"id\":1.5}", "f:1: found another kind of value in 'id', expected a text or a whole number".into()),
        ("\n<DOC>\n<DOCNO>1</DOCNO>\n<DOC>", "f:2: found a <DOC> that is not closed, expected </DOC>".into()),
        ("<DOC><DOCNO>1</DOCNO>", "f:1: found a <DOC> that is not closed, expected </DOC>".into()),
        ("<DOC>\n<TEXT>x</TEXT></DOC>", "f:1: found a document without <DOCNO>, expected <DOCNO>id</DOCNO>".into()),
        ("<DOC><DOCNO>1 2</DOCNO></DOC>", "f:1: found the id '1 2', expected an id without whitespace and control characters".into()),
        (".I 1\n.W\nx\n.I \n", "f:4: found an empty id, expected an id".into()),
        ("a,b\n1,2\n3\n", "f:3: found a row of 1 cell, expected 2 cells, one for each column of the header".into()),
        ("a,a\n", "f:1: found two columns named 'a', expected a header with distinct names".into()),
        ("id,b\n,2\n", "f:2 (column 'id'): found an empty id, expected an id".into()),
        ("plain words\n", "f: the first line does not show the format of the documents".into()),
    ] {
        let error = read_as(text.as_bytes(), None).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
    let error = read_as(b"x\n", Some(DocumentFormat::Smart)).unwrap_err();
    assert_eq!(error.to_string(), "f:1: found 'x', expected '.I' and an id");
    for (text, command) in [("[{\"id\":1}]", "`jq -c '.[]'`"), ("{\n\"id\": 1\n}", "`jq -c .`")] {
        let error = read_as(text.as_bytes(), None).unwrap_err();
        assert!(error.help().unwrap().ends_with(command), "{text}: {error}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_and_counted() {
    for bytes in [
        &b"{\"id\":1,\"text\":\"a\xff\"}"[..],
        b"<DOC><DOCNO>1</DOCNO><TEXT>a\xff</TEXT></DOC>",
        b".I 1\n.W\na\xff\n",
        b"id,text\n1,a\xff\n",
    ] {
        let (documents, warnings) = read_as(bytes, None).unwrap();
        assert_eq!(documents, [Document::new("1").with("text", text("a\u{fffd}"))]);
        assert_eq!(warnings.count(WarningKind::InvalidUtf8), 1);
    }
}

/// Every format must be linear, also for inputs that make naive scanners look ahead repeatedly.
#[test]
fn long_and_hostile_lines_are_read_in_linear_time() {
    let n = 100_000;
    let start = std::time::Instant::now();
    let long = format!("{{\"id\":1,\"text\":\"{}\"}}", "x ".repeat(n * 8));
    assert_eq!(read(&long)[0].text("text").unwrap().len(), n * 16);
    let keys: String = (0..n).map(|i| format!(",\"k{}\":1", i % (n / 2))).collect();
    assert_eq!(read(&format!("{{\"id\":1{keys}}}"))[0].fields.len(), n / 2);
    for inner in ["<a", "<a>", "<!--", "<", "&", "&#", "<a b=\"", "</"] {
        let many = inner.repeat(n);
        let bytes = format!("<DOC><DOCNO>1</DOCNO>{many}</DOC>");
        let _ = read_as(bytes.as_bytes(), None);
        let _ = html::page(&many);
    }
    let tags: String = (0..n).map(|i| format!("<t{i}>x</t{i}>")).collect();
    assert_eq!(read(&format!("<DOC><DOCNO>1</DOCNO>{tags}</DOC>"))[0].fields.len(), n);
    // Quadratic work would be 10^10 steps; this takes seconds even unoptimised.
    assert!(start.elapsed().as_secs() < 120);
}

/// All formats of a single file: all but `Folder`.
const FORMATS: [DocumentFormat; 6] = [
    DocumentFormat::Jsonl,
    DocumentFormat::Trec,
    DocumentFormat::Smart,
    DocumentFormat::Csv,
    DocumentFormat::Tsv,
    DocumentFormat::Parquet,
];

proptest! {
    #[test]
    fn any_bytes_give_documents_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_as(&bytes, None);
        for format in FORMATS {
            let _ = read_as(&bytes, Some(format));
        }
        let _ = html::page(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_pieces_of_markup_give_documents_or_an_error(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "<DOC>", "</DOC>", "<DOCNO>", "</DOCNO>", "<TEXT>", "</TEXT>", "1", "<", ">", "<!--",
                "-->", "&#x", "&amp", ";", "<a href=", "\"", "'", "<script>", "</script", "<title>",
                "é", "\n", ".I 1\n", ".X\n", "1\t5\t2\n", ".W\n", "{", "}", "[", "\"id\":", ",",
            ]),
            0..60,
        ),
    ) {
        let whole = pieces.concat();
        let _ = read_as(whole.as_bytes(), None);
        for format in FORMATS {
            let _ = read_as(whole.as_bytes(), Some(format));
        }
        let _ = html::page(&whole);
    }
}

/// Collections of several blocks, compressed and not: the same documents, warnings and errors.
#[test]
fn a_compressed_file_read_in_chunks_gives_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let words = |n: usize| format!("w{} ", n * n).repeat(40 + n % 90);
    let all = |line: &dyn Fn(usize) -> String| (0..12_000).map(line).collect::<String>();
    let jsonl = all(&|n| format!("{{\"id\": {n}, \"text\": \"{}\", \"x\": [[1]]}}\n", words(n)));
    let trec = all(&|n| {
        format!(
            "<DOC>\n<DOCNO>{n}</DOCNO>\n<!-- </DOC> -->\n<TEXT>{}</TEXT>\n</DOC>\nout\n",
            words(n)
        )
    });
    let csv = "id,text,y\n".to_owned() + &all(&|n| format!("{n},\"{}\n,\",1\n", words(n)));
    for (text, broken) in [(jsonl, "{\n"), (trec, "<DOC>\n<TEXT>a"), (csv, "1,2\n")] {
        // More than two blocks of 4 MiB.
        assert!(text.len() > 9 << 20, "{}", text.len());
        for text in [text.clone(), text + broken] {
            let read = |name: &str| {
                let path = folder.path().join(name);
                rankwright_data::store::write_atomic(&path, |out| out.write_all(text.as_bytes()))
                    .unwrap();
                let mut documents = Documents::open(&path, None).unwrap();
                let found: Vec<Result<Document, String>> = documents
                    .by_ref()
                    .map(|document| document.map_err(|error| error.to_string().replace(name, "")))
                    .collect();
                let total = documents.bytes_total();
                assert!(found.last().unwrap().is_err() || Some(documents.bytes_read()) == total);
                let warnings = documents.warnings().iter().map(|w| w.to_string().replace(name, ""));
                (found, warnings.collect::<Vec<String>>())
            };
            let plain = read("plain");
            assert!(plain.0.len() >= 12_000);
            for name in ["packed.gz", "packed.zst"] {
                let packed = read(name);
                assert_eq!(packed.0.last(), plain.0.last());
                assert!(packed.0 == plain.0, "{name}");
                assert_eq!(packed.1, plain.1, "{name}");
            }
        }
    }
}
