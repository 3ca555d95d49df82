"""An epoch of a neural ranker: Rankwright beside the same net and loss in JAX with Rax, 2 threads.

1,000 generated queries, 136 inputs, hidden layers of 64 and 32 with ReLU, softmax cross entropy over each
list, Adam, 32 queries in a mini-batch. JAX pads the lists of a batch to the longest of the data, and is
compiled before the clock starts. JAX's seconds of an epoch are the median over the epochs without the first,
ours are the mean over all epochs. Then RankNet on lists of growing length, pair by pair and factored by
document (Burges 2010, section 4.1).
"""

import argparse
import json
import statistics
import sys
import time

from _common import OUT, made_once, markdown, measure, program, verdict, worker
from _training import Sample, load, run_ours

TRAIN = Sample(1000, 21)
BATCH, EPOCHS = 32, 6
LAYERS = (64, 32)
LISTS = (50, 200, 1000)


def with_jax(stem):
    import jax
    import jax.numpy as jnp
    import numpy as np
    import rax

    features, labels, sizes = load(stem)
    features = (features - features.mean(0)) / np.maximum(features.std(0), 1e-6)
    longest = int(sizes.max())
    count = len(sizes) // BATCH * BATCH
    x = np.zeros((count, longest, features.shape[1]), np.float32)
    y, mask = np.zeros((count, longest), np.float32), np.zeros((count, longest), bool)
    start = 0
    for query, size in enumerate(sizes[:count]):
        x[query, :size], y[query, :size] = features[start : start + size], labels[start : start + size]
        mask[query, :size] = True
        start += size
    widths = [x.shape[-1], *LAYERS, 1]
    draw = np.random.default_rng(1)
    params = [
        (jnp.asarray(draw.normal(size=(a, b)) / a**0.5, jnp.float32), jnp.zeros(b))
        for a, b in zip(widths, widths[1:], strict=False)
    ]

    def loss(params, x, y, mask):
        for weights, bias in params[:-1]:
            x = jax.nn.relu(x @ weights + bias)
        scores = (x @ params[-1][0] + params[-1][1])[..., 0]
        return rax.softmax_loss(scores, y, where=mask, reduce_fn=jnp.mean)

    @jax.jit
    def step(params, first, second, number, x, y, mask):
        gradient = jax.grad(loss)(params, x, y, mask)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
        rate = 1e-3 * jnp.sqrt(1 - 0.999**number) / (1 - 0.9**number)
        move = lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8)  # noqa: E731
        return jax.tree.map(move, params, first, second), first, second

    first = second = jax.tree.map(jnp.zeros_like, params)
    batches = [
        tuple(jnp.asarray(part[at : at + BATCH]) for part in (x, y, mask))
        for at in range(0, count, BATCH)
    ]
    times = []
    for epoch in range(EPOCHS):
        started = time.perf_counter()
        for number, batch in enumerate(batches):
            params, first, second = step(params, first, second, epoch * len(batches) + number + 1.0, *batch)
        jax.block_until_ready(params)
        times.append(time.perf_counter() - started)
    # The first one compiles.
    return {"seconds": statistics.median(times[1:]) * len(sizes) / count}


def ours(data, spec, threads):
    """The mean seconds of an epoch."""
    binary = program("RANKWRIGHT_BIN", "rankwright")
    words = ["train", data, "--learner", spec, "--out", OUT / "net.model", "--threads", threads]
    found = measure([binary, *map(str, words), "--json", "--quiet"]).output
    return found["seconds"]["train"] / len(found["iterations"])


def compare(options):
    layers = "/".join(map(str, LAYERS))
    spec = f"softmax(layers={layers}, batch={BATCH}, epochs={EPOCHS}, optimiser=adam, dropout=0, norm=none, noise=0)"
    mine = min(ours(TRAIN.cache, spec, 2) for _ in range(options.repeats))
    theirs = min(measure(worker(__file__, TRAIN.arrays)).output["seconds"] for _ in range(options.repeats))
    rows = [["**Rankwright** softmax", f"{mine:.3f}"], ["JAX with Rax", f"{theirs:.3f}"]]
    print(markdown(["system, 2 threads", "seconds of an epoch"], rows))
    print()
    verdict(f"at least as fast per epoch as JAX with Rax ({theirs / mine:.2f} times)", mine <= theirs, True)
    rows = []
    for length in LISTS:
        path = OUT / f"nets-{length}.rwd"
        words = ["data", "generate", "letor", "--queries", 20_000 // length, "--documents", length]
        made_once(path, lambda out, words=words: run_ours(*words, "--seed", 3, "--to", "rwd", "--out", out))
        times = [ours(path, f"ranknet(layers=64, epochs=2, factored={how})", 1) for how in ("yes", "no")]
        rows.append([f"{length:,}", *(f"{t:.2f}" for t in times), f"{times[1] / times[0]:.1f}"])
    print("\n" + markdown(["documents in a list", "factored s", "pair by pair s", "times faster"], rows))


def main():
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(with_jax(*sys.argv[2:])))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
