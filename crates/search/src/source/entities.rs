//! Character references in SGML and HTML: `&amp;`, `&#228;`, `&#xE4;`.
//!
//! A reference that is unknown, has no `;` or names no character is kept as written.

/// Names that occur in text collections and on ordinary pages.
#[rustfmt::skip]
const NAMED: [(&str, &str); 91] = [
    ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("nbsp", " "),
    ("hyph", "-"), ("blank", " "), ("sect", "§"), ("para", "¶"), ("cir", "○"), ("bull", "•"),
    ("mdash", "—"), ("ndash", "–"), ("hellip", "…"), ("lsquo", "‘"), ("rsquo", "’"),
    ("ldquo", "“"), ("rdquo", "”"), ("laquo", "«"), ("raquo", "»"), ("middot", "·"),
    ("copy", "©"), ("reg", "®"), ("trade", "™"), ("deg", "°"), ("plusmn", "±"), ("times", "×"),
    ("divide", "÷"), ("micro", "µ"), ("frac12", "½"), ("frac14", "¼"), ("frac34", "¾"),
    ("euro", "€"), ("pound", "£"), ("yen", "¥"), ("cent", "¢"), ("shy", ""), ("zwnj", ""),
    ("Auml", "Ä"), ("Ouml", "Ö"), ("Uuml", "Ü"), ("auml", "ä"), ("ouml", "ö"), ("uuml", "ü"),
    ("szlig", "ß"), ("agrave", "à"), ("aacute", "á"), ("acirc", "â"), ("atilde", "ã"),
    ("aring", "å"), ("aelig", "æ"), ("ccedil", "ç"), ("egrave", "è"), ("eacute", "é"),
    ("ecirc", "ê"), ("euml", "ë"), ("igrave", "ì"), ("iacute", "í"), ("icirc", "î"),
    ("iuml", "ï"), ("ntilde", "ñ"), ("ograve", "ò"), ("oacute", "ó"), ("ocirc", "ô"),
    ("otilde", "õ"), ("oslash", "ø"), ("ugrave", "ù"), ("uacute", "ú"), ("ucirc", "û"),
    ("yacute", "ý"), ("yuml", "ÿ"), ("Agrave", "À"), ("Aacute", "Á"), ("Acirc", "Â"),
    ("Aring", "Å"), ("AElig", "Æ"), ("Ccedil", "Ç"), ("Egrave", "È"), ("Eacute", "É"),
    ("Ecirc", "Ê"), ("Ntilde", "Ñ"), ("Oacute", "Ó"), ("Oslash", "Ø"), ("alpha", "α"),
    ("beta", "β"), ("gamma", "γ"), ("mu", "μ"), ("rarr", "→"), ("larr", "←"), ("minus", "−"),
];

/// Largest number of bytes of a reference that is decoded, without `&` and `;`.
const MAX_REFERENCE_BYTES: usize = 10;

/// Text with its character references replaced.
pub(crate) fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut unread = text;
    while let Some((before, after)) = unread.split_once('&') {
        out.push_str(before);
        let end = after.bytes().take(MAX_REFERENCE_BYTES + 1).position(|b| b == b';');
        let reference = end.and_then(|end| Some((after.get(..end)?, after.get(end + 1..)?)));
        match reference {
            Some((name, tail)) if decode_one(name, &mut out) => unread = tail,
            _ => {
                out.push('&');
                unread = after;
            }
        }
    }
    out.push_str(unread);
    out
}

/// Appends the character of a reference, given without `&` and `;`; false if there is none.
fn decode_one(name: &str, out: &mut String) -> bool {
    let Some(number) = name.strip_prefix('#') else {
        let known = NAMED.iter().find(|(known, _)| *known == name);
        known.inspect(|(_, text)| out.push_str(text));
        return known.is_some();
    };
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let all_digits = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, radix).ok().filter(|&code| all_digits && code != 0);
    match code.and_then(char::from_u32) {
        Some(c) => {
            out.push(c);
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded_and_the_rest_stays() {
        for (text, expected) in [
            ("AT&amp;T &lt;b&gt; &quot;x&quot;", "AT&T <b> \"x\""),
            ("&#228;&#xE4;&#XE4;", "äää"),
            ("&amp;lt;", "&lt;"),
            ("a & b; &unknown; &amp", "a & b; &unknown; &amp"),
            ("&#0;&#1114112;&#xD800;&#+5;&#;&;", "&#0;&#1114112;&#xD800;&#+5;&#;&;"),
            ("&ö;&#ö;", "&ö;&#ö;"),
        ] {
            assert_eq!(decode(text), expected);
        }
    }
}
