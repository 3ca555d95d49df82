//! Tests of the code shared by tables: values, roles, guesses, encodings, and rows without a file.

use std::io::Write;

use super::cell::{feature_from_f64, feature_from_text};
use super::write::number_text;
use super::*;
use crate::bytes::Input;
use crate::format::{Format, Loaded, Role, Roles, read_inputs};
use crate::names::FeatureNames;
use crate::point_in_time::PointInTime;
use crate::table_columns::{Encoding, TimePart};

fn feature(text: &str) -> Result<f32, String> {
    feature_from_text(text.as_bytes())
        .map(|v| v.value)
        .map_err(|p| p.at(SourceLocation::line("t", 1)).to_string())
}

#[test]
fn features_are_numbers_infinities_or_missing() {
    assert_eq!(feature(" 1.5 ").unwrap(), 1.5);
    assert_eq!(feature("-0").unwrap().to_bits(), (-0.0f32).to_bits());
    assert_eq!(feature("1e-45").unwrap(), f32::from_bits(1));
    assert_eq!(feature("-Infinity").unwrap(), f32::NEG_INFINITY);
    for missing in ["", "  ", "NULL", "nan", "NaN", "-nan", "NA", "n/a"] {
        assert_eq!(feature(missing).unwrap().to_bits(), f32::NAN.to_bits(), "{missing}");
    }
    assert_eq!(
        feature("3.5e38").unwrap_err(),
        "t:1: found '3.5e38', expected a number within ±3.4e38 (features are 32-bit floats)"
    );
    assert!(feature("abc").unwrap_err().ends_with("expected a number or an empty cell"));
    assert!(feature("1,5").is_err());
    assert!(feature_from_f64(1e39).is_err());
    assert_eq!(feature_from_f64(f64::INFINITY).unwrap(), f32::INFINITY);
}

#[test]
fn numbers_are_written_short_and_read_back() {
    for value in [0.0f32, -0.0, 1.0, 0.1, 1e-45, f32::MAX, 16_777_216.0, 1e16, -2.5e-7] {
        let mut text = Vec::new();
        write_number(&mut text, value);
        assert!(text.len() < 15, "{}", String::from_utf8_lossy(&text));
        let back = feature_from_text(&text).unwrap().value;
        assert_eq!(back.to_bits(), value.to_bits());
    }
    assert_eq!(number_text(10.0), "10");
}

#[test]
fn values_that_a_role_cannot_have_are_refused() {
    let mut role_values = RoleValues::default();
    for (role, bad) in [
        (Role::Query, ""),
        (Role::Label, "inf"),
        (Role::Label, "nan"),
        (Role::Label, ""),
        (Role::Weight, "-1"),
        (Role::Weight, "1e39"),
        (Role::QueryWeight, "x"),
        (Role::Position, "-1"),
        (Role::Position, "1.5"),
        (Role::Position, "4294967296"),
    ] {
        assert!(role_values.set_text(Slot::Role(role), bad.into()).is_err(), "{role:?} {bad}");
    }
    role_values.set_number(Slot::Role(Role::Query), 10.0).unwrap();
    assert_eq!(role_values.query.as_deref(), Some("10"));
}

#[test]
fn a_matrix_beyond_the_limit_is_refused() {
    let options = ReadOptions { max_matrix_bytes: 15, ..ReadOptions::default() };
    assert!(read_with("qid,label,a,b\n1,2,3,4\n", options.clone()).is_ok());
    // A quote inside of a cell makes the reference reader read the table.
    for docid in ["d", "d\"d"] {
        let text = format!("qid,label,a,b,docid\n1,2,3,4,{docid}\n1,2,3,4,e\n");
        let error = read_with(&text, options.clone()).unwrap_err();
        assert!(error.contains("2 rows and 2 features takes 16 bytes; the limit is 15"), "{error}");
    }
}

#[test]
fn the_limit_for_rows_counts_features_labels_and_queries() {
    // A row with one feature takes 4 bytes for it, 8 for the label and 4 for the query number.
    assert!(super::check_content("t.csv", 1000, 1, 16_000).is_ok());
    let error = super::check_content("t.csv", 1001, 1, 16_000).unwrap_err().to_string();
    assert_eq!(error, "the content of t.csv takes more than 16000 bytes, the limit for an input");
}

