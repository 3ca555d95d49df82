//! Tests of `eval` and `compare`.

use crate::common::{Bench, real_data};

const DATA: &str = "2 qid:a 1:1\n0 qid:a 1:2\n1 qid:b 1:3\n0 qid:a 1:1\n0 qid:b 1:4\n0 qid:c 1:1\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench
        .put("data.txt", DATA)
        .put("good.txt", "3\n2\n5\n1\n4\n0\n")
        .put("bad.txt", "1\n2\n3\n4\n5\n6\n");
    bench.put("qrels", "1 0 a 1\n1 0 b 0\n2 0 a 2\n").put("x.run", "1 Q0 b 1 9 t\n1 Q0 a 2 8 t\n");
    bench.put("y.run", "1 Q0 a 1 9 t\n2 Q0 a 1 1 t\n9 Q0 z 1 1 t\n");
    bench
}

#[test]
fn scores_of_scattered_rows_are_compared_with_their_labels() {
    let found =
        bench().run("eval --scores good.txt data.txt --metric ndcg@10 --json --quiet").json();
    let metric = &found["metrics"][0];
    assert_eq!(metric["value"], 1.0);
    assert_eq!(metric["queries"], 2, "the query without a relevant document is skipped");
    assert_eq!(metric["metric"], "ndcg@10");
    assert!(metric["convention"].as_str().unwrap().contains("blank=skip"));
}

#[test]
fn a_run_is_measured_and_missing_queries_are_reported() {
    let bench = bench();
    let ran = bench.run("eval --run x.run --qrels qrels --metric rr --per-query pq.tsv").ok();
    assert!(ran.err().contains("x.run lacks 1 of 2 judged queries"), "{}", ran.err());
    assert!(ran.out().contains("rr      0.2500"), "{}", ran.out());
    assert_eq!(
        bench.text("pq.tsv"),
        "metric\tquery\tvalue\nrr\t1\t0.5000000000\nrr\t2\t0.0000000000\n"
    );
    let skipping =
        bench.run("eval --run x.run --qrels qrels --metric rr(missing=skip) --json").json();
    assert_eq!(skipping["metrics"][0]["value"], 0.5);
}

#[test]
fn json_is_one_document_and_notes_go_elsewhere() {
    let ran = bench().run("eval --run y.run --qrels qrels --json").ok();
    assert!(ran.err().contains("1 unjudged query, ignored"), "{}", ran.err());
    assert_eq!(ran.json()["queries"]["unjudged"], 1);
}

#[test]
fn errors_have_exit_codes_places_and_advice() {
    let bench = bench();
    bench.put("nan.txt", "1\nnan\n1\n1\n1\n1\n").put("short.txt", "1\n2\n");
    for (line, code, message) in [
        ("eval --scores nan.txt data.txt", 1, "error: nan.txt:2: found 'nan'"),
        ("eval --scores short.txt data.txt", 1, "short.txt has 2 scores, but data.txt has 6 rows"),
        ("eval --scores good.txt data.txt --metric ndgc@10", 1, "did you mean `ndcg`"),
        ("eval --scores good.txt data.txt --metric ndcg(gian=exp)", 1, "gain"),
        ("eval --run x.run --qrels gone", 1, "error: cannot read gone"),
        ("eval --run qrels --qrels x.run", 1, "help: this looks like"),
        ("eval --scores good.txt", 2, "DATA"),
        ("eval --run x.run", 2, "--qrels"),
        ("evl", 2, "eval"),
        ("compare x.run", 2, "--qrels"),
        ("compare --qrels qrels x.run --baseline z", 1, "z"),
        ("compare --qrels qrels x.run y.run --test u", 2, "randomisation"),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), code, "{line}: {}", ran.err());
        assert!(ran.err().contains(message), "{line}: {}", ran.err());
        assert!(ran.out().is_empty(), "{line} wrote a result");
    }
}

