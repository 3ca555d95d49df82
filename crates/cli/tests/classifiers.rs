//! Tests of `classify` with every classifier: the lecture's points, fields and numbers, a store
//! whose genres overlap, and class scores as features.

use crate::common::Bench;

/// The points of the lecture's two worked examples.
fn lecture() -> Bench {
    let bench = Bench::new();
    let rocchio = "id,x,y,class\n1,1,0.9,chemistry\n2,0.9,1,chemistry\n3,0.2,0.3,history\n4,0.3,0.2,history\n";
    let knn = "id,x,y,class\n1,1,0.9,chemistry\n2,0.9,1,chemistry\n3,0.2,0.3,chemistry\n\
        4,0.3,0.2,chemistry\n5,1,0.3,history\n6,0.9,0.2,history\n7,0.3,1,history\n8,0.2,0.9,history\n";
    bench.put("rocchio.csv", rocchio).put("knn.csv", knn);
    bench.put("a.csv", "id,x,y\np,0.8,0.85\n").put("b.csv", "id,x,y\np,0.4,1\n");
    bench
}

/// The class and the value that a classifier decides for the only point of a file.
fn decided(bench: &Bench, train: &str, classifier: &str, point: &str) -> (String, f64) {
    let line =
        format!("classify|{train}|--label|class|--classifier|{classifier}|--apply|{point}|--out|-");
    let out = bench.run(&line).ok().out();
    let cells: Vec<&str> = out.trim().split('\t').collect();
    (cells[1].to_owned(), cells[2].parse().unwrap())
}

#[test]
fn the_lectures_points_are_classified_as_it_says() {
    let bench = lecture();
    let (class, distance) = decided(&bench, "rocchio.csv", "rocchio(distance=euclidean)", "a.csv");
    assert_eq!(class, "chemistry");
    assert!((distance - 0.1803).abs() < 5e-5, "{distance}");
    for (k, expected) in [(3, "history"), (5, "chemistry")] {
        let knn = format!("knn(k={k}, distance=euclidean)");
        assert_eq!(decided(&bench, "knn.csv", &knn, "b.csv").0, expected);
    }
    // Both centroids are (0.6, 0.6): a tie, and the first name wins.
    let (class, _) = decided(&bench, "knn.csv", "rocchio(distance=euclidean)", "b.csv");
    assert_eq!(class, "chemistry");
    for classifier in ["linear-svm(c=100)", "logistic(c=100)", "tree", "random-forest(trees=20)"] {
        assert_eq!(decided(&bench, "rocchio.csv", classifier, "a.csv").0, "chemistry");
    }
}

/// Regression: a first column of whole numbers was taken for the id of new documents, although the
/// classifier was trained on it as a number.
#[test]
fn a_field_of_the_classifier_is_never_the_id_of_new_documents() {
    let bench = Bench::new();
    bench.put("points.csv", "x,y,class\n9.5,1,A\n8,2,A\n1,1,B\n2,2,B\n");
    bench.put("new.csv", "x,y\n7,1\n");
    let (class, distance) = decided(&bench, "points.csv", "rocchio(distance=euclidean)", "new.csv");
    // The first point and the centroid (8.75, 1.5) of A.
    assert_eq!(class, "A");
    assert!((distance - (1.75_f64.powi(2) + 0.25).sqrt()).abs() < 1e-6, "{distance}");
}

/// Regression: Rocchio decided by distances, and the columns of classes had cosines.
#[test]
fn values_of_all_classes_are_those_that_decide_under_their_name() {
    let bench = lecture();
    let table = |classifier: &str| {
        let line = "classify|rocchio.csv|--label|class|--apply|a.csv|--out|-|--with-scores";
        bench.run(&format!("{line}|--classifier|{classifier}")).ok().out()
    };
    let text = table("rocchio(distance=euclidean)");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "id\tclass\tdistance\tchemistry\thistory");
    let cells: Vec<&str> = lines[1].split('\t').collect();
    let numbers: Vec<f64> = cells[2..].iter().map(|cell| cell.parse().unwrap()).collect();
    // The lecture's distances to the two centroids.
    assert_eq!((cells[1], numbers[0]), ("chemistry", numbers[1]));
    assert!((numbers[1] - 0.1803).abs() < 5e-5 && (numbers[2] - 0.8139).abs() < 5e-5, "{text}");
    for (classifier, name) in [
        ("rocchio", "distance"),
        ("knn(k=3)", "share"),
        ("random-forest(trees=5)", "share"),
        ("naive-bayes", "probability"),
        ("logistic", "probability"),
        ("linear-svm", "score"),
    ] {
        let text = table(classifier);
        assert!(text.starts_with(&format!("id\tclass\t{name}\t")), "{classifier}: {text}");
        let cells: Vec<&str> = text.lines().nth(1).unwrap().split('\t').collect();
        let place = if cells[1] == "chemistry" { 3 } else { 4 };
        assert_eq!(cells[2], cells[place], "{classifier}: {text}");
    }
}

