//! A small web of sites: synthetic pages with addresses and links, and queries for homepages.
//!
//! Everything in it is invented. A site has a name of two words, a homepage and inner pages. All of
//! its pages have the name in their text, pages of other sites mention it too, and titles and texts
//! of homepages are drawn like those of inner pages, so that the text alone finds many pages that
//! fit as well. What tells a homepage is its address (a path of depth 0) and the number of pages
//! that link to it: most links, inside of the site and from elsewhere, lead to the homepage. A
//! query is the name of a site, and in one of three queries also a word of its subject; the only
//! relevant page is the homepage.
//!
//! Only basic arithmetic is used, and each kind of draw has its own stream of random numbers, so
//! that the result depends on the options only. The constants are chosen by hand and have no other
//! meaning.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use rankwright_spec::{check_params, params};

use crate::error::DataError;
use crate::lists::{ListFormat, Qrels, QueryLists};
use crate::random::{DEFAULT_SEED, Random};
use crate::store::write_atomic;

/// Number of words that names are made of.
const NAME_WORDS: usize = 400;
/// Number of subjects.
const SUBJECTS: usize = 20;
/// Number of words of a subject.
const SUBJECT_WORDS: usize = 60;
/// Ends of domains.
const ENDS: [&str; 6] = ["com", "org", "net", "de", "co.uk", "edu"];

params! {
    /// Parameters of a generated web of homepages.
    pub struct HomepagesOptions {
        sites: usize = 200, 1..=10_000, "Number of sites.";
        pages: usize = 20, 1..=50, "Mean number of inner pages of a site.";
        queries: usize = 150, 1..=10_000, "Number of queries, each for the homepage of a site.";
        seed: u64 = DEFAULT_SEED, .., "Seed of all draws.";
    }
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebPage {
    /// The id, `p000001` and so on.
    pub id: String,
    /// The title.
    pub title: String,
    /// The text.
    pub text: String,
    /// The address.
    pub url: String,
    /// Ids of the pages that the page links to, in the order of their numbers.
    pub links: Vec<String>,
}

/// A query for the homepage of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebQuery {
    /// The id, `q0001` and so on.
    pub id: String,
    /// The text of the query.
    pub text: String,
}

/// A generated web of homepages.
#[derive(Debug, PartialEq)]
pub struct Homepages {
    /// The pages; the homepage of a site comes before its inner pages.
    pub pages: Vec<WebPage>,
    /// The queries.
    pub queries: Vec<WebQuery>,
    /// The relevant page of each query, with grade 1.
    pub qrels: Qrels,
}

/// A site; its pages are numbered from `home` on.
struct Site {
    name: [String; 2],
    domain: String,
    subject: usize,
    /// The number of the homepage.
    home: usize,
    /// The number of inner pages.
    inner: usize,
}

impl HomepagesOptions {
    /// Generates the pages, queries and judgements.
    ///
    /// ```
    /// use rankwright_data::generate::HomepagesOptions;
    /// let web = HomepagesOptions::default().sites(20).queries(5).generate()?;
    /// assert_eq!(web.queries.len(), 5);
    /// assert!(web.pages[0].url.ends_with('/'));
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn generate(&self) -> Result<Homepages, DataError> {
        check_params(self, "homepages")?;
        let words = draw_words(&mut Random::new(self.seed, 1));
        let sites = self.draw_sites(&words);
        let mut pages = Vec::new();
        for (number, site) in sites.iter().enumerate() {
            let mut random = Random::new(self.seed, 3 << 32 | number as u64);
            pages.push(homepage(site, &words, &mut random));
            for inner in 0..site.inner {
                pages.push(inner_page(&sites, site, inner, &words, &mut random));
            }
        }
        let (queries, qrels) = self.draw_queries(&sites, &words, &pages)?;
        Ok(Homepages { pages, queries, qrels })
    }

    /// The sites, each with a name of its own.
    fn draw_sites(&self, words: &[String]) -> Vec<Site> {
        let mut random = Random::new(self.seed, 2);
        let (mut names, mut sites, mut home) = (HashSet::new(), Vec::new(), 0);
        for _ in 0..self.sites {
            let (a, b) = loop {
                let (a, b) = (random.below(NAME_WORDS), random.below(NAME_WORDS));
                if a != b && names.insert((a.min(b), a.max(b))) {
                    break (a, b);
                }
            };
            let name = [words[a].clone(), words[b].clone()];
            let domain = format!("{}{}.{}", name[0], name[1], ENDS[random.below(ENDS.len())]);
            let inner = 1 + random.below(2 * self.pages - 1);
            sites.push(Site { name, domain, subject: random.below(SUBJECTS), home, inner });
            home += 1 + inner;
        }
        sites
    }

