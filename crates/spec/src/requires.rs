//! Conditions of parameters: `newton=joint`, `loss=huber`, `drop_trees>0`, `optimiser=adam|sgd`.

/// A condition on another parameter, as a declaration writes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Condition<'a> {
    /// The parameter whose value decides.
    pub(crate) key: &'a str,
    test: RequirementTest<'a>,
}

/// The test of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RequirementTest<'a> {
    /// One of the values separated by `|`.
    Is(&'a str),
    IsNot(&'a str),
    Above(f64),
    Below(f64),
}

impl<'a> Condition<'a> {
    /// Reads a condition; `None` if it is not written as one.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let operator = text.find(['=', '>', '<', '!'])?;
        let (key, rest) = text.split_at(operator);
        let test = match (rest.get(..1)?, rest.get(1..)?) {
            ("=", values) => RequirementTest::Is(values),
            ("!", other) => RequirementTest::IsNot(other.strip_prefix('=')?),
            (">", number) => RequirementTest::Above(number.parse().ok()?),
            (_, number) => RequirementTest::Below(number.parse().ok()?),
        };
        Some(Self { key, test })
    }

    /// Whether the condition holds for a value of the parameter `key`.
    pub(crate) fn holds(&self, value: &str) -> bool {
        match self.test {
            RequirementTest::Is(values) => values.split('|').any(|allowed| allowed == value),
            RequirementTest::IsNot(other) => other != value,
            RequirementTest::Above(limit) => value.parse::<f64>().is_ok_and(|x| x > limit),
            RequirementTest::Below(limit) => value.parse::<f64>().is_ok_and(|x| x < limit),
        }
    }

    /// The condition in words: `newton=joint`, `drop_trees above 0`; the name of the parameter
    /// alone if any value but `none` will do.
    pub(crate) fn words(&self) -> String {
        let key = self.key;
        match self.test {
            RequirementTest::Is(values) => format!("{key}={}", values.replace('|', " or ")),
            RequirementTest::IsNot("none") => key.to_owned(),
            RequirementTest::IsNot(other) => format!("{key} other than {other}"),
            RequirementTest::Above(limit) => format!("{key} above {limit}"),
            RequirementTest::Below(limit) => format!("{key} below {limit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_tested_and_written_in_words() {
        let joint = Condition::parse("newton=joint|cross-leaf").unwrap();
        assert_eq!((joint.key, joint.holds("joint"), joint.holds("x")), ("newton", true, false));
        assert_eq!(joint.words(), "newton=joint or cross-leaf");
        let above = Condition::parse("drop_trees>0").unwrap();
        assert!(above.holds("0.1") && !above.holds("0") && !above.holds("none"));
        assert_eq!(above.words(), "drop_trees above 0");
        assert!(Condition::parse("goss_top<1").unwrap().holds("0.5"));
        assert!(Condition::parse("layers!=0").unwrap().holds("8/4"));
        assert_eq!(Condition::parse("categorical!=none").unwrap().words(), "categorical");
        assert_eq!(Condition::parse("nothing"), None);
    }
}
