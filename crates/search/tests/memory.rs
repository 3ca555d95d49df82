//! An index in memory is searched, added to and deleted from; candidates belong to one index.

use std::sync::Arc;

use rankwright_search::{
    BuildOptions, Document, Extractor, FeatureSet, Filter, FirstStage, Index, Query, Ranker,
    Schema, SearchBuffers, SearchError, SearchRequest, SearchWarning, Terms,
};

fn shop() -> Vec<Document> {
    [
        ("1", "Red shoe", "a red shoe of leather"),
        ("2", "Blue shoe", "blue as the sea"),
        ("3", "Hat", "a red hat, and no shoe"),
    ]
    .map(|(id, title, text)| Document::new(id).with("title", title).with("text", text))
    .to_vec()
}

fn ids(index: &Index, query: &str) -> Vec<String> {
    let terms = Terms::new(query, index.analysis());
    let stage = FirstStage::default();
    let found = index.retrieve(&terms, &stage, 10, None, &mut SearchBuffers::default()).unwrap();
    found.iter().map(|candidate| index.id(candidate).unwrap().to_owned()).collect()
}

#[test]
fn documents_in_memory_are_found_as_those_of_a_folder_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let mut go = |_| std::ops::ControlFlow::Continue(());
    let documents = shop().into_iter().map(Ok);
    rankwright_search::build_index(&path, documents, &Default::default(), &mut go).unwrap();
    let rankers = [
        Ranker::first_stage(Index::in_memory(shop()).unwrap()).unwrap(),
        Ranker::first_stage(Index::open(&path).unwrap()).unwrap(),
    ];
    let [memory, disk] = rankers.each_ref().map(|ranker| ranker.rank("red shoes", 10).unwrap());
    assert_eq!(memory, disk);
    assert_eq!(memory.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), ["1", "3", "2"]);
    assert_eq!((memory[0].title.as_str(), memory[0].rank), ("Red shoe", 1));
    assert_eq!(memory[0].snippet.marked("[", "]"), "a [red] [shoe] of leather");
    assert!(rankers[0].index().path().is_none());
    assert_eq!(rankers[1].index().path(), Some(path.as_path()));
    let filter = Filter::new(rankers[0].index(), "text:sea").unwrap();
    let request = SearchRequest::new("shoe").filter(Some(&filter));
    let found = rankers[0].search(&request).unwrap();
    assert_eq!((found.found, found.documents[0].id.as_str()), (1, "2"));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["documents"][0]["marks"], serde_json::json!([]));
    let nothing = rankers[0].search(&SearchRequest::new("the of")).unwrap();
    assert_eq!(nothing.warnings, [SearchWarning::NoTerms]);
}

#[test]
fn a_document_with_an_empty_title_is_shown_with_its_text() {
    let documents = [("1", "", "a blue shoe"), ("2", "Shoe", "a blue one")];
    let documents = documents
        .map(|(id, title, text)| Document::new(id).with("title", title).with("text", text));
    let ranker = Ranker::first_stage(Index::in_memory(documents.to_vec()).unwrap()).unwrap();
    let mut hits = ranker.rank("blue shoe", 10).unwrap();
    hits.sort_by(|a, b| a.id.cmp(&b.id));
    let titles: Vec<&str> = hits.iter().map(|hit| hit.title.as_str()).collect();
    assert_eq!(titles, ["a blue shoe", "Shoe"]);
}

#[test]
fn documents_are_added_replaced_and_deleted_in_memory_and_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let mut go = |_| std::ops::ControlFlow::Continue(());
    let documents = shop().into_iter().map(Ok);
    rankwright_search::build_index(&path, documents, &Default::default(), &mut go).unwrap();
    for mut index in [Index::in_memory(shop()).unwrap(), Index::open(&path).unwrap()] {
        assert_eq!(index.delete(["3", "none"]).unwrap(), 1);
        assert_eq!(ids(&index, "red"), ["1"]);
        let more = [("2", "Green boot"), ("4", "Red boot")];
        let more = more.map(|(id, title)| Ok(Document::new(id).with("title", title)));
        assert_eq!(index.add(more).unwrap().documents, 2);
        assert_eq!(index.documents(), 3);
        assert_eq!(ids(&index, "boot"), ["4", "2"]);
        assert_eq!(ids(&index, "blue"), Vec::<String>::new(), "document 2 was replaced");
        assert_eq!(index.delete(["1", "2", "4"]).unwrap(), 3);
        assert_eq!(ids(&index, "red"), Vec::<String>::new());
    }
    assert_eq!(Index::open(&path).unwrap().documents(), 0, "the folder has changed too");
}

