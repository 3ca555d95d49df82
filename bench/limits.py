"""Time and peak memory of reading hostile model files of 64 MB with `model inspect`.

For each format: files that look right and are as large as they may be, and files made to cost as much
as they can for their bytes (the shortest trees, lists of the shortest numbers, the shortest names, one
tree with one split on each level). Any of them may give a model or an error; the bound is a second, and
16 MiB plus four times the size of the file. Two amounts are subtracted from the peak of the process: the
peak for a model of one line, and the size of the file, which is mapped and not copied. Where the file gives
a model, the time includes the description that `inspect` prints.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

from _common import MIB, OUT, markdown, measure, program, verdict, worker

SIZE = 64_000_000
# The bound: seconds, and memory as a fixed part and a multiple of the size of the file.
SECONDS, FIXED_BYTES, TIMES_FILE = 1.0, 16 * MIB, 4
# A number has at most this many bytes more than the `%d` that it replaces.
MORE_DIGITS = 6


def filled(before, piece, after, between=b""):
    """A file of about `SIZE` bytes: `before`, as many pieces as fit with `between` them, `after`. The text `%d` in
    a piece is replaced by the number of the piece."""
    room = SIZE - len(before) - len(after)
    numbered = b"%d" in piece
    size = len(piece) + len(between) + (MORE_DIGITS if numbered else 0)
    count = room // size
    pieces = (piece.replace(b"%d", b"%d" % at) for at in range(count)) if numbered else [piece] * count
    return before + between.join(pieces) + after


def numbers(count, value):
    return b" ".join([value] * count)


# --- LightGBM --------------------------------------------------------------------------------------

LIGHTGBM = b"""tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=1
objective=lambdarank
feature_names=a b
feature_infos=[0:1] [0:1]

