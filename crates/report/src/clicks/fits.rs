//! The fit of click models.

use rankwright_eval::table::{Align, Cell, Table};

use super::{ClickModelFit, rank_series};
use crate::chart::{Axis, Body, Chart};
use crate::page::{PageBlock, Section};

/// The model with the highest likelihood.
pub(super) fn best(fits: &[ClickModelFit]) -> Option<&ClickModelFit> {
    fits.iter()
        .max_by(|one, other| one.main().log_likelihood.total_cmp(&other.main().log_likelihood))
}

/// The section: perplexity by rank, and a table of all models; none without models.
pub(super) fn section(fits: &[ClickModelFit]) -> Option<Section> {
    let has_test = fits.first()?.test.is_some();
    let measured = match has_test {
        true => "another log than they were fitted to",
        false => "the log that they were fitted to, so that models of more parameters look better",
    };
    let series = |pick: fn(&ClickModelFit) -> &[f64]| {
        let line = |fit: &ClickModelFit| {
            let values: Vec<Option<f64>> = pick(fit).iter().copied().map(Some).collect();
            rank_series(&fit.model, &values, &[])
        };
        fits.iter().map(line).collect()
    };
    let chart = |id: &str, title: &str, caption: String, series| {
        PageBlock::Chart(Chart {
            id: id.to_owned(),
            title: title.to_owned(),
            caption,
            x: Axis { label: "Rank".to_owned(), ..Axis::default() },
            y: Axis {
                label: "Perplexity".to_owned(),
                limits: Some((1.0, f64::INFINITY)),
                ..Axis::default()
            },
            body: Body::Lines(series),
        })
    };
    let blocks = vec![
        chart(
            "perplexity",
            "Perplexity by rank",
            format!("1 is a perfect prediction of clicks and 2 a fair coin; on {measured}."),
            series(|fit| &fit.main().perplexity_by_rank),
        ),
        chart(
            "conditional-perplexity",
            "Perplexity by rank, given the clicks above",
            "The same for a model that knows the clicks on higher ranks of the page.".to_owned(),
            series(|fit| &fit.main().conditional_perplexity_by_rank),
        ),
        PageBlock::Table {
            id: "models".to_owned(),
            title: "Click models, the highest likelihood first".to_owned(),
            table: table(fits),
        },
    ];
    Some(Section { id: "click-models".to_owned(), title: "Click models".to_owned(), blocks })
}

fn table(fits: &[ClickModelFit]) -> Table {
    let names = ["log-likelihood", "perplexity", "conditional perplexity"];
    let columns = names.map(|name| (name, Align::Right));
    let mut table = Table::new(std::iter::once(("model", Align::Left)).chain(columns));
    let mut sorted: Vec<&ClickModelFit> = fits.iter().collect();
    sorted.sort_by(|one, other| other.main().log_likelihood.total_cmp(&one.main().log_likelihood));
    for fit in sorted {
        let main = fit.main();
        let numbers = [main.log_likelihood, main.perplexity, main.conditional_perplexity];
        let numbers = numbers.map(|number| Cell::new(format!("{number:.4}")));
        table.rows.push(std::iter::once(fit.model.as_str().into()).chain(numbers).collect());
    }
    table
}