#[test]
fn every_classifier_is_validated_on_a_store_whose_genres_overlap() {
    let bench = Bench::new();
    let store = "data generate store --records 400 --queries 2 --seed 5";
    bench.run(&format!("{store} --genre-overlap 0.5 --out mixed")).ok();
    bench.run(&format!("{store} --out apart")).ok();
    let accuracy = |store: &str, classifier: &str| {
        let line = format!(
            "classify {store}/documents.jsonl --label genre --fields title,text --classifier {classifier} --folds 3"
        );
        let found = bench.run(&format!("{line} --json")).json();
        let rows = found["confusion"].as_array().unwrap();
        let all: u64 = rows
            .iter()
            .flat_map(|row| row.as_array().unwrap())
            .filter_map(serde_json::Value::as_u64)
            .sum();
        assert_eq!((all, rows.len()), (400, 12));
        found["accuracy"].as_f64().unwrap()
    };
    for (classifier, least) in [
        ("rocchio", 0.5),
        ("knn(k=10)", 0.3),
        ("naive-bayes", 0.5),
        ("naive-bayes(model=bernoulli)", 0.12),
        ("linear-svm", 0.5),
        ("logistic(c=10)", 0.3),
        ("tree", 0.12),
        ("random-forest(trees=10)", 0.2),
    ] {
        let mixed = accuracy("mixed", classifier);
        assert!(least < mixed && mixed < 0.995, "{classifier}: {mixed}");
    }
    assert!(accuracy("apart", "naive-bayes") > accuracy("mixed", "naive-bayes"));
}

#[test]
fn the_confusion_matrix_and_the_cross_validation_are_printed() {
    let bench = lecture();
    let text =
        bench.run("classify knn.csv --label class --classifier tree --folds 4 --seed 2").ok().out();
    assert!(text.contains("tree: cross validation of 8 documents in 4 folds, seed 2"), "{text}");
    let matrix: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("true \\ decided")).collect();
    assert!(matrix[0].ends_with("history") && matrix[2].starts_with("chemistry"), "{text}");
    let counts = |line: &str| -> Vec<u64> {
        line.split_whitespace().skip(1).map(|n| n.parse().unwrap()).collect()
    };
    assert_eq!(counts(matrix[2]).iter().sum::<u64>(), 4);
}

#[test]
fn fields_choose_the_content_and_scores_are_written_on_request() {
    let bench = Bench::new();
    let lines = (0..30).map(|i| {
        let (side, size) = if i % 2 == 0 { ("left", i) } else { ("right", 1000 + i) };
        format!("{{\"id\": \"d{i}\", \"text\": \"same words everywhere\", \"size\": {size}, \"side\": \"{side}\"}}\n")
    });
    bench.put("docs.jsonl", &lines.collect::<String>());
    let accuracy = |options: &str| {
        let line = format!("classify docs.jsonl --label side --classifier tree --json {options}");
        bench.run(&line).json()["accuracy"].as_f64().unwrap()
    };
    assert!(accuracy("") < 0.8, "the text says nothing");
    assert_eq!(accuracy("--fields size"), 1.0);
    assert_eq!(accuracy("--fields text,size"), 1.0);
    let found = bench.run("classify docs.jsonl --label side --fields size --json").json();
    assert_eq!((&found["fields"][0], &found["term_weights"]), (&"size".into(), &"tfidf".into()));
    let apply = "classify docs.jsonl --label side --fields size --classifier tree --apply docs.jsonl --out o.tsv";
    bench.run(&format!("{apply} --with-scores")).ok();
    let table = bench.text("o.tsv");
    assert!(table.starts_with("id\tclass\tshare\tleft\tright\nd0\tleft\t1\t1\t0\n"), "{table}");
    assert_eq!(bench.run(&format!("{apply} --json")).json()["training_documents"], 30);
    for option in ["--folds 3", "--seed 3"] {
        assert_eq!(bench.run(&format!("{apply} {option}")).code(), 2, "{option} has no effect");
    }
    let error = bench.run("classify docs.jsonl --label side --fields colour");
    assert_eq!(error.code(), 1);
    assert!(error.err().contains("`colour` is not a field to classify by"), "{}", error.err());
    bench.put("negative.csv", "id,x,class\n1,-1,a\n2,1,b\n3,2,b\n4,-3,a\n");
    let error =
        bench.run("classify negative.csv --label class --folds 2 --classifier naive-bayes").err();
    assert!(error.contains("naive Bayes counts, and takes none below 0"), "{error}");
}

#[test]
fn class_scores_of_any_classifier_are_features() {
    let bench = Bench::new();
    bench.run("data generate store --records 200 --queries 4 --genre-overlap 0.3 --out shop").ok();
    bench.run("index shop/documents.jsonl --schema genre:category --out i").ok();
    let features = "bm25, class-score(field=genre, class=*, classifier=linear-svm)";
    let line = format!(
        "features|i|--queries|shop/queries.jsonl|--qrels|shop/qrels.txt|--features|{features}|--out|f.csv"
    );
    bench.run(&line).ok();
    let header = bench.text("f.csv").lines().next().unwrap().to_owned();
    assert_eq!(header.matches("class-score(field=genre").count(), 12, "{header}");
    bench.run("train f.csv --learner lambdamart(trees=3) --out m.model").ok();
    bench.run("run i --queries shop/queries.jsonl --model m.model --out r.run").ok();
}