#[test]
fn further_files_need_the_same_columns_in_any_order() {
    let names = |list: &[&str]| list.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    let known = ["qid", "label", "x"];
    let numbers = |list: &[&str]| match_columns("a.csv", known.into_iter(), "b.csv", &names(list));
    assert_eq!(numbers(&["x", "label", "qid"]).unwrap(), [2, 1, 0]);
    let error = |list: &[&str]| numbers(list).unwrap_err().to_string();
    assert_eq!(
        error(&["qid", "label", "y"]),
        "b.csv: the columns differ from those of a.csv: added 'y', missing 'x'"
    );
    assert!(error(&["qid", "label"]).ends_with("missing 'x'"));
    assert!(error(&["qid", "label", "x", "x"]).ends_with("there are two columns 'x'"));
}

#[test]
fn features_named_like_roles_are_not_written() {
    let named =
        |names: &[&str]| FeatureNames::Named(names.iter().map(|name| name.to_string()).collect());
    let error = check_writable(&named(&["a", "Label"]), true).unwrap_err().to_string();
    assert!(error.starts_with("feature 'Label' would be read back as the label"), "{error}");
    assert!(check_writable(&named(&["a", "Label"]), false).is_ok());
    assert!(check_writable(&named(&["a", "a"]), false).is_err());
    assert!(check_writable(&named(&[" "]), false).is_err());
}

#[test]
fn rows_are_written_in_order_by_any_number_of_threads() {
    let order: Vec<u32> = (0..5000).rev().collect();
    let mut out = Vec::new();
    write_rows(&order, &mut out, |row, text| writeln!(text, "{row}").unwrap()).unwrap();
    let expected: String = order.iter().map(|row| format!("{row}\n")).collect();
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

/// A table of comma-separated values, read with given roles.
fn table(text: &str, roles: &str) -> Result<Loaded, String> {
    let roles = Roles::parse(roles).map_err(|error| error.to_string())?;
    read_with(text, ReadOptions { roles, ..ReadOptions::default() })
}

/// A table of comma-separated values; an error is `MESSAGE | HELP`.
fn read_with(text: &str, options: ReadOptions) -> Result<Loaded, String> {
    let input = Input::from_bytes("t.csv", text.into()).unwrap();
    let options = ReadOptions { format: Some(Format::Csv), ..options };
    read_inputs(vec![input], &options)
        .map_err(|error| format!("{error} | {}", error.help().unwrap_or_default()))
}

#[test]
fn scattered_rows_of_a_table_are_reported_without_a_wrong_line() {
    // The row that is not with its query is the third, on line 6.
    let text = "qid,label,f1\n\n1,0,1.5\n2,0,\"2.5\n\"\n1,1,3.5\n";
    let loaded = table(text, "").unwrap();
    let warnings = loaded.warnings.iter();
    let found: Vec<_> = warnings.filter(|w| w.kind() == "scattered-queries").collect();
    assert_eq!(found[0].first, SourceLocation::file("t.csv"));
}

/// The roles of the columns of a table with one or two rows.
fn roles(given: &str, header: &str, rows: &str) -> Result<Vec<Role>, String> {
    let loaded = table(&format!("{header}\n{rows}"), given)?;
    Ok(loaded.columns.unwrap().iter().map(|column| column.role).collect())
}

/// The kinds of the warnings.
fn kinds(loaded: &Loaded) -> Vec<&'static str> {
    loaded.warnings.iter().map(|warning| warning.kind()).collect()
}

#[test]
fn given_roles_take_precedence_over_guesses() {
    use Role::*;
    let found =
        roles("qid=session, number=y, ignore=url+t", "session,label,y,url,t", "1,1,2,x,y\n");
    assert_eq!(found.unwrap(), [Query, Label, Feature, Ignore, Ignore]);
    assert_eq!(roles("label=none", "qid,a", "1,2\n").unwrap(), [Query, Feature]);
    assert_eq!(roles("label=none", "qid,none", "1,2\n").unwrap(), [Query, Label]);
    assert_eq!(roles("label=none", "qid,label", "1,2\n").unwrap(), [Query, Ignore]);
}

#[test]
fn named_features_are_the_only_ones() {
    use Role::*;
    let found = roles("feature=a+b", "qid,label,a,b,c,title", "1,0,1,2,3,some title\n");
    assert_eq!(found.unwrap(), [Query, Label, Feature, Feature, Ignore, Ignore]);
}

