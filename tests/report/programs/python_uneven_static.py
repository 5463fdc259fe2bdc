# SPDX-License-Identifier: Apache-2.0
# Fault: uneven_static
# Library: kernels.c
"""A compiled library's loop over a triangle."""

import kernels

library = kernels.load()
kernels.print_checksum(sum(library.triangle(100) for _ in range(14)))
