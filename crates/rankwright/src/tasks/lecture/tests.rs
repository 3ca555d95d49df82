use super::*;

fn all() -> LectureResult {
    lecture(&LectureRequest::new(), &Context::default()).unwrap()
}

fn steps(name: &str) -> Vec<LectureStep> {
    let request = LectureRequest::new().names([name]);
    lecture(&request, &Context::default()).unwrap().examples.remove(0).steps
}

/// The number of the step whose text starts like this.
fn number(steps: &[LectureStep], start: &str) -> f64 {
    let step = steps.iter().find(|step| step.text.starts_with(start));
    match &step.unwrap_or_else(|| panic!("no step '{start}'")).value {
        StepValue::Number(value) => *value,
        StepValue::Text(text) => panic!("'{start}' is the text {text}"),
    }
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 5e-5, "{found} instead of {expected}");
}

/// Numbers of the slides that differ from the computed ones; each has its reason.
#[test]
fn a_step_that_differs_from_its_slide_says_why() {
    let result = all();
    let steps = result.examples.iter().flat_map(|example| &example.steps);
    let different: Vec<&LectureStep> = steps.filter(|step| step.agrees == Some(false)).collect();
    let slides: Vec<&str> = different.iter().filter_map(|step| step.slide.as_deref()).collect();
    let cut_off = ["0.47", "0.69", "0.77", "2.09", "6.28"];
    let others = ["31.02", "0.94", "6.28", "0.8124", "-1.027", "0.166", "3.625 + 0.166"];
    assert_eq!(slides, [cut_off.as_slice(), &others].concat());
    assert!(different.iter().all(|step| !step.note.is_empty()));
}

#[test]
fn values_are_those_worked_out_by_hand() {
    let tree = steps("tree");
    assert_near(number(&tree, "G(v1)"), 0.12051);
    assert_near(number(&tree, "impurity L"), 0.71280);
    assert_near(number(&tree, "smallest G of all other splits on x1"), 0.17143);
    assert_near(number(&tree, "smallest G of all splits on x2"), 0.63971);
    let mart = steps("mart");
    for (start, value) in [("F0", 2.4706), ("h1, yes", -1.0261), ("h1, no", 1.1544)] {
        assert_near(number(&mart, start), value);
    }
    assert_near(number(&mart, "h2, yes"), -0.2361);
    assert_near(number(&mart, "h2, no"), 0.1653);
    for (part, value, slide) in [
        ("x1 < v1 and x2 < v2", 1.20833, "1.444 - 0.236"),
        ("x1 < v1 and x2 >= v2", 1.60972, "1.444 + 0.166"),
        ("x1 >= v1 and x2 < v2", 3.38889, "3.625 - 0.236"),
        ("x1 >= v1 and x2 >= v2", 3.79028, "3.625 + 0.166"),
    ] {
        let step = mart.iter().find(|step| step.text.ends_with(part)).unwrap();
        assert_eq!(step.slide.as_deref(), Some(slide));
        assert_near(number(&mart, &step.text), value);
    }
    assert_near(number(&steps("rocchio"), "distance to history"), 0.81394);
    let inversions = steps("inversions");
    assert_near(number(&inversions, "NDCG with ranks 1"), 0.76643);
    assert_near(number(&inversions, "NDCG with ranks 4"), 0.44131);
    assert_near(number(&steps("swap"), "labels ["), 0.0);
    assert_eq!(number(&steps("relevance"), "documents on the wrong side"), 0.0);
    let pairs = steps("pair-space");
    assert_eq!(number(&pairs, "instances on"), number(&pairs, "instances in"));
    let lambdas = steps("lambdas");
    for name in ["RankNet", "LambdaRank"] {
        assert_near(number(&lambdas, &format!("{name}: sum")), 0.0);
        assert_near(number(&lambdas, &format!("{name}: largest")), 0.0);
    }
}

#[test]
fn discounts_and_terms_of_dcg_are_those_of_the_tables() {
    let terms = steps("ndcg-exponential");
    for (start, value) in [
        ("discount of rank 1", 2_f64.log10()),
        ("discount of rank 2", 0.47712),
        ("discount of rank 3", 0.60206),
        ("discount of rank 4", 0.69897),
        ("discount of rank 5", 0.77815),
        ("scores [3, 0, 2, 1, 0]: the term of rank 1", 23.25349),
        ("scores [3, 0, 2, 1, 0]: the term of rank 2", 2.09590),
        ("scores [3, 0, 2, 1, 0]: the term of rank 4", 4.29203),
        ("best order: the term of rank 2", 6.28771),
        ("best order: the term of rank 3", 1.66096),
        ("scores [3, 2, 0, 1, 0]: the term of rank 4", 1.43068),
    ] {
        assert_near(number(&terms, start), value);
    }
}

