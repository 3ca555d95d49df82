//! An impression: a result page that was shown to a user, with the clicks on it.

/// A result page that was shown, and the clicks on it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Impression {
    /// The id of the impression, by which events name it; empty if the log has none.
    pub id: String,
    /// The session of the user; empty if the log has none.
    pub session: String,
    /// The user, client or visitor; empty if the log has none.
    pub user: String,
    /// The query.
    pub query: String,
    /// Ids of the shown documents, the first rank first.
    pub documents: Vec<String>,
    /// The clicks, in the order of time.
    pub clicks: Vec<Click>,
    /// Time at which the page was shown, in seconds since 1970; `None` if the log has no times.
    pub time: Option<f64>,
    /// The ranker that made the page; empty if the log names none.
    pub ranker: String,
    /// The kind of device on which the page was shown; empty if the log names none.
    pub device: String,
    /// The probability with which the ranker showed each document at its rank, given the documents
    /// above it; empty if unknown. The product of all is the probability of the list.
    pub propensities: Vec<f64>,
    /// Number of impressions that this one stands for: 1, unless the log counts equal pages.
    pub count: u64,
}

impl Default for Impression {
    fn default() -> Self {
        Self {
            id: String::new(),
            session: String::new(),
            user: String::new(),
            query: String::new(),
            documents: Vec::new(),
            clicks: Vec::new(),
            time: None,
            ranker: String::new(),
            device: String::new(),
            propensities: Vec::new(),
            count: 1,
        }
    }
}

/// A click on a document of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Click {
    /// Index of the document on the page, from 0.
    pub index: usize,
    /// Time of the click, in seconds since 1970; `None` if the log has no times.
    pub time: Option<f64>,
}

impl Impression {
    /// A page of these documents, without clicks.
    pub fn new(
        query: impl Into<String>,
        documents: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let documents = documents.into_iter().map(Into::into).collect();
        Self { query: query.into(), documents, ..Self::default() }
    }

    /// Sets the clicks, on documents given by their ranks, from 1, in the order of time. Ranks that
    /// the page does not have are ignored.
    #[must_use]
    pub fn clicked(mut self, ranks: impl IntoIterator<Item = usize>) -> Self {
        let on_page = |rank: &usize| (1..=self.documents.len()).contains(rank);
        let clicks = ranks.into_iter().filter(on_page);
        self.clicks = clicks.map(|rank| Click { index: rank - 1, time: None }).collect();
        self
    }

    /// Seconds from each click to the next one on the page, in the order of the clicks: the time
    /// that the user spent on the document. `None` for the last click, and if this click or the
    /// next one has no time.
    ///
    /// ```
    /// use rankwright_clicks::{Click, Impression};
    ///
    /// let mut page = Impression::new("cat", ["a", "b"]);
    /// page.clicks = vec![
    ///     Click { index: 1, time: Some(10.0) },
    ///     Click { index: 0, time: Some(70.0) },
    /// ];
    /// assert_eq!(page.dwell_times(), [Some(60.0), None]);
    /// ```
    pub fn dwell_times(&self) -> Vec<Option<f64>> {
        let next = self.clicks.iter().skip(1).map(|click| click.time).chain([None]);
        let dwell = |(click, next): (&Click, Option<f64>)| Some((next? - click.time?).max(0.0));
        self.clicks.iter().zip(next).map(dwell).collect()
    }

    /// The value of one of the [`ATTRIBUTES`](Self::ATTRIBUTES); `None` if the page has no value,
    /// or if there is no attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let value = match name {
            "device" => &self.device,
            "ranker" => &self.ranker,
            "session" => &self.session,
            _ => return None,
        };
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// Names of the attributes by which pages can be grouped.
    pub const ATTRIBUTES: [&'static str; 3] = ["device", "ranker", "session"];

    /// Whether each document was clicked at least once, by rank.
    pub fn clicked_ranks(&self) -> Vec<bool> {
        let mut clicked = vec![false; self.documents.len()];
        for click in &self.clicks {
            if let Some(document) = clicked.get_mut(click.index) {
                *document = true;
            }
        }
        clicked
    }
}
