//! `judge check`: the consistency of judgements.

use std::path::PathBuf;

use rankwright::clicks::judge::{JudgeAgreement, JudgeCheck, JudgementCheck};
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::spec::words::counted;
use rankwright::tasks::{JudgeCheckRequest, judge_check};

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Check judgements: whether a judge changes its mind when the documents change places, prefers the
/// first place, goes round in circles, and agrees with other judges and with grades.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Judgements of `judge read`, or lines such as `q1 d3 > d7` and perhaps the judge
    #[arg(value_name = "JUDGEMENTS", required = true)]
    judgements: Vec<PathBuf>,
    /// Graded relevance to compare the judges with
    #[arg(long, value_name = "QRELS")]
    qrels: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let mut request = JudgeCheckRequest::new(&args.judgements);
    request.qrels = args.qrels.as_ref().map(Into::into);
    let result = run_task(out, |context| judge_check(&request, context))?;
    out.show(&result, |result| text(&result.check))
}

fn text(check: &JudgementCheck) -> String {
    let mut tables = vec![judges(check).to_text(), triples(check)];
    if !check.agreements.is_empty() {
        tables.push(agreements("judges", &check.agreements).to_text());
    }
    if !check.with_grades.is_empty() {
        tables.push(agreements("judge and grades", &check.with_grades).to_text());
    }
    tables.join("\n")
}

fn judges(check: &JudgementCheck) -> Table {
    let columns =
        ["judgements", "ties", "in both orders", "flips", "wavers", "first place wins", "p"];
    let columns = columns.map(|name| (name, Align::Right));
    let mut table = Table::new(std::iter::once(("judge", Align::Left)).chain(columns));
    let mut row = |name: &str, judge: &JudgeCheck| {
        let cells = [
            name.to_owned(),
            judge.comparisons.to_string(),
            judge.ties.to_string(),
            judge.both_orders.to_string(),
            judge.flips.to_string(),
            judge.wavers.to_string(),
            share(judge.first_share),
            judge.first_p.map_or("-".to_owned(), |p| format!("{p:.4}")),
        ];
        table.rows.push(cells.map(Cell::new).to_vec());
    };
    for judge in &check.judges {
        row(if judge.judge.is_empty() { "(no name)" } else { &judge.judge }, judge);
    }
    row("all", &check.all);
    table.notes.push(
        "flip: the other document wins in the other order; waver: a winner in one order only; p: exact \
         sign test that the first place is not preferred"
            .to_owned(),
    );
    table
}

fn triples(check: &JudgementCheck) -> String {
    format!(
        "{} of {}; cycles (A > B > C > A): {} of {}\n",
        counted(check.pairs, "pair"),
        counted(check.queries, "query"),
        check.cycles,
        counted(check.triples, "triple")
    )
}

fn agreements(name: &str, agreements: &[JudgeAgreement]) -> Table {
    let columns = ["pairs", "agreement", "kappa", "without ties", "same winner"];
    let columns = columns.map(|name| (name, Align::Right));
    let mut table = Table::new(std::iter::once((name, Align::Left)).chain(columns));
    for agreement in agreements {
        let named =
            |name: &str| if name.is_empty() { "(no name)".to_owned() } else { name.to_owned() };
        let name = match agreement.second.as_str() {
            "" => named(&agreement.first),
            second => format!("{}, {second}", named(&agreement.first)),
        };
        let cells = [
            name,
            agreement.pairs.to_string(),
            share(agreement.agreement),
            agreement.kappa.map_or("-".to_owned(), |kappa| format!("{kappa:.3}")),
            agreement.decided.to_string(),
            share(agreement.decided_agreement),
        ];
        table.rows.push(cells.map(Cell::new).to_vec());
    }
    table
}

fn share(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}
