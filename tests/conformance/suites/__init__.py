# SPDX-License-Identifier: Apache-2.0
"""The public suites, by name: where their sources lie and how their tests are read."""

from . import gcc_libgomp, llvm_libomp, ompvv

SUITES = {"libomp": llvm_libomp, "libgomp": gcc_libgomp, "ompvv": ompvv}
