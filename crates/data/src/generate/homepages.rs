//! A small web of sites: synthetic pages with addresses and links, and queries for homepages.
//!
//! Everything in it is invented. A site has a name of two words, a homepage and inner pages. All of
//! its pages have the name in their text, pages and homepages of other sites mention it too, and
//! titles and texts of homepages are drawn like those of inner pages, so that the text alone finds
//! many pages that fit as well.
//!
//! Most homepages can be recognised by addresses and links, but none with certainty. Many homepages
//! have a path of depth 0; those of hosted sites are folders of another host. Some inner pages have
//! a short address too: they are the first pages of a part of the site, at a host of their own.
//! Sites differ in the share of pages that link to the homepage, and links from elsewhere often
//! lead to the most popular inner page. Four of ten homepages are hard to recognise: they have an
//! address like that of an inner page, and few links.
//!
//! A query is the name of a site, and in one of three queries also a word of its subject; the only
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
/// Endings of the names of domains.
const DOMAIN_ENDINGS: [&str; 6] = ["com", "org", "net", "de", "co.uk", "edu"];
/// Number of hosts of other sites.
const HOSTS: usize = 8;
/// Folders of a host that sites are in.
const FOLDERS: [&str; 3] = ["", "people/", "groups/members/"];
/// Of ten sites, the number that are hosted.
const HOSTED_SITES: usize = 3;
/// Of ten sites, the number whose homepage is hard to recognise.
const HARD_HOMEPAGES: usize = 4;
/// Of ten inner pages, the number that are the first of a part of the site.
const FIRST_PAGES: usize = 2;
/// Of ten links from other sites, the number that lead to the homepage.
const LINKS_TO_HOME: usize = 5;
/// The same for a homepage that is hard to recognise.
const LINKS_TO_HARD_HOME: usize = 1;

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
    /// The address of the homepage, without its last slash.
    address: String,
    /// The domain; `None` if the site is hosted.
    domain: Option<String>,
    subject: usize,
    /// The number of the homepage.
    home: usize,
    /// The number of inner pages.
    inner: usize,
    /// Whether the homepage is hard to recognise.
    is_hard: bool,
    /// Of ten inner pages, the number that link to the homepage.
    links_home: usize,
}

