//! Clicks as numbers of documents, of queries, or of both together: features of rankers.
//!
//! ```text
//! impressions   pages that showed the document
//! clicks        all clicks on it
//! rate          impressions with a click / impressions
//! dwell         mean seconds until the next click on the same page, over the clicks that have one
//! ```
//!
//! A query is counted by its pages and all clicks on them. A document that a page shows twice is
//! counted twice. Click rates are those of the ranks at which a document was shown, so that they
//! favour documents that were shown on top.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use foldhash::fast::FixedState;
use rankwright_spec::visible::one_line;
use rankwright_spec::{choices, params};
use serde::{Serialize, Serializer};

use crate::impression::Impression;
use crate::pages::NameTable;

choices! {
    /// The things whose clicks are counted.
    pub enum CountedUnit {
        /// Each document of each query.
        QueryDocument = "query-document",
        /// Each document.
        Document = "document",
        /// Each query.
        Query = "query",
    }
}

choices! {
    /// One of the numbers of a count.
    pub enum CountedValue {
        /// Number of clicks.
        Clicks = "clicks",
        /// Number of impressions.
        Impressions = "impressions",
        /// Share of the impressions with a click.
        Rate = "rate",
        /// Mean seconds until the next click.
        Dwell = "dwell",
    }
}

choices! {
    /// A format of tables of counts.
    pub enum CountsFormat {
        /// A table with columns separated by commas.
        Csv = "csv",
        /// A table with columns separated by tabs.
        Tsv = "tsv",
        /// One JSON object per line.
        JsonLines = "jsonl",
    }
}

impl CountsFormat {
    /// The format of a table by the name of its file: TSV for `.tsv`, JSON lines for `.jsonl` and
    /// `.ndjson`, otherwise CSV. A final `.gz` or `.zst` is skipped.
    ///
    /// ```
    /// use rankwright_clicks::CountsFormat;
    ///
    /// assert_eq!(CountsFormat::from_path("counts.tsv.gz"), CountsFormat::Tsv);
    /// assert_eq!(CountsFormat::from_path("counts"), CountsFormat::Csv);
    /// ```
    pub fn from_path(path: impl AsRef<Path>) -> Self {
        let name = path.as_ref().file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(name);
        match stem.rsplit_once('.') {
            Some((_, "tsv")) => Self::Tsv,
            Some((_, "jsonl" | "ndjson")) => Self::JsonLines,
            _ => Self::Csv,
        }
    }
}

params! {
    /// Options of counting clicks.
    #[derive(Copy, Eq)]
    pub struct CountOptions {
        min_count: u64 = 1, 1.., "Number of impressions that a thing must have to be counted.";
    }
}

/// The clicks on a document, or for a query.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ClickCount {
    /// The query; empty if documents are counted.
    pub query: String,
    /// The document; empty if queries are counted.
    pub document: String,
    /// Number of impressions.
    pub impressions: u64,
    /// Number of impressions with a click.
    pub clicked: u64,
    /// Number of clicks.
    pub clicks: u64,
    /// Mean seconds until the next click on the page; `None` if no click has such a time.
    pub dwell: Option<f64>,
}

impl ClickCount {
    /// Share of the impressions with a click.
    pub fn rate(&self) -> f64 {
        self.clicked as f64 / self.impressions as f64
    }

    /// One of the numbers; `None` if it is not known.
    pub fn value(&self, value: CountedValue) -> Option<f64> {
        match value {
            CountedValue::Clicks => Some(self.clicks as f64),
            CountedValue::Impressions => Some(self.impressions as f64),
            CountedValue::Rate => Some(self.rate()),
            CountedValue::Dwell => self.dwell,
        }
    }
}

/// Counts the clicks of impressions one after another.
///
/// ```
/// use rankwright_clicks::{ClickCountsBuilder, CountedUnit, Impression};
///
/// let mut counts = ClickCountsBuilder::new(CountedUnit::Document);
/// counts.add(&Impression::new("q", ["a", "b"]).clicked([2]));
/// counts.add(&Impression::new("r", ["b"]));
/// let counts = counts.finish();
/// assert_eq!((counts[1].document.as_str(), counts[1].impressions, counts[1].rate()), ("b", 2, 0.5));
/// ```
#[derive(Debug)]
pub struct ClickCountsBuilder {
    unit: CountedUnit,
    queries: NameTable,
    documents: NameTable,
    /// The place of each query and document among the counts.
    places: HashMap<(u32, u32), usize, FixedState>,
    counts: Vec<UnitCount>,
}