#[test]
fn compare_marks_against_the_baseline_in_every_drawing() {
    let bench = bench();
    for (style, sign) in [("text", "y.run"), ("markdown", "| y.run"), ("latex", "\\begin{tabular}")]
    {
        let line = format!("compare --qrels qrels x.run y.run --metric rr --table {style}");
        let out = bench.run(&line).ok().out();
        assert!(out.contains(sign) && out.contains("1.0000"), "{out}");
        assert!(out.contains("Holm") || out.contains("one comparison"), "{out}");
    }
    let found = bench.run("compare --qrels qrels x.run y.run --metric rr --json").json();
    assert_eq!(found["baseline"], "x.run");
    let vs_baseline = &found["metrics"][0]["systems"][1]["versus_baseline"];
    assert_eq!((&vs_baseline["wins"], &vs_baseline["losses"]), (&2.into(), &0.into()));
    let other = bench.run("compare --qrels qrels x.run y.run --metric rr --baseline y.run --json");
    assert_eq!(other.json()["baseline"], "y.run");
}

#[test]
fn compare_takes_score_files_and_totals_are_the_metrics_own() {
    let bench = bench();
    let line = "compare --scores good.txt --scores bad.txt data.txt --metric gmap --json";
    let found = bench.run(line).json();
    let systems = &found["metrics"][0]["systems"];
    let alone = bench.run("eval --scores bad.txt data.txt --metric gmap --json").json();
    assert_eq!(systems[1]["value"], alone["metrics"][0]["value"]);
    bench
        .run("compare --scores good.txt --scores bad.txt data.txt --metric rr --per-query p.tsv")
        .ok();
    assert!(
        bench.text("p.tsv").starts_with("metric\tquery\tgood.txt\tbad.txt\nrr\ta\t1.0000000000\t")
    );
}

#[test]
fn depth_and_weights_are_named_with_the_value() {
    let bench = Bench::new();
    bench.put("w.csv", "qid,label,query_weight,f\na,1,9,1\na,0,9,2\nb,1,1,1\nb,0,1,2\n");
    bench.put("s", "2\n1\n1\n2\n").put("t", "1\n2\n1\n2\n");
    let found = bench.run("eval --scores s w.csv --metric rr --depth 1 --json").json();
    let metric = &found["metrics"][0];
    assert_eq!(metric["value"], 0.9);
    assert!(metric["convention"].as_str().unwrap().ends_with("weights=query, depth=1"));
    let out = bench.run("compare --scores s --scores t w.csv --metric rr --depth 1").ok().out();
    assert!(out.contains("values are weighted by query"), "{out}");
    assert_eq!(bench.run("eval --scores s w.csv --depth 0").code(), 2);
}

#[test]
fn standard_streams_are_used_once() {
    let bench = bench();
    for line in ["eval --run - --qrels -", "eval --scores - -", "compare --qrels - x.run -"] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), 1, "{line}");
        assert!(ran.err().contains("standard input (-) can be read only once"), "{}", ran.err());
    }
    let ran = bench.run("eval --run x.run --qrels qrels --per-query - --json");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("write the file to a path"), "{}", ran.err());
}

#[test]
fn options_that_do_not_apply_are_refused() {
    let bench = bench();
    bench.run("data convert data.txt d.rwd --absent missing").ok();
    for (line, code, message) in [
        ("eval --run x.run --qrels qrels --absent missing", 2, "--absent"),
        ("compare --qrels qrels x.run y.run --pairs p", 2, "--pairs"),
        ("eval --scores good.txt data.txt --columns qid=q", 1, "letor has no named columns"),
        ("eval --scores good.txt d.rwd --absent zero", 1, "leave out --absent"),
        ("list formats --threads 99999", 2, "--threads"),
        ("eval --run x.run --qrels x.run", 1, "this looks like a run"),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), code, "{line}: {}", ran.err());
        assert!(ran.err().contains(message), "{line}: {}", ran.err());
    }
}

#[test]
fn threads_do_not_change_a_digit() {
    let Some(folder) = real_data() else { return };
    let bench = Bench::new();
    let folder = folder.join("metric-conformance");
    let line = |threads: u32| {
        let (run, qrels) = (folder.join("mq2008-AdaRank.run"), folder.join("mq2008-AdaRank.qrels"));
        let (run, qrels) = (run.display(), qrels.display());
        format!("eval --run {run} --qrels {qrels} --json --threads {threads}")
    };
    let one = bench.run(&line(1)).json();
    assert_eq!(one, bench.run(&line(3)).json());
    assert_eq!(one["queries"]["judged"], 784);
}
