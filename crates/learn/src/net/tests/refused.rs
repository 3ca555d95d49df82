//! Specs and data that nets reject, and the error messages.

use super::*;
use crate::learner::LearnerSpec;
use crate::session::TrainRequest;

#[test]
fn errors_of_wrong_parameters_say_what_is_allowed() {
    for (text, expected) in [
        ("ranknet(layers=64/0)", "outputs of up to 32 layers"),
        ("ranknet(layers=)", "layers"),
        ("ranknet(layers=99999)", "16384"),
        ("ranknet(activation=sigmoid)", "relu | gelu | tanh"),
        ("ranknet(dropout=1)", "0 to 0.9"),
        ("ranknet(dropout=-0.1)", "0 to 0.9"),
        ("ranknet(norm=group)", "none | layer | batch"),
        ("ranknet(noise=-1)", "from 0"),
        ("ranknet(optimiser=lbfgs)", "adamw | adam | sgd"),
        ("ranknet(rate=0)", "above 0"),
        ("ranknet(rate=nan)", "above 0"),
        ("ranknet(decay=-1)", "from 0"),
        ("ranknet(schedule=linear)", "cosine | constant | step"),
        ("ranknet(epochs=10, warmup=11)", "warmup is above 10"),
        ("ranknet(batch=0)", "from 1 on"),
        ("ranknet(epochs=0)", "from 1 on"),
        ("ranknet(stop=-1)", "from 0 on"),
        ("ranknet(momentum=0.5)", "optimiser=sgd"),
        ("ranknet(drop=0.5)", "schedule=step"),
        ("ranknet(schedule=step, drop=0)", "above 0"),
        ("ranknet(layers=0, dropout=0.5)", "layers other than 0"),
        ("ranknet(layers=0, norm=layer)", "layers other than 0"),
        ("ranknet(layers=0, activation=tanh)", "layers other than 0"),
        ("ranknet(sigma=0)", "`ranknet`: sigma=0"),
        ("ranknet(factored=false, truncation=5)", "cannot be used with factored=false"),
        ("ranknet(factored=false, norm_query=true)", "cannot be used with factored=false"),
        ("ranknet(factored=false, norm=batch)", "cannot be used with factored=false"),
        ("ranknet(factored=maybe)", "true | false"),
        ("ranknet(update=pair, truncation=5)", "cannot be used with update=pair"),
        ("ranknet(update=pair, norm=batch)", "cannot be used with update=pair"),
        ("ranknet(update=pair, batch=7)", "cannot be used with update=pair"),
        ("ranknet(update=pair, factored=false)", "update=query"),
        ("ranknet(update=triple)", "query | pair"),
        ("lambdarank(metric=kendall)", "change under swaps"),
        ("lambdarank(ties=half)", "no parameter `ties`"),
        ("listnet(sigma=1)", "no parameter `sigma`"),
        ("listmle(top=0)", "from 1 on"),
        ("softmax(target=softmax)", "gain | label | noisy-gain"),
        ("approxndcg(temperature=0)", "0.000001"),
        ("approxndcg(transform=gauss, clip=3)", "clip"),
    ] {
        let found = LearnerSpec::parse(text).unwrap_err().to_string();
        assert!(found.contains(expected), "{text}: {found}");
    }
}

/// The message with which a training fails.
fn refusal(text: &str, data: &Dataset) -> String {
    LearnerSpec::parse(text).unwrap().train(TrainRequest::new(data)).unwrap_err().to_string()
}

#[test]
fn data_with_nothing_to_learn_from_is_refused() {
    let equal_labels = labelled_data(&[3, 2], 1, vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![1.0; 5]);
    let single_documents = labelled_data(&[1, 1], 1, vec![1.0, 2.0], vec![0.0, 1.0]);
    for name in nets() {
        for data in [&equal_labels, &single_documents] {
            let error = refusal(&format!("{name}(epochs=1)"), data);
            assert!(error.contains("no query has two documents with different labels"), "{error}");
        }
    }
    let equal_pair = with_pairs(equal_labels.clone(), "0 0 = 1\n");
    assert!(refusal("ranknet(epochs=1)", &equal_pair).contains("are ties"));
    let pairs = with_pairs(equal_labels, "0 0 > 1\n");
    assert!(
        LearnerSpec::parse("ranknet(epochs=1)").unwrap().train(TrainRequest::new(&pairs)).is_ok()
    );
    // Lambdas of a metric need labels that differ.
    assert!(refusal("lambdarank(epochs=1)", &pairs).contains("need labels"));
    assert!(refusal("listnet(epochs=1)", &pairs).contains("preference pairs"));
}

#[test]
fn diverging_scores_are_an_error() {
    let data = data(&[20, 20], 3, 1);
    let error = refusal("listmle(layers=8, optimiser=sgd, rate=1000000, epochs=50)", &data);
    assert!(error.contains("no longer finite"), "{error}");
}

#[test]
fn huge_feature_values_train_or_give_an_error() {
    let values = (0..20).map(|n| if n % 2 == 0 { 3e38 } else { -3e38 }).collect();
    let data = labelled_data(&[20], 1, values, (0..20).map(|n| f64::from(n % 3)).collect());
    for transform in ["none", "standard", "log-standard", "rank"] {
        let spec = format!("softmax(epochs=2, transform={transform})");
        let result = LearnerSpec::parse(&spec).unwrap().train(TrainRequest::new(&data));
        // Raw values of that size may become infinite, and then the error says so.
        match result {
            Ok(_) => {}
            Err(error) => {
                assert!(transform == "none" && error.to_string().contains("finite"), "{error}")
            }
        }
    }
}

#[test]
fn columns_of_equal_labels_are_nothing_to_rank() {
    let data = Dataset::from_dense(&[0.5, 0.25], 1, [1, 0], ["a", "a"]).unwrap();
    let data = data.with_label_column("clicks", vec![1.0; 2]).unwrap();
    let found = refusal("ranknet(epochs=1, layers=0, labels=clicks:1)", &data);
    assert!(found.contains("nothing to rank"), "{found}");
}
