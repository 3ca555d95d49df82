//! Indicators of the site of a web address: its host, its domain or its country (Joachims 2002).
//!
//! The host is the part behind the scheme, without a user, a port or a `www`, in lower case. The
//! country is the last label of the host, which is a country (`de`) or another top-level domain
//! (`org`). The domain is the last two labels: `example.org`. If these are a country and a second
//! level that many countries have, the domain is the last three labels: `example.co.uk`. No list of
//! public suffixes is used, so other second levels count as domains. A numeric address is a host
//! and a domain without a country. A document without an address has no value, an address without a
//! host (`a/b.html`) is of no site. Of several addresses the first counts.

use std::collections::BTreeSet;
use std::sync::Arc;

use rankwright_spec::{Auto, Spec, SpecError, choices, params};

use super::Feature;
use super::column::DocumentColumn;
use super::def::FeatureDef;
use super::fields::field_or_only;
use crate::error::SearchError;
use crate::index::{FieldValues, Index};
use crate::params::read_params;
use crate::schema::FieldKind;

choices! {
    /// The part of a web address that names its site.
    pub enum SitePart {
        /// The host: `en.example.co.uk`.
        Host = "host",
        /// The domain: `example.co.uk`.
        Domain = "domain",
        /// The top-level domain: `uk`.
        Country = "country",
    }
}

params! {
    /// Parameters of the feature `site`.
    pub struct SiteParams {
        field: Auto<String> = Auto::Auto, .., "Field of web addresses; auto: the only one.";
        part: SitePart = SitePart::Domain, .., "Host, domain or country (top-level domain).";
        name: String = String::new(), .., "The site, such as example.org; *: a column for each.";
    }
}

pub(super) static SITE: FeatureDef = FeatureDef {
    name: "site",
    help: "1 if the web address has this host, domain or country, otherwise 0.",
    example: "site(field=url, part=host, name=a.org)",
    field: Some(FieldKind::Url),
    is_default: false,
    index_values: ("name", site_names),
    ..FeatureDef::of::<SiteParams>(|index, spec| {
        let params: SiteParams = read_params(spec)?;
        if params.name.is_empty() {
            let (name, key) = (spec.name.clone(), "name".to_owned());
            let expected = "a host, a domain or a country, or * for each".to_owned();
            return Err(SpecError::MissingKey { name, key, expected }.into());
        }
        let urls = url_values(index, spec, &params.field)?;
        let site = params.name.to_lowercase();
        let value = |doc| match urls.of(doc).first() {
            Some(&url) => f64::from(part_of(urls.text(url), params.part) == Some(site.clone())),
            None => f64::NAN,
        };
        let column = (0..index.max_doc() as u32).map(value).collect();
        Ok(Box::new(DocumentColumn(Arc::new(column))) as Box<dyn Feature>)
    })
};

/// The web addresses of a field.
fn url_values(
    index: &Index,
    spec: &Spec,
    field: &Auto<String>,
) -> Result<Arc<FieldValues>, SearchError> {
    let field = field_or_only(index, spec, field, FieldKind::Url)?;
    index.field_values(&field, FieldKind::Url)
}

/// The sites of the field that a spec names, in alphabetical order.
fn site_names(index: &Index, spec: &Spec) -> Result<Vec<String>, SearchError> {
    let params: SiteParams = read_params(spec)?;
    let urls = url_values(index, spec, &params.field)?;
    let urls = urls.texts();
    let sites: BTreeSet<String> = urls.filter_map(|url| part_of(url, params.part)).collect();
    Ok(sites.into_iter().collect())
}

/// The part of a web address that names its site; `None` if it has none.
fn part_of(url: &str, part: SitePart) -> Option<String> {
    let host = host(url)?;
    if part == SitePart::Host {
        return Some(host);
    }
    let is_numeric =
        host.starts_with('[') || host.split('.').all(|label| label.parse::<u8>().is_ok());
    let labels: Vec<&str> = host.split('.').collect();
    match part {
        _ if is_numeric => Some(host).filter(|_| part == SitePart::Domain),
        SitePart::Country => {
            labels.last().filter(|_| labels.len() > 1).map(|&label| label.to_owned())
        }
        _ => {
            let kept = if has_second_level(&labels) { 3 } else { 2 };
            let first = labels.len().saturating_sub(kept);
            Some(labels.get(first..).unwrap_or_default().join("."))
        }
    }
}

/// The host of a web address, in lower case; `None` if it has none.
fn host(url: &str) -> Option<String> {
    let (_, address) = url.split_once("://")?;
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    // The colons inside the brackets of [::1]:8080 do not begin a port.
    let host = match host.split_once(']') {
        Some((inside, _)) => format!("{inside}]"),
        None => host.split(':').next().unwrap_or_default().to_owned(),
    };
    let host = host.trim_end_matches('.').to_lowercase();
    let host = host.strip_prefix("www.").map_or(host.clone(), str::to_owned);
    Some(host).filter(|host| !host.is_empty())
}

/// Whether the labels end with a second level below a country, as in `co.uk` or `ac.jp`.
fn has_second_level(labels: &[&str]) -> bool {
    const SECOND_LEVELS: [&str; 9] = ["ac", "co", "com", "edu", "gov", "gob", "net", "or", "org"];
    match labels {
        [.., second, country] => country.len() == 2 && SECOND_LEVELS.contains(second),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_domains_and_countries_are_those_of_the_address() {
        let parts =
            |url| [SitePart::Host, SitePart::Domain, SitePart::Country].map(|p| part_of(url, p));
        let some = |texts: [&str; 3]| texts.map(|text| Some(text.to_owned()));
        assert_eq!(parts("https://www.En.A.org/b"), some(["en.a.org", "a.org", "org"]));
        assert_eq!(parts("http://u@x.a.co.uk:80?q"), some(["x.a.co.uk", "a.co.uk", "uk"]));
        assert_eq!(parts("http://co.uk/"), some(["co.uk", "co.uk", "uk"]));
        assert_eq!(parts("http://box/"), [Some("box".into()), Some("box".into()), None]);
        assert_eq!(
            parts("http://127.0.0.1:9/"),
            [Some("127.0.0.1".into()), Some("127.0.0.1".into()), None]
        );
        assert_eq!(parts("http://[::1]:9/"), [Some("[::1]".into()), Some("[::1]".into()), None]);
        assert_eq!(parts("b/c.html"), [None, None, None]);
        assert_eq!(parts("http:///x"), [None, None, None]);
    }
}