#[test]
fn a_second_label_is_never_taken_for_a_feature() {
    let error = roles("label=clicks", "qid,clicks,relevance", "1,2,3\n").unwrap_err();
    assert!(error.contains("both 'clicks' and 'relevance' could be the label"), "{error}");
    assert!(error.contains("`label=clicks,ignore=relevance`"), "{error}");
    assert!(roles("", "q,qid,label", "1,2,3\n").unwrap_err().contains("could be the qid"));
    assert!(roles("label=clicks, ignore=rel", "qid,clicks,rel", "1,2,3\n").is_ok());
}

/// Regression: the other column that could be the label became a feature without a word.
#[test]
fn columns_that_could_be_the_label_beside_the_given_one_are_named() {
    let text = "qid,stars,clicked,price\n1,3,1,9\n1,2,0,8\n";
    let loaded = table(text, "label=stars").unwrap();
    let notes: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let note = "t.csv: column 'clicked' could be the label too, and is read as a feature: a label \
                among the features makes every model look perfect; the role `ignore` leaves it out";
    assert_eq!(notes, [note]);
    let roles = &loaded.warnings.iter().next().unwrap().examples;
    assert_eq!(roles, &["label=stars,ignore=clicked"]);
    for given in ["label=stars,ignore=clicked", "label=stars,number=clicked"] {
        assert_eq!(kinds(&table(text, given).unwrap()), [""; 0]);
    }
}

#[test]
fn bad_names_are_refused() {
    let error = |header: &str| roles("", header, "1,2,3\n").unwrap_err();
    assert!(error("qid,label,a,a").contains("two columns 'a'"));
    assert!(error("qid,label,").contains("column 3 of 3"));
    assert!(roles("ignore=urll", "qid,label,url", "1,2,3\n").unwrap_err().contains("'urll'"));
}

/// Fifty lines, made from their numbers; most tests make two queries of 25 rows each.
fn rows(row: impl Fn(usize) -> String) -> String {
    (0..50).map(|number| format!("{}\n", row(number))).collect()
}

#[test]
fn one_error_names_every_unusable_column_with_roles_that_solve_it() {
    let text = format!(
        "session,clicks,title,size,price,brand,when\n{}",
        rows(|n| {
            let size = if n % 3 == 0 { "M".to_owned() } else { (30 + n % 7).to_string() };
            format!(
                "s{},{},title {n},{size},\"{n},5\",b{},2026-01-{:02}",
                n / 25,
                n % 2,
                n % 4,
                1 + n % 28
            )
        })
    );
    let error = table(&text, "").unwrap_err();
    for part in [
        "for 4 reasons:",
        "no column is recognised as the label",
        "column 'title' has 50 different texts in 50 rows",
        "column 'size' has numbers and texts (the first text, 'M', is at t.csv:2)",
        "column 'price' has numbers with a decimal comma (the first, '0,5', is at t.csv:2)",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let (_, help) =
        error.split_once("| write these values differently; or give the roles `").unwrap();
    let roles = help.strip_suffix('`').unwrap();
    assert_eq!(roles, "label=clicks,ignore=title+price,category=size");
    let loaded = table(&text, roles).unwrap();
    let names: Vec<String> = loaded.data.features().iter().map(|n| n.into_owned()).collect();
    assert_eq!(names, ["size", "brand", "when.days", "when.weekday"]);
    assert_eq!(kinds(&loaded), ["guessed-qid"]);
}

#[test]
fn labels_queries_and_documents_are_guessed_where_one_column_fits() {
    let row = |n: usize| format!("s{},{},{},{},{}", n / 25, n % 5, n, n % 25, n as f32 / 7.0);
    let text = format!("session_id,rating,id,product_id,price\n{}", rows(row));
    let loaded = table(&text, "").unwrap();
    let found: Vec<Role> = loaded.columns.as_ref().unwrap().iter().map(|c| c.role).collect();
    use Role::*;
    assert_eq!(found, [Query, Label, Ignore, Docid, Feature]);
    assert_eq!(kinds(&loaded), ["guessed-label", "guessed-qid", "guessed-docid", "id-left-out"]);
    assert_eq!(
        loaded.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "t.csv: column 'rating' is taken as the label",
            "t.csv: column 'session_id' is taken as the query id",
            "t.csv: column 'product_id' is taken as the document id",
            "t.csv: column 'id' looks like an id and is left out; the role `number` or `category` \
             would make features of ids",
        ]
    );
    // With another label, a rating is a feature.
    let loaded = table(&text, "label=price, number=rating").unwrap();
    assert_eq!(loaded.data.features(), &FeatureNames::from_names(vec!["rating".into()]));
}