#[test]
fn a_candidate_or_filter_of_another_index_is_refused() {
    let (one, two) = (Index::in_memory(shop()).unwrap(), Index::in_memory(shop()).unwrap());
    let candidate = one.candidate("1").unwrap().unwrap();
    let is_other = |error: SearchError| matches!(error, SearchError::OtherIndex { .. });
    assert!(is_other(two.id(&candidate).unwrap_err()));
    let terms = Terms::new("red", two.analysis());
    assert!(is_other(two.snippet(&candidate, &terms, 10).unwrap_err()));
    let filter = Filter::new(&one, "text:sea").unwrap();
    let (stage, mut buffers) = (FirstStage::default(), SearchBuffers::default());
    assert!(is_other(two.retrieve(&terms, &stage, 1, Some(&filter), &mut buffers).unwrap_err()));
    let extractor = Extractor::new(two, &FeatureSet::parse("bm25").unwrap()).unwrap();
    let query = Query::new("q", "red");
    assert!(is_other(extractor.rows(&query, &terms, &[candidate]).unwrap_err()));
    assert_eq!(one.id(&candidate).unwrap(), "1");
}

#[test]
fn one_buffer_serves_indexes_of_different_sizes() {
    let large = (0..50).map(|n| Document::new(n.to_string()).with("text", "red word"));
    let (small, large) = (Index::in_memory(shop()).unwrap(), Index::in_memory(large).unwrap());
    let mut buffers = SearchBuffers::default();
    for stage in ["bm25", "bm25f"] {
        let stage = FirstStage::parse(stage).unwrap();
        let mut found = |index: &Index| {
            let terms = Terms::new("red", index.analysis());
            index.retrieve(&terms, &stage, 100, None, &mut buffers).unwrap().len()
        };
        assert_eq!((found(&large), found(&small), found(&large)), (50, 2, 50));
    }
}

#[test]
fn threads_share_a_ranker_and_get_the_same_hits() {
    let ranker = Ranker::first_stage(Index::in_memory(shop()).unwrap()).unwrap();
    let alone = ranker.rank("red shoe", 10).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| ranker.rank("red shoe", 10).unwrap())).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}

#[test]
fn classes_without_a_field_are_those_of_the_only_category() {
    let documents = (0..20).map(|n| {
        let (text, genre) = if n % 2 == 0 { ("a jazz trio", "jazz") } else { ("a band", "rock") };
        Document::new(n.to_string()).with("text", text).with("genre", genre)
    });
    let index = Index::in_memory(documents).unwrap();
    let set = FeatureSet::parse("rocchio(class=*)").unwrap().expand(&index).unwrap();
    assert_eq!(set.features, ["rocchio(class=jazz)", "rocchio(class=rock)"]);
}

/// In training a document belongs to the first of its classes only. The feature of a class that is
/// the first one nowhere would be a column of missing values.
#[test]
fn a_class_that_is_first_nowhere_is_refused() {
    let documents = (0..20).map(|n| {
        let genres = [["jazz", "live"], ["rock", "live"]][n % 2].map(str::to_owned);
        Document::new(n.to_string()).with("text", "a jazz trio").with("genre", genres.to_vec())
    });
    let schema = Schema::parse("genre:category").unwrap();
    let options = BuildOptions::new().schema(schema);
    let index = Arc::new(Index::in_memory_with(documents.map(Ok), &options).unwrap().0);
    let set = FeatureSet::parse("knn(class=*)").unwrap().expand(&index).unwrap();
    assert_eq!(set.features, ["knn(class=jazz)", "knn(class=rock)"]);
    for feature in ["knn(class=live)", "rocchio(class=live)"] {
        let error = Extractor::new(index.clone(), &FeatureSet::parse(feature).unwrap());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("the first one of at least one document"), "{error}");
    }
}

#[test]
fn a_number_that_is_not_finite_is_refused() {
    let document = Document::new("1").with("text", "a").with("price", f64::NAN);
    let error = Index::in_memory([document]).unwrap_err();
    let expected = "document `1`: the number in the field `price` is NaN, which is not finite";
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, SearchError::BadDocument { .. }));
}

#[test]
fn a_bad_value_among_many_is_absent_and_named_and_does_not_change_the_kind_of_the_field() {
    let document = |number: usize| {
        let price = if number == 700 { "on request".to_owned() } else { number.to_string() };
        let day = if number == 9 { "soon" } else { "2024-05-31" };
        Document::new(number.to_string())
            .with("text", "record")
            .with("price", price.as_str())
            .with("day", day)
    };
    let documents = (0..2000).map(|number| Ok(document(number)));
    let (index, report) = Index::in_memory_with(documents, &BuildOptions::new()).unwrap();
    assert_eq!(index.schema().to_string(), "text:text, price:number, day:date");
    assert_eq!(report.not_of_kind, 2);
    let said: Vec<String> = report.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "field `day`: 1 value that is no date counted as absent, such as 'soon'",
            "field `price`: 1 value that is no number counted as absent, such as 'on request'",
        ]
    );
    let absent = Filter::new(&index, "NOT price:*").unwrap();
    assert_eq!(index.filtered_ids(&absent).unwrap(), ["700"]);
}
