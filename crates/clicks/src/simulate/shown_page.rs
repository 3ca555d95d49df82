//! Pages of a run or of interleaved lists that simulated users click on.

use rankwright_data::DEFAULT_SEED;
use rankwright_spec::params;

use super::SimulatedUser;
use crate::impression::{Click, Impression};
use crate::interleave::request_random;

params! {
    /// The size of a log of simulated clicks on a run or on interleaved lists.
    pub struct SimulateRunOptions {
        sessions: usize = 1, 1..=1_000_000_000,
            "Number of pages that are shown of each query of a run.";
        length: usize = 10, .., "Number of documents of a page of a run.";
        users: Option<usize> = None, 1..,
            "Number of users, among whom pages are drawn by lot; by default each page has its own.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the clicks.";
    }
}

/// A page to be shown: request, query and documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedPage {
    /// The id of the request.
    pub request: String,
    /// The id of the query.
    pub query: String,
    /// The ids of the documents, the first one on top.
    pub documents: Vec<String>,
}

/// Start of the first page, in seconds since 1970: the first day of 2026.
const START: f64 = 1_767_225_600.0;

impl SimulatedPage {
    /// The page with the clicks on it: it is the page `number` of the log, from 0, and shown in a
    /// session, from 1. Pages are a minute apart, clicks five seconds.
    pub fn show(
        &self,
        number: u64,
        session: usize,
        user: &SimulatedUser,
        options: &SimulateRunOptions,
        grade: impl Fn(&str) -> f64,
    ) -> Impression {
        let id = match options.sessions {
            1 => self.request.clone(),
            _ => format!("{}#{session}", self.request),
        };
        let grades: Vec<f64> = self.documents.iter().map(|id| grade(id)).collect();
        let mut random = request_random(options.seed, "clicks", &id);
        let clicked = user.clicks(&grades, &mut random);
        let mut shown = Impression::new(self.query.as_str(), &self.documents);
        shown.id = id;
        shown.user = match options.users {
            Some(users) => format!("u{}", random.below(users) + 1),
            None => format!("u{}", number + 1),
        };
        let mut time = START + number as f64 * 60.0;
        shown.time = Some(time);
        for (index, _) in clicked.iter().enumerate().filter(|(_, clicked)| **clicked) {
            time += 5.0;
            shown.clicks.push(Click { index, time: Some(time) });
        }
        shown
    }
}

/// The clicks of users on pages: in each session one impression of every page. `grade` is that of
/// a document of a query.
pub fn shown_pages<'a>(
    pages: &'a [SimulatedPage],
    sessions: usize,
    user: &'a SimulatedUser,
    options: &'a SimulateRunOptions,
    grade: impl Fn(&str, &str) -> f64 + 'a,
) -> impl Iterator<Item = Impression> + 'a {
    let shown = (1..=sessions).flat_map(|session| pages.iter().map(move |page| (session, page)));
    (0..).zip(shown).map(move |(number, (session, page))| {
        page.show(number, session, user, options, |id| grade(&page.query, id))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_time_its_user_and_the_same_clicks_again() {
        let page = SimulatedPage {
            request: "r".into(),
            query: "q".into(),
            documents: ["a", "b", "c"].map(String::from).to_vec(),
        };
        let user = SimulatedUser::parse("pbm(max=1)").unwrap();
        let options = SimulateRunOptions::default().sessions(2_usize);
        let show = |number| page.show(number, 2, &user, &options, |id| f64::from(id == "a"));
        let shown = show(3);
        assert_eq!((shown.id.as_str(), shown.user.as_str()), ("r#2", "u4"));
        assert_eq!(shown.time, Some(START + 180.0));
        assert_eq!(show(3), shown);
    }
}
