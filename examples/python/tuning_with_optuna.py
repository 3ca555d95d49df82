"""A search with Optuna: a callback prunes trials, and its exception ends the training."""

import sys

import rankwright as rw

try:
    import optuna
except ImportError:
    print("the package optuna is not installed")
    sys.exit()

train, valid = rw.generate(queries=60, documents=20, seed=1), rw.generate(queries=30, documents=20, seed=2)


def objective(trial):
    def prune(finished_round):
        trial.report(finished_round.values["valid"]["ndcg@10"], finished_round.number)
        if trial.should_prune():
            raise optuna.TrialPruned()

    ranker = rw.LambdaMART(trees=30, leaves=trial.suggest_int("leaves", 2, 32), rate=trial.suggest_float("rate", 0.02, 0.5, log=True))
    ranker.fit(train, eval_set=[valid], callbacks=[prune])
    return max(ranker.history_.values("ndcg@10"))


study = optuna.create_study(direction="maximize")
study.optimize(objective, n_trials=5)
print(study.best_params)
