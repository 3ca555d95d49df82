"""A table with texts, a ranker, and the best items of each search."""

import pandas as pd

import rankwright as rw

shown = pd.DataFrame(
    {
        "search": ["shoes", "lamp", "shoes", "shoes", "lamp", "mug", "mug", "shoes", "lamp"],
        "item": ["red boot", "desk lamp", "running shoe", "shoe polish", "lamp oil", "tea mug", "mug holder", "sandal", "floor lamp"],
        "words": [1, 2, 2, 1, 1, 2, 1, 0, 2],
        "price": [80.0, 25.0, 60.0, 8.0, 6.0, 9.0, 19.0, 30.0, 120.0],
        "sold": [0, 1, 2, 0, 0, 2, 0, 0, 0],
    }
)
features = shown[["search", "words", "price"]]
ranker = rw.RankSVM(query="search").fit(features, shown["sold"])
ranked = ranker.rank(features, k=2)
print(ranked.assign(item=shown["item"].to_numpy()[ranked["row"]]))
assert ranker.score(features, shown["sold"]) > 0.8
