//! An iteration of expectation maximisation, by enumeration of all latent variables of short pages.
//! A model is written as a generative process: the variables of a page are drawn one after the
//! other, each with the probability of a parameter. The expected trials and successes of a
//! parameter are those of all runs of the process that have the observed clicks, weighted by their
//! probabilities.

use super::*;

/// The parameter by which a variable is drawn.
#[derive(Debug, Clone, Copy)]
enum Drawn {
    /// The attraction of a document.
    Attraction(usize),
    /// The satisfaction of a document.
    Satisfaction(usize),
    /// A parameter of all pages.
    Shared(usize),
}

/// Draws the variables of a page with these documents, and returns the clicks.
type Process = fn(&[usize], &mut dyn FnMut(Drawn) -> bool) -> Vec<bool>;

fn pbm(documents: &[usize], draw: &mut dyn FnMut(Drawn) -> bool) -> Vec<bool> {
    let mut clicks = Vec::new();
    for (rank, document) in documents.iter().enumerate() {
        let is_examined = draw(Drawn::Shared(rank));
        let attracts = draw(Drawn::Attraction(*document));
        clicks.push(is_examined && attracts);
    }
    clicks
}

/// The parameters of all pages are those of (rank, last click): (1, 0), (2, 0), (2, 1), (3, 0), ...
fn ubm(documents: &[usize], draw: &mut dyn FnMut(Drawn) -> bool) -> Vec<bool> {
    let mut clicks: Vec<bool> = Vec::new();
    for (rank, document) in documents.iter().enumerate() {
        let last_click = clicks.iter().rposition(|clicked| *clicked).map_or(0, |last| last + 1);
        let ranks_above: usize = (1..=rank).sum();
        let is_examined = draw(Drawn::Shared(ranks_above + last_click));
        let attracts = draw(Drawn::Attraction(*document));
        clicks.push(is_examined && attracts);
    }
    clicks
}

fn dbn(documents: &[usize], draw: &mut dyn FnMut(Drawn) -> bool) -> Vec<bool> {
    let mut clicks = Vec::new();
    let mut is_examined = true;
    for document in documents {
        let clicked = is_examined && draw(Drawn::Attraction(*document));
        let is_satisfied = clicked && draw(Drawn::Satisfaction(*document));
        is_examined = is_examined && !is_satisfied && draw(Drawn::Shared(0));
        clicks.push(clicked);
    }
    clicks
}

fn ccm(documents: &[usize], draw: &mut dyn FnMut(Drawn) -> bool) -> Vec<bool> {
    let mut clicks = Vec::new();
    let mut is_examined = true;
    for document in documents {
        let clicked = is_examined && draw(Drawn::Attraction(*document));
        let is_relevant = clicked && draw(Drawn::Attraction(*document));
        let continuation = if clicked { 1 + usize::from(is_relevant) } else { 0 };
        is_examined = is_examined && draw(Drawn::Shared(continuation));
        clicks.push(clicked);
    }
    clicks
}

/// The values of all parameters of a model.
#[derive(Debug, Clone)]
struct ParameterValues {
    attraction: Vec<f64>,
    satisfaction: Vec<f64>,
    shared: Vec<f64>,
}

impl ParameterValues {
    fn of(fitted: &FittedClickModel, shared: &[&str]) -> Self {
        let all = fitted.parameters();
        let named = |name: &str| -> Vec<f64> {
            let found = all.iter().filter(|parameter| parameter.name == name);
            found.flat_map(|parameter| parameter.values.clone()).collect()
        };
        Self {
            attraction: named("attraction"),
            satisfaction: named("satisfaction"),
            shared: shared.iter().flat_map(|name| named(name)).collect(),
        }
    }

    fn zeros_like(other: &Self) -> Self {
        let zeros = |values: &Vec<f64>| vec![0.0; values.len()];
        Self {
            attraction: zeros(&other.attraction),
            satisfaction: zeros(&other.satisfaction),
            shared: zeros(&other.shared),
        }
    }

    fn at(&mut self, drawn: Drawn) -> &mut f64 {
        match drawn {
            Drawn::Attraction(document) => &mut self.attraction[document],
            Drawn::Satisfaction(document) => &mut self.satisfaction[document],
            Drawn::Shared(index) => &mut self.shared[index],
        }
    }

    fn all(&self) -> Vec<f64> {
        [self.attraction.as_slice(), &self.satisfaction, &self.shared].concat()
    }
}

/// One run of a process.
struct ProcessRun {
    clicks: Vec<bool>,
    /// The drawn variables with their outcomes.
    draws: Vec<(Drawn, bool)>,
}

