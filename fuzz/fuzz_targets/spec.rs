//! Any text, read as a list of metrics: what parses prints back to itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rankwright::eval::{MetricSpec, expand};
use rankwright::spec::Spec;

fuzz_target!(|text: &str| {
    if let Ok(spec) = Spec::parse(text) {
        assert_eq!(Spec::parse(&spec.to_string()).as_ref(), Ok(&spec));
    }
    for metric in expand(text).unwrap_or_default() {
        let again = MetricSpec::parse(&metric.to_string());
        assert_eq!(again.map(|m| m.to_string()), Ok(metric.to_string()));
    }
});
