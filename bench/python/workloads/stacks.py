# SPDX-License-Identifier: Apache-2.0
"""Libraries that bring a thread for every CPU, one or several of them, called by several threads at once."""

import os
import sys
from collections.abc import Callable

import common
import numpy as np

REPEATS = 3
ROWS, QUICK_ROWS = 200_000, 10_000
ORDER = 400  # of the products
CALLS, QUICK_CALLS = 6, 1  # for each caller
GROUPS = 1000

Call = Callable[[int], float]


def products(_: int) -> Call:
    """NumPy multiplies, again and again."""
    matrix = np.random.default_rng(1).normal(size=(ORDER, ORDER))

    def call(_: int) -> float:
        for _ in range(4):
            product = matrix @ matrix
        return float(np.abs(product).max())

    return call


def frames(rows: int) -> Call:
    """Polars (a pool of rayon) groups and joins, NumPy multiplies, scikit-learn (OpenMP) clusters."""
    import polars as pl
    from sklearn.cluster import KMeans

    random = np.random.default_rng(1)
    frame = pl.DataFrame({"key": random.integers(0, GROUPS, rows), "a": random.normal(size=rows)})
    matrix, points = random.normal(size=(ORDER, ORDER)), random.normal(size=(2000, 16))

    def call(_: int) -> float:
        means = frame.group_by("key").agg(pl.col("a").mean().alias("mean"))
        joined = frame.join(means, on="key").select((pl.col("a") * pl.col("mean")).sum()).item()
        inertia = KMeans(8, n_init=1, max_iter=10, random_state=1).fit(points).inertia_
        return float(joined) + float(np.abs(matrix @ matrix).max()) + float(inertia)

    return call


def columns(rows: int) -> Call:
    """Arrow (threads of its own) groups, pandas too, numba (its own pool) loops, NumPy multiplies."""
    import threading

    import numba
    import pyarrow as pa

    # This one wants a caller at a time.
    numba.config.THREADING_LAYER, alone = "workqueue", threading.Lock()

    @numba.njit(parallel=True, nogil=True)
    def waves(x: np.ndarray) -> float:
        total = 0.0
        for i in numba.prange(len(x)):
            total += np.sin(x[i]) * np.cos(x[i])
        return total

    random = np.random.default_rng(1)
    table = pa.table({"key": random.integers(0, GROUPS, rows), "a": random.normal(size=rows)})
    frame, values = table.to_pandas(), random.normal(size=rows)
    matrix = random.normal(size=(ORDER, ORDER))
    waves(values[:2])

    def call(_: int) -> float:
        grouped = table.group_by("key").aggregate([("a", "mean")])["a_mean"].to_numpy()
        again = frame.groupby("key").a.mean().to_numpy()
        with alone:
            total = waves(values)
        return float(np.abs(grouped).sum() + np.abs(again).sum() + total + np.abs(matrix @ matrix).max())

    return call


def images(rows: int) -> Call:
    """OpenCV (threads of its own) filters, NumPy multiplies."""
    import cv2

    random = np.random.default_rng(1)
    picture = random.integers(0, 255, (max(64, rows // 200), 1600, 3)).astype(np.uint8)
    matrix = random.normal(size=(ORDER, ORDER))

    def call(_: int) -> float:
        blurred = cv2.GaussianBlur(picture, (0, 0), 3)
        small = cv2.resize(blurred, (320, 200))
        grey = cv2.medianBlur(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), 5)
        return float(small.mean() + grey.mean() + np.abs(matrix @ matrix).max())

    return call


def sessions(rows: int) -> Call:
    """One session of onnxruntime (Eigen's pool) that all callers share, scikit-learn (OpenMP) behind it."""
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    from sklearn.cluster import KMeans

    random = np.random.default_rng(1)
    width, layers, nodes, weights = 512, 6, [], []
    for layer in range(layers):
        matrix = (random.normal(size=(width, width)) / np.sqrt(width)).astype(np.float32)
        weights.append(numpy_helper.from_array(matrix, f"w{layer}"))
        nodes += [
            helper.make_node("MatMul", [f"x{layer}", f"w{layer}"], [f"y{layer}"]),
            helper.make_node("Relu", [f"y{layer}"], [f"x{layer + 1}"]),
        ]
    shape = [None, width]
    graph = helper.make_graph(
        nodes,
        "layers",
        [helper.make_tensor_value_info("x0", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(f"x{layers}", TensorProto.FLOAT, shape)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("ORT_INTRA_OP_NUM_THREADS", "0"))  # 0: as it comes
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    batch = random.normal(size=(max(8, rows // 1500), width)).astype(np.float32)

    def call(_: int) -> float:
        (answers,) = session.run(None, {"x0": batch})
        inertia = KMeans(8, n_init=1, max_iter=10, random_state=1).fit(answers).inertia_
        return float(answers.sum(dtype=np.float64)) + float(inertia)

    return call


CASES = {"products": products, "frames": frames, "columns": columns, "images": images, "sessions": sessions}


def main() -> int:
    parser = common.parser(__doc__, tuple(CASES))
    parser.add_argument("--callers", type=int, default=8)
    arguments = parser.parse_args()
    rows, calls = (QUICK_ROWS, QUICK_CALLS) if arguments.quick else (ROWS, CALLS)
    call = CASES[arguments.case](rows)
    expected = call(0)
    measured = common.Measurement(arguments)
    results = measured.in_threads(call, range(calls * arguments.callers), arguments.callers, REPEATS)
    wrong = "" if np.allclose(results, expected, rtol=1e-3) else "calls differ from that of one thread"
    return measured.finish(expected, wrong, {"rows": rows, "calls": len(results), "callers": arguments.callers})


if __name__ == "__main__":
    sys.exit(main())
