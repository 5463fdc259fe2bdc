# SPDX-License-Identifier: Apache-2.0
# Fault: serial_part
# Library: kernels.c
"""Half of the time Python works alone: behind each region of 20 ms it does 20 ms between two calls."""

import kernels

library = kernels.load()
step = kernels.steps_of(20)
total = 0.0
for _ in range(60):
    total += library.balanced(20)
    if kernels.fixed(library):
        library.balanced(20 / 2)  # the same by all threads, in compiled code
    else:
        kernels.work(step)
kernels.print_checksum(total)