#[test]
fn ids_that_repeat_are_categories() {
    let row = |n: usize| format!("{},{},{},{}", n / 25, n % 3, 100 + n % 4, n);
    let text = format!("qid,label,brand_id,x\n{}", rows(row));
    let loaded = table(&text, "").unwrap();
    assert_eq!(loaded.data.categories(0).unwrap().as_ref(), ["100", "101", "102", "103"]);
    assert_eq!(kinds(&loaded), ["ids-as-categories"]);
    let loaded = table(&text, "number=brand_id").unwrap();
    assert_eq!(loaded.data.matrix().get(1, 0), 101.0);
}

#[test]
fn weights_and_positions_that_are_guessed_by_name_give_a_warning() {
    let text = "qid,label,weight,position,a\n1,0,0.5,1,2\n";
    let loaded = table(text, "").unwrap();
    assert_eq!(kinds(&loaded), ["guessed-weight", "guessed-position"]);
    let given = table(text, "weight=weight, position=position").unwrap();
    assert!(given.warnings.is_empty());
    let features = table(text, "number=weight+position").unwrap();
    assert_eq!(features.data.columns(), 3);
}

#[test]
fn numbers_with_leading_zeros_are_categories() {
    let loaded = table("qid,label,zip\n1,0,01234\n1,1,90210\n1,0,01234\n", "").unwrap();
    assert_eq!(loaded.data.categories(0).unwrap().as_ref(), ["01234", "90210"]);
    assert_eq!(kinds(&loaded), ["leading-zeros"]);
    let numbers = table("qid,label,zip\n1,0,01234\n", "number=zip").unwrap();
    assert_eq!(numbers.data.matrix().get(0, 0), 1234.0);
    // A leading zero in a row far beyond the first rows.
    let many: String = (0..3000).map(|n| format!("{},1,{n}\n", n / 10)).collect();
    let loaded = table(&format!("qid,label,zip\n{many}300,1,007\n"), "").unwrap();
    assert_eq!(kinds(&loaded), ["rare-categories"]);
    assert!(loaded.data.categories(0).is_some());
}

#[test]
fn a_text_in_a_late_row_of_numbers_is_found_with_its_line() {
    let many: String = (0..3000).map(|n| format!("{},1,{n}\n", n / 10)).collect();
    let error = table(&format!("qid,label,x\n{many}300,1,high\n"), "").unwrap_err();
    assert_eq!(
        error,
        "t.csv: column 'x' has numbers and texts (the first text, 'high', is at t.csv:3002) | give \
         the roles `ignore=x`"
    );
}

#[test]
fn texts_become_categories_by_frequency_and_rare_ones_are_missing() {
    let loaded = table("qid,label,c\n1,0,b\n1,0,a\n1,0,c\n1,1,a\n1,1,\n1,1,NULL\n", "").unwrap();
    assert_eq!(loaded.data.categories(0).unwrap().as_ref(), ["a", "b", "c"]);
    let values = loaded.data.matrix().values();
    assert_eq!(values[..4], [1.0, 0.0, 2.0, 0.0]);
    assert!(values[4].is_nan() && values[5].is_nan());
    // v0 to v999 occur four times each, v1000 to v2999 once each.
    let many: String = (0..6000)
        .map(|n| format!("{},1,v{}\n", n / 10, if n < 3000 { n % 1000 } else { n % 3000 }))
        .collect();
    let loaded = table(&format!("qid,label,c\n{many}"), "").unwrap();
    assert_eq!(kinds(&loaded), ["rare-categories"]);
    assert_eq!(loaded.data.categories(0).unwrap().len(), 1000);
    let missing = loaded.data.matrix().values().iter().filter(|v| v.is_nan()).count();
    assert_eq!(missing, 2000);
}

