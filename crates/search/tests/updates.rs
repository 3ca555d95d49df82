//! Updates of an index: adding, replacing, leaving unchanged, deleting; fields that are not indexed.

use std::ops::ControlFlow;

use rankwright_search::{
    BuildOptions, BuildReport, Document, Existing, Filter, FilterHint, Index, Schema, SearchError,
    SearchWarning, build_index,
};

use crate::common::{build, build_with, document, message, search};

fn kinds(report: &BuildReport) -> Vec<&'static str> {
    report.warnings().iter().map(SearchWarning::kind).collect()
}

/// Added, replaced, unchanged, documents of the index.
fn counts(report: &BuildReport) -> (u64, u64, u64, u64) {
    (report.added, report.replaced, report.unchanged, report.total)
}

#[test]
fn adding_counts_new_replaced_and_unchanged_documents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let old = vec![document("a", "one"), document("b", "two"), document("c", "three")];
    let report = build(&path, old.clone(), Existing::Refuse).unwrap();
    assert_eq!(counts(&report), (3, 0, 0, 3));
    let new = vec![document("a", "one"), document("b", "zwei"), document("d", "four")];
    let report = build(&path, new, Existing::Add).unwrap();
    assert_eq!(counts(&report), (1, 1, 1, 4));
    let index = Index::open(&path).unwrap();
    assert_eq!(index.documents(), 4);
    assert_eq!((search(&index, "zwei"), search(&index, "two")), (vec!["b".to_owned()], vec![]));
    // Of several documents of an id the last one counts, also if an earlier one was unchanged.
    let again = vec![document("a", "one"), document("c", "3"), document("a", "eins")];
    let mut many = again.clone();
    many.extend((0..5_000).map(|number| document(&format!("n{number}"), "many")));
    many.push(document("c", "three"));
    let report = build(&path, many, Existing::Add).unwrap();
    assert_eq!(counts(&report), (5_000, 1, 1, 5_004));
    assert_eq!(report.duplicates, 2);
    let index = Index::open(&path).unwrap();
    assert_eq!(
        (search(&index, "eins"), search(&index, "three")),
        (vec!["a".to_owned()], vec!["c".to_owned()])
    );
    assert_eq!(index.documents(), 5_004);
}

#[test]
fn an_open_index_that_another_process_changed_counts_by_its_present_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    build(&path, vec![document("a", "one")], Existing::Refuse).unwrap();
    let mut open = Index::open(&path).unwrap();
    build(&path, vec![document("b", "two")], Existing::Add).unwrap();
    let report = open.add([Ok(document("b", "two")), Ok(document("c", "three"))]).unwrap();
    assert_eq!(counts(&report), (1, 0, 1, 3));
    assert_eq!(open.documents(), 3);
}

#[test]
fn fields_that_the_index_does_not_have_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let late = |number: usize| {
        let one = document(&format!("d{number}"), "word");
        if number >= 1_500 { one.with("color", "red") } else { one }
    };
    let report = build(&path, (0..1_600).map(late).collect(), Existing::Refuse).unwrap();
    assert_eq!(report.not_indexed.get("color"), Some(&100));
    let warning = report.warnings()[0].to_string();
    assert!(
        warning.starts_with("field `color` of 100 documents is kept but not indexed"),
        "{warning}"
    );
    assert!(warning.contains("give its kind in the schema"), "{warning}");
    // With its kind given, it is indexed.
    let options = BuildOptions::new().schema(Schema::parse("color:category").unwrap());
    let options = options.existing(Existing::Replace);
    let report = build_with(&path, (0..1_600).map(late).collect(), &options).unwrap();
    assert_eq!(kinds(&report), [""; 0]);
    let index = Index::open(&path).unwrap();
    assert_eq!(Filter::new(&index, "color:red").unwrap().documents(), 100);
    let report =
        build(&path, vec![document("x", "word").with("size", 3.0)], Existing::Add).unwrap();
    let warning = report.warnings()[0].to_string();
    assert!(warning.contains("as the index does not have it; build the index again"), "{warning}");
}

