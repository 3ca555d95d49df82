"""LETOR text as NumPy arrays, for peers that cannot read it: features, labels, query sizes.

Lines are `label qid:ID index:value ... # comment`; ids are numbers, indices count from 1 and an
absent feature is 0, as for us. The rows of a query stand together. Work goes by blocks of lines:
a block becomes one long list of numbers, and each number's place in its line says what it is.
"""

import numpy as np

BLOCK = 32 << 20


def read(paths):
    """`(features as float32, labels as float32, sizes of the queries)` of files taken as one."""
    blocks = [numbers(lines) for path in paths for lines in line_blocks(path)]
    labels = np.concatenate([block[0] for block in blocks])
    queries = np.concatenate([block[1] for block in blocks])
    width = max(int(columns.max(initial=0)) for _, _, (_, columns, _) in blocks)
    features = np.zeros((len(labels), width), np.float32)
    start = 0
    for block_labels, _, (rows, columns, values) in blocks:
        features[start + rows, columns - 1] = values
        start += len(block_labels)
    return features, labels.astype(np.float32), sizes_of(queries)


def line_blocks(path):
    """Lists of whole lines, without comments."""
    with open(path, "rb") as file:
        while lines := file.readlines(BLOCK):
            yield [text for line in lines if (text := line.partition(b"#")[0].strip())]


def numbers(lines):
    """`(labels, query ids, (rows, columns, values))` of some lines; columns count from 1."""
    text = b"\n".join(lines).replace(b"qid:", b"").replace(b":", b" ")
    flat = np.fromstring(text, sep=" ")
    # A line has a colon for its query and one for each feature, and two numbers for each colon.
    pairs = np.array([line.count(b":") for line in lines])
    if len(flat) != 2 * pairs.sum():
        raise ValueError("a line is not `label qid:ID index:value ...` with numbers only")
    flat = flat.reshape(-1, 2)
    # The first pair of a line is its label and query id, the others are features.
    heads = np.concatenate([[0], np.cumsum(pairs)[:-1]])
    body = np.ones(len(flat), bool)
    body[heads] = False
    rows = np.repeat(np.arange(len(lines), dtype=np.int32), pairs)[body]
    columns = flat[body, 0].astype(np.int32)
    return flat[heads, 0], flat[heads, 1], (rows, columns, flat[body, 1].astype(np.float32))


def sizes_of(queries):
    """Sizes of the queries, from the query id of each row."""
    starts = np.flatnonzero(np.concatenate([[True], queries[1:] != queries[:-1]]))
    if len(np.unique(queries[starts])) != len(starts):
        raise ValueError("the rows of a query do not stand together")
    return np.diff(np.append(starts, len(queries)))


def query_numbers(sizes):
    """The number of its query for each row."""
    return np.repeat(np.arange(len(sizes)), sizes)