#[test]
fn times_become_their_parts_and_booleans_become_numbers() {
    let text = "qid,label,at,ok,seen\n1,0,2025-01-01 18:30:00,true,1735756200\n1,1,,false,\n";
    let loaded = table(text, "time=seen").unwrap();
    let names: Vec<String> = loaded.data.features().iter().map(|n| n.into_owned()).collect();
    assert_eq!(
        names,
        ["at.days", "at.hour", "at.weekday", "ok", "seen.days", "seen.hour", "seen.weekday"]
    );
    let row = loaded.data.matrix().row(0);
    assert_eq!(row[1..4], [18.0, 2.0, 1.0]);
    assert_eq!(row[4..], row[..3]);
    assert!(loaded.data.matrix().row(1)[..3].iter().all(|v| v.is_nan()));
    let hour = table(text, "hour=at, weekday=at, ignore=seen").unwrap();
    let columns = hour.columns.unwrap();
    let parts = Encoding::Time(vec![TimePart::Hour, TimePart::Weekday]);
    assert_eq!(columns.column("at").unwrap().encoding, parts);
    let error = table("qid,label,at\n1,0,never\n", "time=at").unwrap_err();
    let message =
        "column 'at' has values that are no points in time (the first, 'never', is at t.csv:2)";
    assert!(error.contains(message), "{error}");
}

/// A file as German spreadsheets write it: semicolons, decimal commas, quotes, CRLF, empty cells.
const SEMICOLONS: &str = "Session;label;Hotel-Nr;price;town;area\r\n\
    s1;1,5;H-1;12,50;\"Halle; Saale\";7\r\n\
    s1;0;H-2;;K\u{f6}ln;-0,25\r\n\
    s2;2;H-1;1000;K\u{f6}ln;3,0\r\n";

#[test]
fn semicolons_and_decimal_commas_are_read_like_commas_and_points() {
    let commas = SEMICOLONS
        .replace("Halle; Saale", "Halle_ Saale")
        .replace(',', ".")
        .replace(';', ",")
        .replace("Halle_ Saale", "Halle; Saale");
    let (german, english) = (table(SEMICOLONS, "").unwrap(), table(&commas, "").unwrap());
    assert_eq!(german.data, english.data);
    assert_eq!(german.columns, english.columns);
    let first = german.data.matrix().row(0);
    assert_eq!((first[0], first[2]), (12.5, 7.0));
    assert_eq!(german.data.labels(), [1.5, 0.0, 2.0]);
    assert_eq!(kinds(&german), kinds(&english));
    let docid = german.columns.as_ref().unwrap().column("Hotel-Nr").unwrap().role;
    assert_eq!(docid, Role::Docid);
}

#[test]
fn numbers_with_points_among_decimal_commas_are_refused() {
    let error = table("qid;label;x\n1;0;1,5\n1;1;1.234\n", "").unwrap_err();
    assert!(
        error.contains("column 'x' has numbers with a point") && error.contains("'1.234'"),
        "{error}"
    );
    // In a late row, behind those by which the columns are guessed.
    let row = |row: usize| format!("{};{};{row},5\n", row / 10, row % 3);
    let late: String = (0..600).map(row).collect();
    let text = format!("qid;label;x\n{late}1;0;1.234\n");
    let error = table(&text, "").unwrap_err();
    assert!(error.contains("'1.234'"), "{error}");
    let fixed = table("qid;label;x\n1;0;1,5\n1;1;1.5\n", "number=x").unwrap_err();
    assert!(fixed.contains("t.csv:3 (column 'x'): found '1.5'"), "{fixed}");
    // A file with semicolons and decimal points.
    let points = table("qid;label;x\n1;0;1.5\n1;1;-2.25\n", "").unwrap();
    assert_eq!(points.data.matrix().values(), [1.5, -2.25]);
}

/// Regression: an error proposed `qid=?,label=?`, which is no line to paste.
#[test]
fn an_error_proposes_a_line_for_each_column_that_fits() {
    let row = |row: usize| format!("{},{},s{},{}\n", row * 7 % 10, row % 3, row % 9, row);
    let rows: String = (0..90).map(row).collect();
    let error = roles("", "preis,bewertung,suche,nummer", &rows).unwrap_err();
    let proposed = "give the roles `qid=suche,label=bewertung` or `qid=preis,label=bewertung` or \
                    `qid=suche,label=preis` or `qid=bewertung,label=preis`; `label=none` if there \
                    is no label; `qid=none` if all rows are one list";
    assert!(error.ends_with(proposed), "{error}");
}