/// All runs of a process.
fn runs(process: Process, documents: &[usize]) -> Vec<ProcessRun> {
    let mut runs = Vec::new();
    // The first outcomes of runs that are still to be visited; all later outcomes of such a run are
    // `false`.
    let mut beginnings: Vec<Vec<bool>> = vec![Vec::new()];
    while let Some(beginning) = beginnings.pop() {
        let mut draws: Vec<(Drawn, bool)> = Vec::new();
        let clicks = process(documents, &mut |drawn| {
            let outcome = beginning.get(draws.len()).copied().unwrap_or(false);
            draws.push((drawn, outcome));
            outcome
        });
        for at in beginning.len()..draws.len() {
            let same = draws[..at].iter().map(|(_, outcome)| *outcome);
            beginnings.push(same.chain([true]).collect());
        }
        runs.push(ProcessRun { clicks, draws });
    }
    runs
}

/// The estimates after an iteration that starts with these values.
fn iterated(
    process: Process,
    log: &[([usize; 3], [bool; 3])],
    start: &mut ParameterValues,
    prior: f64,
) -> Vec<f64> {
    let mut successes = ParameterValues::zeros_like(start);
    let mut trials = successes.clone();
    for (documents, clicks) in log {
        let mut possible: Vec<(ProcessRun, f64)> = Vec::new();
        for run in runs(process, documents).into_iter().filter(|c| c.clicks == clicks) {
            let mut probability = 1.0;
            for (drawn, outcome) in &run.draws {
                let value = *start.at(*drawn);
                probability *= if *outcome { value } else { 1.0 - value };
            }
            possible.push((run, probability));
        }
        let likelihood: f64 = possible.iter().map(|(_, probability)| probability).sum();
        for (run, probability) in &possible {
            for (drawn, outcome) in &run.draws {
                let weight = probability / likelihood;
                *trials.at(*drawn) += weight;
                *successes.at(*drawn) += if *outcome { weight } else { 0.0 };
            }
        }
    }
    let both = successes.all().into_iter().zip(trials.all());
    both.map(|(successes, trials)| (successes + prior) / (trials + 2.0 * prior)).collect()
}

#[test]
fn an_iteration_of_every_model_is_that_of_the_enumeration_of_its_latent_variables() {
    let mut log: Vec<([usize; 3], [bool; 3])> = Vec::new();
    for (turn, order) in [[0, 1, 2], [1, 2, 0], [2, 1, 0], [0, 2, 1]].into_iter().enumerate() {
        for bits in 0_usize..8 {
            let clicks = [0, 1, 2].map(|rank| bits >> rank & 1 == 1);
            log.extend(std::iter::repeat_n((order, clicks), (turn + 3 * bits) % 4));
        }
    }
    let page = |(order, clicks): &([usize; 3], [bool; 3])| {
        let clicked = (1..=3).zip(*clicks).filter(|(_, clicked)| *clicked).map(|(rank, _)| rank);
        Impression::new("q", order.map(|document| ["a", "b", "c"][document])).clicked(clicked)
    };
    let impressions: Vec<Impression> = log.iter().map(page).collect();
    let pages = Pages::collect(&impressions);
    let named: Vec<(&str, &str)> = pages.named_pairs().collect();
    assert_eq!(named, [("q", "a"), ("q", "b"), ("q", "c")]);
    let continuations: &[&str] =
        &["continue-after-skip", "continue-after-irrelevant", "continue-after-relevant"];
    let models: [(&str, Process, &[&str]); 4] = [
        ("pbm", pbm, &["examination"]),
        ("ubm", ubm, &["examination"]),
        ("dbn", dbn, &["continuation"]),
        ("ccm", ccm, continuations),
    ];
    for (name, process, shared) in models {
        let fitted = |iterations: u32| {
            let spec = format!("{name}(iterations={iterations}, prior=0.5)");
            ParameterValues::of(&ClickModel::parse(&spec).unwrap().fit(&pages), shared)
        };
        let expected = iterated(process, &log, &mut fitted(3), 0.5);
        let found = fitted(4).all();
        assert_eq!(found.len(), expected.len(), "{name}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-10, "{name}: {found} {expected}");
        }
        // The iterations have not converged, so that a wrong step would show.
        let before = fitted(3).all();
        let moved = before.iter().zip(&found).map(|(one, other)| (one - other).abs());
        assert!(moved.fold(0.0, f64::max) > 1e-5, "{name}");
    }
}
