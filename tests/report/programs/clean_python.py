# SPDX-License-Identifier: Apache-2.0
# Fault: none
# Library: kernels.c
"""Many regions of a third of a millisecond."""

import kernels

library = kernels.load()
kernels.print_checksum(sum(library.many_regions(60, 330) for _ in range(100)))