/// Regression: dates in whole numbers were seconds of the year 1970, without a word.
#[test]
fn dates_in_whole_numbers_are_times_by_their_role() {
    let header = "qid,label,day,year,seconds";
    let rows = "1,0,20260331,2026,1790000000\n1,1,20260401,1999,2026\n";
    let text = format!("{header}\n{rows}");
    let read = table(&text, "time=day+year+seconds").unwrap();
    let names: Vec<_> = (0..read.data.columns()).map(|c| read.data.features().name(c)).collect();
    let parts = ["day.days", "day.weekday", "year.days", "seconds.days", "seconds.hour"];
    assert_eq!(names[..5], parts);
    // 31 March 2026, a Tuesday, is 20,543 days after 1970.
    assert_eq!(read.data.matrix().row(0)[..3], [20_543.0, 1.0, 20_454.0]);
}

/// Regression: dates with one cell that is none became categories, without a word.
#[test]
fn a_cell_that_is_no_date_among_dates_is_named() {
    let rows = "1,0,2026-03-01\n1,1,2026-03-02\n1,1,2026-03-0x\n";
    let error = roles("", "qid,label,added", rows).unwrap_err();
    let message = "column 'added' has points in time and other values (the first, '2026-03-0x', is \
                   at t.csv:4)";
    assert!(error.contains(message) && error.contains("`category=added`"), "{error}");
    let given = roles("category=added", "qid,label,added", rows);
    assert!(given.is_ok());
}

/// Regression: the rows between two such quotes became one cell, without a word.
#[test]
fn the_line_of_a_quote_that_is_never_closed_is_named() {
    let text = "qid,label,x,brand\n1,0,5,\"b\"\n1,0,6,\"b\n1,1,7,\"c\"\n1,1,8,\"d\"\n";
    let error = table(text, "").unwrap_err();
    assert!(error.starts_with("t.csv:3: found a quote that is never closed"), "{error}");
    let lines = "qid,label,x,brand\n1,0,5,\"two\nlines\"\n1,0,6,\"b\n1,1,7,c\n";
    let error = table(lines, "").unwrap_err();
    assert!(error.starts_with("t.csv:4: found a quote that is never closed"), "{error}");
}

#[test]
fn data_without_queries_is_one_list() {
    let error = roles("", "label,a", "1,2\n0,3\n").unwrap_err();
    assert!(error.contains("no column is recognised as the qid; the columns are 'label', 'a'"));
    assert!(
        error.ends_with("give the roles `qid=none`; `qid=none` if all rows are one list"),
        "{error}"
    );
    let loaded = table("label,a\n1,2\n0,3\n", "qid=none").unwrap();
    assert_eq!((loaded.data.queries(), loaded.data.rows()), (1, 2));
}

#[test]
fn the_columns_of_earlier_data_decide_roles_and_encodings() {
    let row = |n: usize| format!("s{},{},p{},{},b{},2026-01-05", n / 25, n % 5, n, n, n % 3);
    let text = format!("session,stars,item,price,brand,at\n{}", rows(row));
    let train = table(&text, "label=stars, ignore=at").unwrap();
    let columns = train.data.table_columns().cloned();
    assert!(columns.is_some());
    let options = ReadOptions { columns, ..ReadOptions::default() };
    // A known brand, an unknown brand, a number as a brand, and no labels.
    let new = "session,item,price,brand,at\nq,x,1,b2,y\nq,y,2,new,z\nq,z,3,7,\n";
    assert!(read_with(new, options.clone()).unwrap_err().contains("the label"));
    let loaded = read_with(new, ReadOptions { needs_labels: false, ..options.clone() }).unwrap();
    // Nothing is guessed; the texts that are not known are counted.
    let unseen: Vec<_> =
        loaded.warnings.iter().map(|w| (w.kind(), w.count, w.examples.join(" "))).collect();
    assert_eq!(unseen, [("unseen-categories", 2, "new 7".to_owned())]);
    assert_eq!(loaded.data.features(), train.data.features());
    let number = |text: &str| train.data.categories(1).unwrap().iter().position(|b| b == text);
    assert_eq!(loaded.data.matrix().get(0, 1), number("b2").unwrap() as f32);
    assert!(loaded.data.matrix().get(1, 1).is_nan() && loaded.data.matrix().get(2, 1).is_nan());
    assert_eq!(loaded.data.doc_ids().unwrap().get(2), "z");
    // A text in a column that was numbers is an error with its location.
    let bad = "session,stars,item,price,brand,at\nq,1,x,high,b1,\n";
    let error = read_with(bad, options).unwrap_err();
    assert!(error.starts_with("t.csv:2 (column 'price'): found 'high'"), "{error}");
}

