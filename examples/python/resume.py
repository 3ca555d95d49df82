"""A training that is interrupted and resumed, to the same bytes."""

import tempfile

import rankwright as rw

data = rw.generate(queries=60, documents=20, seed=1)
whole = rw.LambdaMART(trees=30, leaves=7).fit(data)


class Interrupted(Exception):
    pass


def interrupt(one):
    if one.number == 10:
        raise Interrupted


with tempfile.TemporaryDirectory() as folder:
    try:
        rw.LambdaMART(trees=30, leaves=7).fit(data, checkpoint=folder, callbacks=[interrupt])
    except Interrupted:
        print("interrupted after 10 trees")
    resumed = rw.LambdaMART(trees=30, leaves=7).fit(data, checkpoint=folder)
print(resumed.model_.sha256)
assert resumed.model_ == whole.model_