    /// Queries for different sites, or for some sites several times if there are more queries.
    fn draw_queries(
        &self,
        sites: &[Site],
        words: &[String],
        pages: &[WebPage],
    ) -> Result<(Vec<WebQuery>, Qrels), DataError> {
        let mut random = Random::new(self.seed, 4);
        let mut order: Vec<usize> = (0..sites.len()).collect();
        random.shuffle(&mut order);
        let (mut queries, mut rows) = (Vec::new(), Vec::new());
        for (number, &site) in (0..self.queries).zip(order.iter().cycle()) {
            let site = &sites[site];
            let mut text = site.name.join(" ");
            if random.below(3) == 0 {
                text = format!("{text} {}", subject_word(site, words, &mut random));
            }
            queries.push(WebQuery { id: format!("q{:04}", number + 1), text });
            rows.push((number, site.home));
        }
        let rows = rows.iter().map(|&(query, page)| (&*queries[query].id, &*pages[page].id, 1.0));
        let lists = QueryLists::from_rows("the web of homepages", rows)?;
        Ok((queries, Qrels::from_lists(lists)))
    }
}

impl Homepages {
    /// Writes `documents.jsonl`, `queries.jsonl` and `qrels.txt` (TREC columns) into an existing
    /// folder, each of them atomically.
    pub fn write(&self, folder: impl AsRef<Path>) -> Result<(), DataError> {
        let folder = folder.as_ref();
        write_atomic(folder.join("documents.jsonl"), |out| {
            self.pages.iter().try_for_each(|page| write_page(out, page))
        })?;
        write_atomic(folder.join("queries.jsonl"), |out| {
            self.queries.iter().try_for_each(|query| {
                writeln!(out, "{{\"id\":\"{}\",\"text\":\"{}\"}}", query.id, query.text)
            })
        })?;
        self.qrels.save(folder.join("qrels.txt"), ListFormat::Trec)
    }
}

/// Writes a page as a JSON line. All texts are made of letters, digits and `:/.-`, so that nothing
/// is escaped.
fn write_page(out: &mut dyn Write, page: &WebPage) -> io::Result<()> {
    let WebPage { id, title, text, url, links } = page;
    write!(out, "{{\"id\":\"{id}\",\"title\":\"{title}\",\"text\":\"{text}\",\"url\":\"{url}\"")?;
    let links: Vec<String> = links.iter().map(|link| format!("\"{link}\"")).collect();
    writeln!(out, ",\"links\":[{}]}}", links.join(","))
}

/// All words, each once: those of names first, then those of each subject.
fn draw_words(random: &mut Random) -> Vec<String> {
    const STARTS: [&str; 14] =
        ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z"];
    const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
    let (mut words, mut seen) = (Vec::new(), HashSet::new());
    while words.len() < NAME_WORDS + SUBJECTS * SUBJECT_WORDS {
        let syllable = |random: &mut Random| {
            [STARTS[random.below(STARTS.len())], VOWELS[random.below(VOWELS.len())]].concat()
        };
        let word: String = (0..3 + random.below(2)).map(|_| syllable(random)).collect();
        if seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

/// A word of a site's subject.
fn subject_word<'w>(site: &Site, words: &'w [String], random: &mut Random) -> &'w str {
    &words[NAME_WORDS + site.subject * SUBJECT_WORDS + random.below(SUBJECT_WORDS)]
}

fn page_id(number: usize) -> String {
    format!("p{:06}", number + 1)
}

/// The ids of pages, each once, without the page itself.
fn links_of(page: usize, mut targets: Vec<usize>) -> Vec<String> {
    targets.sort_unstable();
    targets.dedup();
    targets.into_iter().filter(|target| *target != page).map(page_id).collect()
}

/// The text of a page: the name of its site at least once, and words of its subject.
fn page_text<'w>(site: &'w Site, words: &'w [String], random: &mut Random) -> Vec<&'w str> {
    let mut text: Vec<&str> = site.name.iter().map(String::as_str).collect();
    // Pages differ in the share of the name, up to one in ten draws.
    let share = random.below(3);
    for _ in 0..20 + random.below(40) {
        match random.below(20) < share {
            true => text.extend(site.name.iter().map(String::as_str)),
            false => text.push(subject_word(site, words, random)),
        }
    }
    text
}

/// The title of a page: the name of its site, a word of its subject, or both.
fn page_title(site: &Site, words: &[String], random: &mut Random) -> String {
    let (name, word) = (site.name.join(" "), subject_word(site, words, random));
    match random.below(4) {
        0 => word.to_owned(),
        1 => name,
        _ => format!("{name} {word}"),
    }
}