/// The counts of a query, a document or both, with their numbers.
#[derive(Debug, Default)]
struct UnitCount {
    query: u32,
    document: u32,
    impressions: u64,
    clicked: u64,
    clicks: u64,
    /// Sum and number of the times until the next click.
    dwell: (f64, u64),
}

impl ClickCountsBuilder {
    /// Counts the clicks on these things.
    pub fn new(unit: CountedUnit) -> Self {
        let (queries, documents) = (NameTable::default(), NameTable::default());
        Self { unit, queries, documents, places: HashMap::default(), counts: Vec::new() }
    }

    /// Adds an impression. One without documents is left out.
    pub fn add(&mut self, impression: &Impression) {
        if impression.documents.is_empty() {
            return;
        }
        let count = impression.count;
        let query = match self.unit {
            CountedUnit::Document => 0,
            _ => self.queries.number(&impression.query),
        };
        let mut places = Vec::new();
        match self.unit {
            CountedUnit::Query => places.push(self.place(query, 0)),
            _ => {
                for document in &impression.documents {
                    let document = self.documents.number(document);
                    places.push(self.place(query, document));
                }
            }
        }
        for place in &places {
            self.counts[*place].impressions += count;
        }
        let mut clicked = vec![false; places.len()];
        for (click, dwell) in impression.clicks.iter().zip(impression.dwell_times()) {
            let index = if self.unit == CountedUnit::Query { 0 } else { click.index };
            let Some(place) = places.get(index) else { continue };
            let unit = &mut self.counts[*place];
            unit.clicks += count;
            unit.clicked += if std::mem::replace(&mut clicked[index], true) { 0 } else { count };
            if let Some(seconds) = dwell {
                unit.dwell.0 += seconds * count as f64;
                unit.dwell.1 += count;
            }
        }
    }

    fn place(&mut self, query: u32, document: u32) -> usize {
        let next = self.counts.len();
        let place = *self.places.entry((query, document)).or_insert(next);
        if place == next {
            self.counts.push(UnitCount { query, document, ..UnitCount::default() });
        }
        place
    }

    /// The counts, in the order of their first impression.
    pub fn finish(self) -> Vec<ClickCount> {
        let (queries, documents) = (self.queries.into_names(), self.documents.into_names());
        let name =
            |names: &[String], number: u32| names.get(number as usize).cloned().unwrap_or_default();
        let named = |unit: UnitCount| ClickCount {
            query: name(&queries, unit.query),
            document: name(&documents, unit.document),
            impressions: unit.impressions,
            clicked: unit.clicked,
            clicks: unit.clicks,
            dwell: (unit.dwell.1 > 0).then(|| unit.dwell.0 / unit.dwell.1 as f64),
        };
        self.counts.into_iter().map(named).collect()
    }
}

impl CountedUnit {
    /// Names of the columns that name a thing: those that readers of queries, of documents and of
    /// feature data know.
    fn columns(self) -> &'static [&'static str] {
        match self {
            CountedUnit::QueryDocument => &["qid", "docid"],
            CountedUnit::Document => &["id"],
            CountedUnit::Query => &["qid", "text"],
        }
    }

    /// The names of a thing, one for each of the columns. A query is its own id.
    fn names(self, count: &ClickCount) -> Vec<&str> {
        match self {
            CountedUnit::QueryDocument => vec![&count.query, &count.document],
            CountedUnit::Document => vec![&count.document],
            CountedUnit::Query => vec![&count.query, &count.query],
        }
    }
}

#[derive(Serialize)]
struct CountLine<'a> {
    #[serde(flatten)]
    names: std::collections::BTreeMap<&'static str, &'a str>,
    impressions: u64,
    clicks: u64,
    rate: f64,
    dwell: Option<f64>,
}

impl<'a> CountLine<'a> {
    fn new(count: &'a ClickCount, unit: CountedUnit) -> Self {
        let names = unit.columns().iter().copied().zip(unit.names(count)).collect();
        let (impressions, clicks) = (count.impressions, count.clicks);
        CountLine { names, impressions, clicks, rate: count.rate(), dwell: count.dwell }
    }
}