#[test]
fn a_row_without_a_file_has_the_features_of_the_same_row_in_a_file() {
    use crate::{RowCell, TableColumns};
    let row = |n: usize| {
        let (day, hour) = (n % 28 + 1, n % 24);
        let (brand, in_stock, code) = (n % 3, n.is_multiple_of(2), n % 7);
        let at = format!("2026-03-{day:02} {hour:02}:30");
        format!("s{},{},u{n},b{brand},{n}.25,{in_stock},00{code},{at}", n / 25, n % 5)
    };
    let text = format!("session,stars,url,brand,price,in_stock,code,at\n{}", rows(row));
    let loaded = table(&text, "label=stars, ignore=url").unwrap();
    let columns: TableColumns = loaded.columns.unwrap();
    let encoder = columns.row_encoder();
    assert_eq!(encoder.features(), columns.features());
    assert_eq!(columns.features().len(), loaded.data.columns());
    for (number, line) in text.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let names = ["session", "stars", "url", "brand", "price", "in_stock", "code", "at"];
        let texts = names.into_iter().zip(cells.iter().copied().map(RowCell::Text));
        let expected = loaded.data.matrix().row(number);
        assert_eq!(encoder.encode(texts).unwrap(), expected, "{line}");
        let micros = PointInTime::from_text(cells[7].as_bytes()).unwrap().micros;
        let typed = [
            ("at", RowCell::Time(micros)),
            ("price", cells[4].parse::<f64>().unwrap().into()),
            ("in_stock", (cells[5] == "true").into()),
            ("brand", cells[3].into()),
            ("code", cells[6].into()),
        ];
        assert_eq!(encoder.encode(typed).unwrap(), expected, "{line}");
        let seconds = [("at", RowCell::Number(micros as f64 / 1e6))];
        assert_eq!(encoder.encode(seconds).unwrap()[4..], expected[4..], "{line}");
    }
    let missing = [("brand", RowCell::Text("new")), ("price", None::<f64>.into())];
    assert!(columns.encode_row(missing).unwrap().iter().all(|value| value.is_nan()));
    let refused = |name: &'static str, cell: RowCell<'static>| {
        columns.encode_row([(name, cell)]).unwrap_err().to_string()
    };
    assert!(refused("brnd", "b1".into()).contains("there is no column 'brnd'"));
    let error = refused("price", "high".into());
    assert!(error.contains("the row (column 'price'): found 'high'"), "{error}");
    assert!(refused("price", RowCell::Time(0)).contains("found a point in time"));
    assert!(refused("price", 1e39.into()).contains("3.4e38"));
    let twice = columns.encode_row([("price", 1.0.into()), ("price", 2.0.into())]);
    assert!(twice.unwrap_err().to_string().contains("'price'"));
}

#[test]
fn a_column_that_is_unique_in_each_query_is_suggested_as_the_document_id() {
    // There is no label, so that there is an error, which suggests roles.
    let suggested = |name: &str, value: fn(usize) -> String| {
        let row = |n: usize| format!("s{},{},{}.5", n / 25, value(n), n % 9);
        roles("", &format!("session,{name},price"), &rows(row)).unwrap_err()
    };
    for (name, value) in [
        ("link", (|n| format!("http://a/{n}")) as fn(usize) -> String),
        ("item_no", |n| (7000 + n * 13).to_string()),
        ("articleNumber", |n| (7000 + n * 13).to_string()),
    ] {
        let error = suggested(name, value);
        assert!(error.contains(&format!("docid={name}")), "{error}");
    }
    for (name, value) in [
        ("title", (|n| format!("A thing of kind {n}")) as fn(usize) -> String),
        ("views", |n| (7000 + n * 13).to_string()),
        ("page_no", |n| (n % 25 + 1).to_string()),
        ("item_no", |n| (7000 + n % 5).to_string()),
    ] {
        let error = suggested(name, value);
        assert!(!error.contains("docid="), "{error}");
    }
}
