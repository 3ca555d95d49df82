//! Tests of reading queries in every format.

use super::*;
use proptest::prelude::*;

fn read_with(bytes: &[u8], options: &QueryOptions) -> Result<Vec<Query>, SearchError> {
    read_input(Input::from_bytes("q", bytes.to_vec())?, options, &mut Warnings::default())
}

fn read(text: &str) -> Result<Vec<Query>, SearchError> {
    read_with(text.as_bytes(), &QueryOptions::default())
}

/// The id and text of each query.
fn ids_and_texts(queries: &[Query]) -> Vec<(&str, &str)> {
    queries.iter().map(|query| (query.id.as_str(), query.text.as_str())).collect()
}

#[test]
fn every_format_reads_the_same() {
    for text in [
        "1\theat flow\n02\twing \"x\r\n3\t\n",
        "\u{feff}qid\tquery\n1\theat flow\n02\twing \"x\n3\t\n",
        "{\"_id\":1,\"text\":\"heat flow\"}\n\n{\"qid\":\"02\",\"query\":\"wing \\\"x\"}\n{\"id\":\"3\",\"title\":\"\"}",
        ".I 1\n.W\n heat\nflow\n.A\nnobody\n.I 02\n.N\nno\n.W\nwing \"x\n.I 3\n",
        "<top>\n<num> Number: 1\n<title> Topic: heat\nflow\n<desc> Description:\nno\n</top>\n\
         <TOP><num>02</num><title>wing &quot;x</title></TOP><top><num>3</top>",
    ] {
        let queries = read(text).unwrap();
        assert_eq!(
            ids_and_texts(&queries),
            [("1", "heat flow"), ("02", "wing \"x"), ("3", "")],
            "{text}"
        );
    }
}

#[test]
fn further_values_become_fields() {
    let queries =
        read("{\"id\":1,\"text\":\"a\",\"lang\":\"de\",\"n\":[1,2],\"m\":{\"k\":2}}").unwrap();
    assert_eq!(
        queries[0].fields,
        [
            ("lang".into(), Value::Text("de".into())),
            ("n".into(), Value::Texts(vec!["1".into(), "2".into()])),
            ("m.k".into(), Value::Number(2.0)),
        ]
    );
    let queries = read("id\tlang\ttext\n7\tde\tWald\n").unwrap();
    assert_eq!(ids_and_texts(&queries), [("7", "Wald")]);
    assert_eq!(queries[0].fields, [("lang".into(), Value::Text("de".into()))]);
    let queries = read(".I 1\n.W\na\n.A\nPooch, U.\n").unwrap();
    assert_eq!(queries[0].fields, [("author".into(), Value::Text("Pooch, U.".into()))]);
}

#[test]
fn the_requested_parts_of_a_topic_form_the_text_in_that_order() {
    let text = "<top>\n<num> Number: 301\n<title> crime\n\n<desc> Description: \nWhich gangs?\n\n\
                <narr> Narrative:\nNot <b>films</b>.\n</top>\n";
    let parts = vec![TopicPart::Description, TopicPart::Title];
    let options = QueryOptions { parts, ..QueryOptions::default() };
    let queries = read_with(text.as_bytes(), &options).unwrap();
    assert_eq!(ids_and_texts(&queries), [("301", "Which gangs? crime")]);
    assert_eq!(queries[0].fields[0], ("narrative".into(), Value::Text("Not".into())));
}

#[test]
fn positions_replace_ids_that_may_even_repeat() {
    let options = QueryOptions { number_by_position: true, ..QueryOptions::default() };
    let queries = read_with(b".I 001\n.W\na\n.I 001\n.W\nb\n", &options).unwrap();
    assert_eq!(ids_and_texts(&queries), [("1", "a"), ("2", "b")]);
}

#[test]
fn errors_of_queries_name_their_location() {
    for (text, message) in [
        ("", "q holds no queries"),
        ("qid\ttext\n", "q holds no queries"),
        (
            "1\ta\n\n1\tb\n",
            "q:3: found the query id '1' again, after line 1, expected each id once",
        ),
        ("1 a\n", "q:1: found no tab in '1 a', expected an id, a tab and the query's text"),
        (
            "1\ta\tb\n",
            "q:1: found 3 columns in '1\\ta\\tb', expected an id, a tab and the query's text",
        ),
        (
            "id\ta\tb\n1\tx\n",
            "q:2: found 2 columns in '1\\tx', expected 3 columns, as in the header",
        ),
        ("1\ta\n\tb\n", "q:2: found an empty id, expected an id"),
        (
            "{\"id\":1,\"text\":\"a\"}\n{\"id\":2}\n",
            "q:2: found no text in query '2', expected a text under one of text, query, title",
        ),
        (
            "{\"text\":\"a\"}",
            "q:1: found no id among the fields 'text', expected one of the fields id, _id, qid, query_id, query-id, queryid",
        ),
        (
            "{\"id\":1,",
            "q:1:8: found text that is not JSON (EOF while parsing a value), expected one JSON object per line",
        ),
        ("<top>\n<title>a\n</top>", "q:1: found a topic without <num>, expected <num> Number: 301"),
        ("\n<top>\n<num>1\n<top>", "q:2: found a <top> that is not closed, expected </top>"),
        (".I 1\n.W\na\n.I\n.W\n", "q:4: found an empty id, expected an id"),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), message, "{text}");
    }
}

proptest! {
    #[test]
    fn any_bytes_give_queries_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for start in ["", "{", "<top>", ".I 1\n", "id\t"] {
            let _ = read_with(&[start.as_bytes(), &bytes].concat(), &QueryOptions::default());
        }
    }

    #[test]
    fn any_pieces_of_topics_give_queries_or_an_error(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "<top>", "</top>", "<num>", "</num>", "1", "<title>", "x", "<!--", "-->", "<", "&#",
                "\n", ".I 2\n", ".W\n", "\t", "\u{e9}", "Number:",
            ]),
            0..40,
        ),
    ) {
        for start in ["", "<top>", ".I 1\n"] {
            let _ = read(&format!("{start}{}", pieces.concat()));
        }
    }
}
