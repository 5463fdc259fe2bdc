# SPDX-License-Identifier: Apache-2.0
"""ggml, as llama.cpp and whisper.cpp have it: products of matrices by threads that meet at barriers of ggml's own."""

import ctypes
import os
import pathlib
import sysconfig

folder = next(pathlib.Path(sysconfig.get_paths()["purelib"]).glob("pywhispercpp.libs"))


def load(stem: str) -> ctypes.CDLL:
    return ctypes.CDLL(str(next(folder.glob(f"{stem}-*.so*"))), mode=ctypes.RTLD_GLOBAL)


class Parameters(ctypes.Structure):
    _fields_ = (("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool))


libraries = [load(stem) for stem in ("libgomp", "libggml-base", "libggml-cpu")]


def function(name: str, result: type, *arguments: type):  # noqa: ANN201
    found = next(getattr(library, name) for library in libraries[1:] if hasattr(library, name))
    found.restype, found.argtypes = result, arguments
    return found


TENSOR = CONTEXT = GRAPH = ctypes.c_void_p
start = function("ggml_init", CONTEXT, Parameters)
matrix = function("ggml_new_tensor_2d", TENSOR, CONTEXT, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
data = function("ggml_get_data_f32", ctypes.POINTER(ctypes.c_float), TENSOR)
product = function("ggml_mul_mat", TENSOR, CONTEXT, TENSOR, TENSOR)
softmax = function("ggml_soft_max", TENSOR, CONTEXT, TENSOR)
graph_of = function("ggml_new_graph", GRAPH, CONTEXT)
expand = function("ggml_build_forward_expand", None, GRAPH, TENSOR)
compute = function("ggml_graph_compute_with_ctx", ctypes.c_int, CONTEXT, GRAPH, ctypes.c_int)

N, LAYERS, TOKENS = 192, 24, 12
context = start(Parameters(256 << 20, None, False))
x = matrix(context, 0, N, N)
values = data(x)
for i in range(N * N):
    values[i] = (i * 7919 % 1009) / 1009 - 0.5
y = x
for _ in range(LAYERS):
    y = softmax(context, product(context, x, y))
graph = graph_of(context)
expand(graph, y)
threads = int(os.environ.get("OMP_NUM_THREADS", "4"))
for count in (threads, 2):
    for _ in range(TOKENS):
        if compute(context, graph, count) != 0:
            raise SystemExit("ggml could not compute")
result = data(y)
print(" ".join(f"{result[i]:.6g}" for i in range(0, N * N, 997)))