"""


def lightgbm_tree(leaves):
    """A tree of greatest depth, with the shortest numbers."""
    splits = leaves - 1
    left = b" ".join(b"%d" % (-at - 1) for at in range(splits))
    right = b" ".join(b"%d" % (at + 1 if at + 1 < splits else -leaves) for at in range(splits))
    lines = [b"num_leaves=%d" % leaves, b"split_feature=" + numbers(splits, b"0")]
    lines += [b"threshold=" + numbers(splits, b"1"), b"decision_type=" + numbers(splits, b"2")]
    lines += [b"left_child=" + left, b"right_child=" + right, b"leaf_value=" + numbers(leaves, b"1")]
    return b"Tree=%d\nnum_cat=0\n" + b"\n".join(lines) + b"\n\n"


def lightgbm_files():
    yield "trees of 255 leaves", filled(LIGHTGBM, lightgbm_tree(255), b"end of trees\n")
    yield "one leaf each", filled(LIGHTGBM, b"Tree=%d\nnum_leaves=1\nnum_cat=0\nleaf_value=1\n\n", b"end of trees\n")
    yield "one deep tree", LIGHTGBM + lightgbm_tree(SIZE // 24) + b"end of trees\n"
    sets = b"num_cat=1\nnum_leaves=2\nsplit_feature=0\nthreshold=0\ndecision_type=1\nleft_child=-1\n"
    sets += b"right_child=-2\nleaf_value=1 2\ncat_boundaries=0 1\ncat_threshold=1\n\n"
    yield "small sets", filled(LIGHTGBM, b"Tree=%d\n" + sets, b"end of trees\n")
    wide = sets.replace(b"cat_boundaries=0 1\ncat_threshold=1\n\n", b"cat_boundaries=0 31000000\n")
    yield "one wide set", filled(LIGHTGBM + b"Tree=0\n" + wide + b"cat_threshold=", b"1", b"\n\n", b" ")
    names = LIGHTGBM.replace(b"feature_names=a b", b"feature_names=")
    yield "short names", filled(names.split(b"feature_infos")[0].rstrip(b"\n"), b"a", b"\n\n", b" ")
    yield "short numbers", filled(LIGHTGBM + b"Tree=0\nnum_leaves=3\nleaf_value=", b"1", b"\n\n", b" ")


# --- JSON --------------------------------------------------------------------------------------------

XGBOOST = (
    b'{"learner":{"feature_names":[],"feature_types":[],"gradient_booster":{"model":{'
    b'"gbtree_model_param":{"num_parallel_tree":"1","num_trees":"1"},"tree_info":[],"trees":['
)
XGBOOST_END = (
    b']},"name":"gbtree"},"learner_model_param":{"base_score":"0","num_class":"0","num_feature":"4",'
    b'"num_target":"1"},"objective":{"name":"rank:ndcg"}},"version":[3,0,0]}'
)


def xgboost_tree(splits):
    """A tree of greatest depth: split `n` leads to leaf `2n + 1` and split `2n + 2`."""
    nodes = range(2 * splits + 1)
    inner = lambda at: at % 2 == 0 and at < 2 * splits
    tree = {
        "left_children": [at + 1 if inner(at) else -1 for at in nodes],
        "right_children": [at + 2 if inner(at) else -1 for at in nodes],
        "split_indices": [0 for _ in nodes],
        "split_conditions": [1 for _ in nodes],
        "default_left": [0 for _ in nodes],
        "tree_param": {"size_leaf_vector": "1"},
    }
    return json.dumps(tree, separators=(",", ":")).encode()


def xgboost_files():
    yield "trees of 255 leaves", filled(XGBOOST, xgboost_tree(254), XGBOOST_END, b",")
    yield "one leaf each", filled(XGBOOST, xgboost_tree(0), XGBOOST_END, b",")
    yield "one deep tree", XGBOOST + xgboost_tree(SIZE // 40) + XGBOOST_END
    for name in (b"split_conditions", b"categories_sizes", b"left_children"):
        yield f"short {name.decode()}", filled(XGBOOST + b'{"%s":[' % name, b"1", b"]}" + XGBOOST_END, b",")
    names = XGBOOST.split(b'"feature_names":[')[0] + b'"feature_names":['
    yield "short names", filled(names, b'""', b"]}}", b",")
    yield "nesting", b'{"learner":' + b"[" * (SIZE - 20)


def ubjson(value):
    """A value as UBJSON in the form that XGBoost writes: lists of numbers have one type for all elements."""
    if isinstance(value, dict):
        inside = b"".join(b"L" + struct.pack(">q", len(k)) + k.encode() + ubjson(v) for k, v in value.items())
        return b"{" + inside + b"}"
    if isinstance(value, str):
        return b"SL" + struct.pack(">q", len(value)) + value.encode()
    if value and isinstance(value[0], float):
        return b"[$d#L" + struct.pack(">q", len(value)) + struct.pack(f">{len(value)}f", *value)
    if value and isinstance(value[0], int):
        return b"[$l#L" + struct.pack(">q", len(value)) + struct.pack(f">{len(value)}i", *value)
    return b"[#L" + struct.pack(">q", len(value)) + b"".join(map(ubjson, value))


def ubjson_file(tree, count):
    tree = json.loads(tree)
    tree["split_conditions"] = [1.0] * len(tree["split_conditions"])
    file = json.loads(XGBOOST + XGBOOST_END)
    file["learner"]["gradient_booster"]["model"]["trees"] = ["HERE"]
    mark, whole = ubjson("HERE"), ubjson(file)
    before, after = whole.split(b"[#L" + struct.pack(">q", 1) + mark)
    return before + b"[#L" + struct.pack(">q", count) + ubjson(tree) * count + after


def ubjson_files():
    for name, tree in (("trees of 255 leaves", xgboost_tree(254)), ("one leaf each", xgboost_tree(0))):
        one, two = len(ubjson_file(tree, 1)), len(ubjson_file(tree, 2))
        yield name, ubjson_file(tree, (SIZE - one) // (two - one))
    yield "one deep tree", ubjson_file(xgboost_tree(SIZE // 42), 1)
    names = ["left_children", "right_children", "split_indices", "default_left", "split_type"]
    names += ["categories", "categories_nodes", "categories_segments", "categories_sizes"]
    for some in (names[:1], names[3:4], names[-1:], names):
        yield f"bytes in {len(some)} lists, {some[-1]}", ubjson_bytes(some)


def ubjson_bytes(names):
    """A file with one tree, whose lists have numbers of one byte, which the reader stores in more bytes."""
    count = (SIZE - 2000) // len(names)
    key = lambda name: b"L" + struct.pack(">q", len(name)) + name.encode()
    lists = [key(name) + b"[$U#L" + struct.pack(">q", count) + b"\1" * count for name in names]
    tree = ubjson(json.loads(xgboost_tree(0)) | {"split_conditions": [1.0]})
    return ubjson_file(xgboost_tree(0), 1).replace(tree, b"{" + b"".join(lists) + b"}")


CATBOOST = (
    b'{"features_info":{"float_features":[{"borders":[1],"feature_index":0,"flat_feature_index":0,'
    b'"has_nans":false,"nan_value_treatment":"AsIs"}]},"model_info":{},"scale_and_bias":[1,[0]],'
)


def catboost_files():
    split = b'{"border":1,"float_feature_index":0,"split_index":0,"split_type":"FloatFeature"}'
    deep = lambda depth: b'{"leaf_values":[%s],"splits":[%s]}' % (
        b",".join([b"1"] * (1 << depth)),
        b",".join([split] * depth),
    )
    start = CATBOOST + b'"oblivious_trees":['
    yield "depth 6", filled(start, deep(6), b"]}", b",")
    yield "depth 12", filled(start, deep(12), b"]}", b",")
    yield "one leaf each", filled(start, deep(0), b"]}", b",")
    yield "short splits", filled(start + b'{"leaf_values":[1],"splits":[', b"{}", b"]}]}", b",")
    yield "short values", filled(start + b'{"splits":[],"leaf_values":[', b"1", b"]}]}", b",")
    yield "short features", filled(b'{"features_info":{"float_features":[', b"{}", b"]}}", b",")
    borders = b'{"oblivious_trees":[],"features_info":{"float_features":[{"borders":['
    yield "short borders", filled(borders, b"1", b"]}]}}", b",")
    tree = b'{"left":{"value":1,"weight":1},"right":{"value":1,"weight":1},"split":%s}' % split
    yield "trees of leaves", filled(CATBOOST + b'"trees":[', tree, b"]}", b",")
    yield "one value each", filled(CATBOOST + b'"trees":[', b'{"value":1}', b"]}", b",")


def solr_files():
    start = b'{"class":"org.apache.solr.ltr.model.MultipleAdditiveTreesModel","name":"a","features":'
    trees = start + b'[{"name":"a"}],"params":{"trees":['
    root = b'{"value":"1"}'
    for _ in range(100):
        root = b'{"feature":"a","threshold":"1","left":{"value":"1"},"right":%s}' % root
    yield "trees of 101 leaves", filled(trees, b'{"weight":"1","root":%s}' % root, b"]}}", b",")
    yield "one leaf each", filled(trees, b'{"weight":1,"root":{"value":1}}', b"]}}", b",")
    yield "short names", filled(start + b"[", b'{"name":"a"}', b"]}", b",")
    yield "long names", filled(start + b"[", b'{"name":"%d"}', b"]}", b",")
    line = start.replace(b"MultipleAdditiveTrees", b"Linear") + b'[],"params":{"weights":{'
    yield "weights", filled(line, b'"%d":1', b"}}}", b",")


def elastic_files():
    leaf = b'{"nodeid":0,"leaf":1}'
    yield "one leaf each", filled(b"[", leaf, b"]", b",")
    root = leaf
    for _ in range(50):
        root = b'{"nodeid":0,"split":"a","split_condition":1,"yes":1,"no":2,"children":[%s,%s]}' % (
            b'{"nodeid":1,"leaf":1}',
            root.replace(b'"nodeid":0', b'"nodeid":2', 1),
        )
    yield "trees of 51 leaves", filled(b"[", root, b"]", b",")
    yield "nesting", b"[" * SIZE


# --- RankLib, ONNX, our own ------------------------------------------------------------------------


def ranklib_files():
    start, end = b"## LambdaMART\n\n<ensemble>\n", b"</ensemble>\n"
    leaf = b"<split><output>1</output></split>"
    yield "one leaf each", filled(start, b'<tree id="1" weight="1">%s</tree>\n' % leaf, end)
    split = b"<split><feature>1</feature><threshold>1</threshold>"
    side = lambda node, pos: node.replace(b"<split>", b'<split pos="%s">' % pos, 1)
    root = leaf
    for _ in range(100):
        root = split + side(leaf, b"left") + side(root, b"right") + b"</split>"
    yield "trees of 101 leaves", filled(start, b'<tree id="1" weight="1">%s</tree>\n' % root, end)
    down = side(split, b"right") + side(leaf, b"left")
    depth = SIZE // (len(down) + len(b"</split>") + 2)
    deep = split + side(leaf, b"left") + down * depth + side(leaf, b"right") + b"</split>" * (depth + 1)
    yield "one deep tree", start + b'<tree id="1" weight="1">' + deep + b"</tree>" + end
    yield "nesting", start + b'<tree id="1" weight="1">' + b"<split>" * (SIZE // 7 - 100)
    yield "line", filled(b"## Linear Regression\n", b"%d:1", b"\n", b" ")


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def onnx_file(attributes):
    node = b"".join(field(5, attribute) for attribute in attributes)
    node = field(1, b"X") + field(2, b"Y") + field(4, b"TreeEnsembleRegressor") + field(7, b"ai.onnx.ml") + node
    return b"\x08\x08" + field(7, field(1, node))


def onnx_list(name, values, kind):
    """An attribute: 6 is a list of floats, 7 of whole numbers, 8 of strings."""
    body = field(1, name.encode()) + b"\xa0\x01" + bytes([kind])
    if kind == 8:
        return body + field(9, values[0]) * len(values)
    packed = {6: lambda: struct.pack(f"<{len(values)}f", *values), 7: lambda: bytes(values)}[kind]()
    return body + field(7 if kind == 6 else 8, packed)


def onnx_files():
    for name, width in (("nodes_nodeids", 1), ("nodes_modes", 3), ("nodes_values", 4)):
        count = (SIZE - 200) // width
        if width == 1:
            lists = onnx_list(name, b"\1" * count, 7)
        elif width == 4:
            lists = onnx_list(name, [1.0] * count, 6)
        else:
            lists = onnx_list(name, [b"L"] * count, 8)
        yield f"short {name}", onnx_file([lists])
    yield "trees of one leaf", onnx_file(onnx_leaves((SIZE - 1000) // 22))


def onnx_leaves(count):
    """A leaf for each tree, numbers in one byte (so that trees have the same numbers)."""
    zeros = bytes(count)
    for name in ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_truenodeids"):
        yield onnx_list(name, zeros, 7)
    for name in ("nodes_falsenodeids", "target_treeids", "target_nodeids", "target_ids"):
        yield onnx_list(name, zeros, 7)
    yield onnx_list("nodes_modes", [b"LEAF"] * count, 8)
    yield onnx_list("nodes_values", [0.0] * count, 6)
    yield onnx_list("target_weights", [0.0] * count, 6)


def own_files():
    """Files in our own format, with a valid checksum; otherwise they would be refused at once."""
    from xxhash import xxh3_64_digest, xxh3_64_hexdigest

    def file(kind, body, features=None, count=1, version=b"1"):
        features = features or b'{"ids":{"first":1,"count":%d}}' % count
        head = b'{"kind":"%s","learner":"","objective":"","metric":"","conventions":"","seed":0,' % kind
        head += b'"queries":0,"rows":0,"notes":{},"absent":"missing","feature_hash":"%s","features":%s}\n'
        head %= (xxh3_64_hexdigest(b"ids 1 %d" % count).encode(), features)
        bytes_ = b"RANKWRIGHT MODEL %s\n" % version + head + body
        return bytes_ + xxh3_64_digest(bytes_)[::-1]

    leaf = struct.pack("<Idq", 0, 1.0, 1)
    many = lambda piece: struct.pack("<dI", 0.0, SIZE // len(piece)) + piece * (SIZE // len(piece))
    yield "one leaf each", file(b"trees", many(leaf))
    yield "short names", file(b"trees", struct.pack("<dI", 0.0, 0), filled(b'{"names":[', b'""', b"]}", b","))
    yield "names", file(b"trees", struct.pack("<dI", 0.0, 0), filled(b'{"names":[', b'"%d"', b"]}", b","))
    chain = own_chain(SIZE // 53)
    yield "one deep tree", file(b"trees", struct.pack("<dI", 0.0, 1) + chain)
    weights = SIZE // 8
    yield "line", file(b"linear", struct.pack("<dI", 0.0, weights) + bytes(8 * weights), count=weights)
    member = file(b"linear", struct.pack("<dId", 0.0, 1, 1.0))
    member = struct.pack("<dQ", 1.0, len(member)) + member
    blend = struct.pack("<BI", 0, SIZE // len(member)) + member * (SIZE // len(member))
    yield "blend", file(b"blend", blend, version=b"3")


def own_chain(splits):
    """One tree of greatest depth, in the layout that `codec.rs` describes."""
    leaf = 1 << 31
    left = [leaf | at for at in range(splits)]
    right = [*range(1, splits), leaf | splits]
    body = struct.pack("<I", splits) + bytes(4 * splits) + bytes(4 * splits) + bytes(-(-splits // 8))
    body += struct.pack(f"<{2 * splits}I", *left, *right) + bytes(16 * splits)
    return body + bytes(16 * (splits + 1))


FORMATS = {
    "lightgbm": lightgbm_files,
    "xgboost": xgboost_files,
    "ubjson": ubjson_files,
    "catboost": catboost_files,
    "solr": solr_files,
    "elasticsearch": elastic_files,
    "ranklib": ranklib_files,
    "onnx": onnx_files,
    "rankwright": own_files,
}


def run(path):
    """Seconds, processor seconds, peak bytes, and `a model` or the error in words."""
    command = [program("RANKWRIGHT_BIN", "rankwright"), "model", "inspect", str(path), "--json"]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # The output is read to its end before the wait, as a full pipe would stop the process.
    _, error = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    message = error.strip().removeprefix("error: ")
    outcome = "a model" if process.returncode == 0 else f"exit {process.returncode}: {message}"
    return seconds, cpu, usage.ru_maxrss * 1024, outcome


def make(name):
    """Writes the files of a format; returns the description of each file by its path."""
    described = {}
    for number, (what, content) in enumerate(FORMATS[name]()):
        path = OUT / f"limits-{name}-{number}"
        path.write_bytes(content)
        described[str(path)] = what
    return described


def idle():
    """Peak memory of the process for the smallest model."""
    path = OUT / "limits-idle"
    path.write_text("## Linear Regression\n0:1.0 1:1.0\n")
    peak = run(path)[2]
    path.unlink()
    return peak


def judged(path, what, idle):
    """The row of a file, which is then removed, and whether it stayed within the limits."""
    size = path.stat().st_size
    seconds, cpu, peak, outcome = run(path)
    path.unlink()
    peak = max(peak - idle - size, 0)
    bound = FIXED_BYTES + TIMES_FILE * size
    fine = seconds <= SECONDS and peak <= bound
    cells = [f"{size / 1e6:.0f}", f"{seconds:.2f} ({cpu:.2f})", f"{peak / MIB:.0f}", f"{bound / MIB:.0f}"]
    outcome = outcome.replace("|", "/").replace(f"{path}: ", "")
    return [what + ("" if fine else " (!)"), *cells, outcome], fine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--formats", default=",".join(FORMATS))
    options = parser.parse_args()
    rows, met, base = [], True, idle()
    for name in options.formats.split(","):
        # In a process of its own: on Linux a child's peak starts at what its parent held.
        for path, what in measure(worker(__file__, name)).output.items():
            row, fine = judged(Path(path), f"{name}, {what}", base)
            print(f"  {row}", file=sys.stderr)
            rows.append(row)
            met = met and fine
    print(markdown(["file", "MB", "seconds (of processor)", "peak MiB", "bound MiB", "outcome"], rows))
    print()
    verdict("a second, and 16 MiB plus four times the file", met)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(make(sys.argv[2])))
    else:
        main()