/// The counts of things of one kind. Serialised as a list of the lines of a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CountTable {
    /// The kind of things.
    pub unit: CountedUnit,
    /// The counts, in the order of their first impression.
    pub counts: Vec<ClickCount>,
}

impl CountTable {
    /// The counts of these things.
    pub fn new(unit: CountedUnit, counts: Vec<ClickCount>) -> Self {
        Self { unit, counts }
    }

    /// One number of each document of each query, the largest first; equal ones keep the order of
    /// the log. Documents without the number are left out.
    pub fn values(&self, value: CountedValue) -> Vec<(&str, &str, f64)> {
        let number = |count: &'_ ClickCount| count.value(value);
        let numbers = self.counts.iter().filter_map(|count| {
            Some((count.query.as_str(), count.document.as_str(), number(count)?))
        });
        let mut numbers: Vec<(&str, &str, f64)> = numbers.collect();
        numbers.sort_by(|one, other| other.2.total_cmp(&one.2));
        numbers
    }

    /// Writes the counts as a table. An unknown time is an empty cell, or `null`.
    pub fn write(&self, format: CountsFormat, out: &mut dyn Write) -> io::Result<()> {
        write_counts(&self.counts, self.unit, format, out)
    }
}

impl Serialize for CountTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.counts.iter().map(|count| CountLine::new(count, self.unit)))
    }
}

/// Writes counts of these things as a table. An unknown time is an empty cell, or `null`.
pub fn write_counts(
    counts: &[ClickCount],
    unit: CountedUnit,
    format: CountsFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let delimiter = match format {
        CountsFormat::Csv => b',',
        CountsFormat::Tsv => b'\t',
        CountsFormat::JsonLines => {
            for count in counts {
                serde_json::to_writer(&mut *out, &CountLine::new(count, unit))?;
                out.write_all(b"\n")?;
            }
            return Ok(());
        }
    };
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    let values = ["impressions", "clicks", "rate", "dwell"];
    writer.write_record(unit.columns().iter().chain(&values))?;
    for count in counts {
        let names = unit.names(count).into_iter().map(|name| one_line(name).into_owned());
        let dwell = count.dwell.map(|seconds| seconds.to_string()).unwrap_or_default();
        let values = [
            count.impressions.to_string(),
            count.clicks.to_string(),
            count.rate().to_string(),
            dwell,
        ];
        writer.write_record(names.chain(values))?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impression::Click;

    fn log() -> Vec<Impression> {
        let mut page = Impression::new("red shoe", ["a", "b"]);
        page.clicks = [(1, 10.0), (0, 40.0), (1, 50.0)]
            .map(|(index, time)| Click { index, time: Some(time) })
            .to_vec();
        let mut counted = Impression::new("red shoe", ["b", "c"]).clicked([1]);
        counted.count = 3;
        vec![page, counted, Impression::new("hat", ["b"])]
    }

    fn table(unit: CountedUnit, format: CountsFormat) -> String {
        let mut counts = ClickCountsBuilder::new(unit);
        log().iter().for_each(|page| counts.add(page));
        let mut out = Vec::new();
        write_counts(&counts.finish(), unit, format, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Worked out by hand: `b` is clicked at 10 s for 30 s, and at 50 s without an end.
    #[test]
    fn clicks_are_counted_for_documents_and_queries() {
        assert_eq!(
            table(CountedUnit::QueryDocument, CountsFormat::Csv),
            "qid,docid,impressions,clicks,rate,dwell\nred shoe,a,1,1,1,10\nred shoe,b,4,5,1,30\n\
             red shoe,c,3,0,0,\nhat,b,1,0,0,\n"
        );
        assert_eq!(
            table(CountedUnit::Document, CountsFormat::Tsv),
            "id\timpressions\tclicks\trate\tdwell\na\t1\t1\t1\t10\nb\t5\t5\t0.8\t30\nc\t3\t0\t0\t\n"
        );
        assert_eq!(
            table(CountedUnit::Query, CountsFormat::JsonLines),
            "{\"qid\":\"red shoe\",\"text\":\"red shoe\",\"impressions\":4,\"clicks\":6,\"rate\":1.0,\
             \"dwell\":20.0}\n{\"qid\":\"hat\",\"text\":\"hat\",\"impressions\":1,\"clicks\":0,\
             \"rate\":0.0,\"dwell\":null}\n"
        );
    }
}
