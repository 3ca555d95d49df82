"""Off-policy values of logged decisions. Each logged page shows one document, so that the estimates by
inverse propensity scores are those of a contextual bandit (vw-estimators). The value of a ranking under
`p@1` is the probability that its first document is clicked."""

import json

import numpy as np
import pytest
from estimators.bandits import ips, snips

from command import run

ESTIMATORS = {"ips": ips.Estimator, "snips": snips.Estimator}


def logged_decisions(folder, rng):
    """Feature data, a model that ranks by its first feature, a log of drawn documents, and for each page the
    logged probability, the click, and whether the model would show the document."""
    table, log, decisions = ["qid,docid,label,good,other"], [], []
    for query in range(40):
        good, documents = rng.random(4), [f"d{document}" for document in range(4)]
        for document, value in zip(documents, good):
            table.append(f"q{query},{document},0,{value},{rng.random()}")
        odds = rng.random(4) + 0.2
        probabilities = odds / odds.sum()
        for _ in range(25):
            shown = rng.choice(4, p=probabilities)
            click = int(rng.random() < 0.2 + 0.6 * good[shown])
            log.append({"query": f"q{query}", "docs": [documents[shown]], "clicks": [click],
                        "propensities": [float(probabilities[shown])]})
            decisions.append((float(probabilities[shown]), click, float(shown == np.argmax(good))))
    data, pages, model = folder / "data.csv", folder / "log.jsonl", folder / "m.model"
    data.write_text("\n".join(table) + "\n")
    pages.write_text("".join(json.dumps(page) + "\n" for page in log))
    done = run("train", data, "--learner", "linear(weights=good:1)", "--out", model)
    assert done.returncode == 0, done.stderr
    return data, pages, model, decisions


@pytest.mark.parametrize("name", ESTIMATORS)
def test_values_of_one_document_pages_are_those_of_a_bandit(tmp_path, name):
    data, log, model, decisions = logged_decisions(tmp_path, np.random.default_rng(5))
    oracle = ESTIMATORS[name]()
    for p_log, reward, p_pred in decisions:
        oracle.add_example(p_log, reward, p_pred)
    done = run("clicks", "evaluate", log, model, "--features", data, "--metric", "p@1",
               "--propensity", "page", "--estimator", name, "--samples", 0, "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["models"]
    assert found["value"] == pytest.approx(oracle.get(), abs=1e-12)