#[test]
fn a_schema_with_a_field_that_no_document_has_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let schema = |text: &str| BuildOptions::new().schema(Schema::parse(text).unwrap());
    let documents = || vec![document("a", "one").with("color", "red")];
    let error = build_with(&path, documents(), &schema("colour:category")).unwrap_err();
    assert!(matches!(&error, SearchError::AbsentField { field, .. } if field == "colour"));
    assert!(message(&error).contains("did you mean `color`?"), "{}", message(&error));
    assert!(matches!(Index::open(&path), Err(SearchError::NoIndex { .. })));
    let report = build_with(&path, documents(), &schema("note:text").allow_absent(true)).unwrap();
    assert_eq!(report.total, 1);
}

#[test]
fn no_documents_are_an_error_unless_allowed_and_harmless_when_added() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let error = build(&path, Vec::new(), Existing::Refuse).unwrap_err();
    assert_eq!(error.to_string(), "there are no documents: the input is empty");
    let empty = BuildOptions::new().schema(Schema::parse("text:text").unwrap()).allow_absent(true);
    assert_eq!(build_with(&path, Vec::new(), &empty).unwrap().total, 0);
    assert_eq!(counts(&build(&path, Vec::new(), Existing::Add).unwrap()), (0, 0, 0, 0));
}

#[test]
fn documents_are_deleted_by_filter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let dated = |number: usize| document(&format!("d{number}"), "word").with("year", number as f64);
    let documents = (0..100).map(|number| Ok(dated(number)));
    build_index(&path, documents, &BuildOptions::new(), &mut |_| ControlFlow::Continue(()))
        .unwrap();
    let mut index = Index::open(&path).unwrap();
    assert_eq!(index.delete_where("year<40 OR id:d99").unwrap(), 41);
    assert_eq!(index.delete_where("year<40").unwrap(), 0);
    assert!(matches!(index.delete_where("yaer<40"), Err(SearchError::Filter(_))));
    let index = Index::open(&path).unwrap();
    assert_eq!((index.documents(), index.document("d40").unwrap().is_some()), (59, true));
    assert!(index.document("d39").unwrap().is_none());
}

#[test]
fn filters_that_find_nothing_get_a_hint() {
    let documents = (0..40).map(|number| {
        let color = ["Dark Green", "red"][number % 2];
        let document = document(&format!("d{number}"), "a green chair in stock");
        let document = document.with("color", color).with("price", number as f64);
        document.with("in_stock", 1.0)
    });
    let index = Index::in_memory(documents.collect::<Vec<Document>>()).unwrap();
    let hints = |text: &str| -> Vec<String> {
        let filter = Filter::new(&index, text).unwrap();
        filter.hints().iter().map(ToString::to_string).collect()
    };
    let first = |text: &str| hints(text).into_iter().next().unwrap_or_default();
    assert!(
        first("color:Dark Green").ends_with("color:\"Dark Green\""),
        "{}",
        first("color:Dark Green")
    );
    assert!(first("in_stock").contains("in_stock:true"), "{}", first("in_stock"));
    assert!(first("price:[75 TO 20]").contains("lies above the second one"));
    for sql in ["price BETWEEN 20 AND 75", "in_stock:true AND price between 20 and 75"] {
        assert_eq!(
            hints(sql),
            [
                "BETWEEN is read as a word of the text; for the range of `price` write price:[20 TO 75]"
            ],
            "{sql}"
        );
    }
    assert!(first("price:75..20").contains("lies above the second one"));
    assert!(first("color:Red").ends_with("did you mean color:red?"), "{}", first("color:Red"));
    assert!(first("color:'dark grene'").ends_with("did you mean color:\"Dark Green\"?"));
    for good in
        ["color:\"Dark Green\"", "color:“Dark Green”", "price:[20 TO 75]", "in_stock:true", "green"]
    {
        assert_eq!(hints(good), [""; 0], "{good}");
        assert!(Filter::new(&index, good).unwrap().documents() > 0, "{good}");
    }
    assert_eq!(hints("color:purple AND price>3"), [""; 0], "nothing similar");
    let filter = Filter::new(&index, "in_stock").unwrap();
    assert!(matches!(filter.hints(), [FilterHint::BareField { .. }]));
}