impl HomepagesOptions {
    /// Generates the pages, queries and judgements.
    ///
    /// ```
    /// use rankwright_data::generate::HomepagesOptions;
    /// let web = HomepagesOptions::default().sites(20).queries(5).generate()?;
    /// assert_eq!(web.queries.len(), 5);
    /// assert!(web.pages.iter().any(|page| page.url.ends_with('/')));
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn generate(&self) -> Result<Homepages, DataError> {
        check_params(self, "homepages")?;
        let words = draw_words(&mut Random::new(self.seed, 1));
        let sites = self.draw_sites(&words);
        let mut pages = Vec::new();
        for (number, site) in sites.iter().enumerate() {
            let mut random = Random::new(self.seed, 3 << 32 | number as u64);
            pages.push(homepage(&sites, site, &words, &mut random));
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
            let end = DOMAIN_ENDINGS[random.below(DOMAIN_ENDINGS.len())];
            let domain =
                (random.below(10) >= HOSTED_SITES).then(|| format!("{}.{end}", name.concat()));
            let address = match &domain {
                Some(domain) => format!("https://www.{domain}"),
                None => {
                    // Hosts have names of one word.
                    let host = &words[NAME_WORDS - 1 - random.below(HOSTS)];
                    let folder = FOLDERS[random.below(FOLDERS.len())];
                    format!("https://www.{host}.{end}/{folder}{}", name.concat())
                }
            };
            let inner = 1 + random.below(2 * self.pages - 1);
            let subject = random.below(SUBJECTS);
            let (is_hard, share) = (random.below(10) < HARD_HOMEPAGES, 1 + random.below(9));
            let links_home = if is_hard { LINKS_TO_HARD_HOME } else { share };
            sites.push(Site { name, address, domain, subject, home, inner, is_hard, links_home });
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

/// The homepage of a site, with links to inner pages and mentions of other sites.
fn homepage(sites: &[Site], site: &Site, words: &[String], random: &mut Random) -> WebPage {
    let mut text = page_text(site, words, random);
    let targets = (0..8.min(site.inner)).map(|_| site.home + 1 + random.below(site.inner));
    let mut targets: Vec<usize> = targets.collect();
    mention_others(sites, &mut text, &mut targets, random);
    WebPage {
        id: page_id(site.home),
        title: page_title(site, words, random),
        text: text.join(" "),
        url: match site.is_hard {
            true => deep_address(site, 0, words, random),
            false => format!("{}/", site.address),
        },
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
    if random.below(10) < site.links_home {
        targets.push(site.home);
    }
    targets.extend((0..random.below(3)).map(|_| site.home + 1 + random.below(site.inner)));
    mention_others(sites, &mut text, &mut targets, random);
    WebPage {
        id: page_id(number),
        title: page_title(site, words, random),
        text: text.join(" "),
        url: inner_address(site, inner, words, random),
        links: links_of(number, targets),
    }
}

/// The address of an inner page.
fn inner_address(site: &Site, inner: usize, words: &[String], random: &mut Random) -> String {
    if random.below(10) < FIRST_PAGES {
        // The number keeps addresses apart.
        let part = format!("{}{}", subject_word(site, words, random), inner + 1);
        return match &site.domain {
            Some(domain) => format!("https://{part}.{domain}/"),
            None => format!("{}/{part}/", site.address),
        };
    }
    deep_address(site, inner + 1, words, random)
}

/// An address of one to three words below that of the site; the number keeps addresses apart.
fn deep_address(site: &Site, number: usize, words: &[String], random: &mut Random) -> String {
    let path: Vec<&str> =
        (0..1 + random.below(3)).map(|_| subject_word(site, words, random)).collect();
    format!("{}/{}-{number}.html", site.address, path.join("/"))
}

/// Adds the names of up to two other sites to the text of a page, and a link to each: to its
/// homepage, to its most popular inner page, which is the first, or to any.
fn mention_others<'s>(
    sites: &'s [Site],
    text: &mut Vec<&'s str>,
    targets: &mut Vec<usize>,
    random: &mut Random,
) {
    for _ in 0..random.below(3) {
        let other = mentioned(sites, random);
        text.extend(other.name.iter().map(String::as_str));
        let to_home = if other.is_hard { LINKS_TO_HARD_HOME } else { LINKS_TO_HOME };
        targets.push(match random.below(10) {
            draw if draw < to_home => other.home,
            draw if draw % 2 == 0 => other.home + 1,
            _ => other.home + 1 + random.below(other.inner),
        });
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
    fn addresses_and_links_tell_homepages_but_not_for_certain_and_the_text_does_not() {
        let web = web();
        let home_ids: HashSet<&str> = (0..web.queries.len())
            .flat_map(|number| web.qrels.lists().list(number))
            .map(|judged| std::str::from_utf8(judged.id).unwrap())
            .collect();
        let page: HashMap<&str, &WebPage> =
            web.pages.iter().map(|page| (page.id.as_str(), page)).collect();
        let mut in_links: HashMap<&str, usize> = HashMap::new();
        for link in web.pages.iter().flat_map(|page| &page.links) {
            *in_links.entry(link).or_default() += 1;
        }
        let has_depth_0 =
            |page: &&&WebPage| page.url.matches('/').count() == 3 && page.url.ends_with('/');
        let mean = |pages: &[&WebPage]| {
            let links = pages.iter().map(|page| in_links.get(page.id.as_str()).unwrap_or(&0));
            links.sum::<usize>() as f64 / pages.len() as f64
        };
        // 40 of the 60 sites have a query.
        let is_home = |page: &&WebPage| home_ids.contains(page.id.as_str());
        let (homes, others): (Vec<&WebPage>, Vec<&WebPage>) = web.pages.iter().partition(is_home);
        assert_eq!(homes.len(), 40);
        assert!(mean(&homes) > 3.0 * mean(&others), "many links lead to homepages");
        let share = |pages: &[&WebPage]| {
            pages.iter().filter(has_depth_0).count() as f64 / pages.len() as f64
        };
        let (of_homes, of_others) = (share(&homes), share(&others));
        assert!((0.3..0.7).contains(&of_homes), "{of_homes} of the homepages have depth 0");
        assert!((0.05..0.3).contains(&of_others), "{of_others} of the other pages have depth 0");
        let addresses: HashSet<&str> = web.pages.iter().map(|page| page.url.as_str()).collect();
        assert_eq!(addresses.len(), web.pages.len(), "each page has its own address");
        let mut better = 0;
        for (number, query) in web.queries.iter().enumerate() {
            let judged: Vec<_> = web.qrels.lists().list(number).collect();
            assert_eq!(judged.len(), 1);
            let home = page[std::str::from_utf8(judged[0].id).unwrap()];
            let name: Vec<&str> = query.text.split(' ').take(2).collect();
            assert!(home.url.contains(&name.concat()), "{query:?} {home:?}");
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