#[test]
fn two_figures_have_fewer_inversions_and_a_lower_value() {
    let inversions = steps("inversions");
    for (ranks, pairs) in
        [("1 and 15", 13.0), ("4 and 10", 11.0), ("1 and 12", 10.0), ("3 and 8", 8.0)]
    {
        let text = format!("pairs in the wrong order: relevant at ranks {ranks}");
        assert_eq!(number(&inversions, &text), pairs);
    }
    assert_near(number(&inversions, "NDCG with ranks 1 and 12"), 0.77884);
    assert_near(number(&inversions, "NDCG with ranks 3 and 8"), 0.5);
    assert_near(number(&inversions, "ERR with ranks 1 and 12"), 0.52083);
    assert_near(number(&inversions, "ERR with ranks 3 and 8"), 0.19792);
}

/// The change of NDCG by the swap of ranks r and r + 1 is as 1/log2(r + 1) - 1/log2(r + 2).
#[test]
fn equal_errors_weigh_more_at_the_top_in_lambdarank_alone() {
    let positions = steps("positions");
    // 1 / (1 + exp(-0.1)), below 0 as in the other examples: the document is pushed up.
    assert_near(number(&positions, "RankNet: lambda of rank 3"), -0.52498);
    assert_near(number(&positions, "RankNet: the first lambda divided"), 1.0);
    let change = |rank: f64| 1.0 / (rank + 1.0).log2() - 1.0 / (rank + 2.0).log2();
    let expected = change(2.0) / change(99.0);
    let found = number(&positions, "LambdaRank: the first lambda divided");
    assert!((found / expected - 1.0).abs() < 1e-4, "{found} instead of {expected}");
    assert!(found > 400.0);
}

#[test]
fn an_unknown_example_is_refused_with_the_known_ones() {
    let request = LectureRequest::new().names(["ncdg"]);
    let error = lecture(&request, &Context::default()).unwrap_err();
    assert!(error.to_string().contains("ndcg"), "{error}");
}

#[test]
fn the_page_has_a_section_and_the_pictures_of_each_example() {
    let page = all().page();
    assert_eq!(page.sections.len(), EXAMPLES.len());
    let html = page.to_html().unwrap();
    for id in ["pair-losses", "original-space", "space-of-pairs", "tree-regions", "class-border"] {
        assert!(html.contains(&format!("id=\"{id}\"")), "{id}");
    }
    assert!(html.contains("G 0.1205, before 0.7128"));
    assert!(html.contains("plus the base of the model, 2.4706"));
}

#[test]
fn a_lecture_is_chosen_by_letter_number_or_name() {
    let names = |chosen: &[&str]| -> Vec<&str> {
        let request = LectureRequest::new().names(chosen.iter().copied());
        let result = lecture(&request, &Context::default()).unwrap();
        result.examples.iter().map(|example| example.about.name).collect()
    };
    let zhang =
        ["inversions", "rocchio", "knn", "relevance", "pair-space", "cross-entropy"].as_slice();
    for name in ["Z", "z", "001", "1", "Zhang"] {
        assert_eq!(names(&[name]), zhang, "{name}");
    }
    // Each example once, in the order of the request.
    assert_eq!(names(&["knn", "1"])[..3], ["knn", "inversions", "rocchio"]);
    assert_eq!(names(&["knn", "1"]).len(), zhang.len());
    for name in ["005", "X", "", "ndgc"] {
        let error = lecture(&LectureRequest::new().names([name]), &Context::default());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("example or lecture") && error.contains("pair-space"), "{error}");
        assert!(error.contains("W, 000"), "{error}");
    }
}

#[test]
fn every_lecture_has_examples_and_every_example_a_lecture() {
    let list = list_lectures();
    for lecture in &list.lectures {
        let is_from = |example: &LectureSummary| example.sources().any(|found| found == lecture);
        assert!(list.examples.iter().any(is_from), "{}", lecture.title);
    }
    for example in &list.examples {
        assert_eq!(example.sources().count(), example.lectures.len(), "{}", example.name);
    }
}