/// The homepage of a site, with links to inner pages.
fn homepage(site: &Site, words: &[String], random: &mut Random) -> WebPage {
    let text = page_text(site, words, random);
    let targets = (0..8.min(site.inner)).map(|_| site.home + 1 + random.below(site.inner));
    let targets: Vec<usize> = targets.collect();
    WebPage {
        id: page_id(site.home),
        title: page_title(site, words, random),
        text: text.join(" "),
        url: format!("https://www.{}/", site.domain),
        links: links_of(site.home, targets),
    }
}

/// An inner page, with mentions of other sites; `inner` is its number on the site, from 0.
fn inner_page(
    sites: &[Site],
    site: &Site,
    inner: usize,
    words: &[String],
    random: &mut Random,
) -> WebPage {
    let number = site.home + 1 + inner;
    let mut text = page_text(site, words, random);
    let mut targets = Vec::new();
    if random.below(10) < 8 {
        targets.push(site.home);
    }
    targets.extend((0..random.below(3)).map(|_| site.home + 1 + random.below(site.inner)));
    for _ in 0..random.below(3) {
        let other = mentioned(sites, random);
        text.extend(other.name.iter().map(String::as_str));
        let is_deep = random.below(10) < 2;
        targets.push(if is_deep { other.home + 1 + random.below(other.inner) } else { other.home });
    }
    let path: Vec<&str> =
        (0..1 + random.below(3)).map(|_| subject_word(site, words, random)).collect();
    WebPage {
        id: page_id(number),
        title: page_title(site, words, random),
        text: text.join(" "),
        url: format!("https://www.{}/{}-{}.html", site.domain, path.join("/"), inner + 1),
        links: links_of(number, targets),
    }
}

/// A site that a page mentions; the first ones are more likely.
fn mentioned<'s>(sites: &'s [Site], random: &mut Random) -> &'s Site {
    let u = random.unit();
    &sites[(u * u * sites.len() as f64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use xxhash_rust::xxh3::xxh3_64;

    fn web() -> Homepages {
        HomepagesOptions::default().sites(60).queries(40).seed(3).generate().unwrap()
    }

    #[test]
    fn the_bytes_depend_on_the_options_only() {
        let folder = tempfile::tempdir().unwrap();
        let written = |web: &Homepages| {
            web.write(folder.path()).unwrap();
            ["documents.jsonl", "queries.jsonl", "qrels.txt"]
                .map(|name| xxh3_64(&std::fs::read(folder.path().join(name)).unwrap()))
        };
        let first = written(&web());
        assert_eq!(first, written(&web()));
        let other = HomepagesOptions::default().sites(60).queries(40).seed(4).generate().unwrap();
        assert_ne!(first, written(&other));
        let lines = std::fs::read_to_string(folder.path().join("documents.jsonl")).unwrap();
        for (line, page) in lines.lines().zip(&other.pages) {
            let read: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                (&read["url"], &read["title"]),
                (&(*page.url).into(), &(*page.title).into())
            );
            assert_eq!(read["links"].as_array().unwrap().len(), page.links.len());
        }
    }

    #[test]
    fn addresses_and_links_tell_homepages_and_the_text_does_not() {
        let web = web();
        let page: HashMap<&str, &WebPage> =
            web.pages.iter().map(|page| (page.id.as_str(), page)).collect();
        let mut in_links: HashMap<&str, usize> = HashMap::new();
        for link in web.pages.iter().flat_map(|page| &page.links) {
            *in_links.entry(link).or_default() += 1;
        }
        let is_home =
            |page: &&WebPage| page.url.matches('/').count() == 3 && page.url.ends_with('/');
        let mean = |pages: Vec<&WebPage>| {
            let links = pages.iter().map(|page| in_links.get(page.id.as_str()).unwrap_or(&0));
            links.sum::<usize>() as f64 / pages.len() as f64
        };
        let (homes, inner): (Vec<&WebPage>, Vec<&WebPage>) = web.pages.iter().partition(is_home);
        assert_eq!(homes.len(), 60);
        assert!(mean(homes) > 4.0 * mean(inner), "most links lead to homepages");
        let mut better = 0;
        for (number, query) in web.queries.iter().enumerate() {
            let judged: Vec<_> = web.qrels.lists().list(number).collect();
            assert_eq!(judged.len(), 1);
            let home = page[std::str::from_utf8(judged[0].id).unwrap()];
            let name: Vec<&str> = query.text.split(' ').take(2).collect();
            assert!(is_home(&home) && home.url.contains(&name.concat()), "{query:?} {home:?}");
            let count = |page: &WebPage| page.text.matches(&name.join(" ")).count();
            better +=
                usize::from(web.pages.iter().filter(|page| count(page) > count(home)).count() > 2);
        }
        assert!(better > 20, "several pages have the name more often, {better} of 40 times");
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let error = HomepagesOptions::default().sites(0).generate().unwrap_err();
        assert!(error.to_string().contains("sites"), "{error}");
    }
}
