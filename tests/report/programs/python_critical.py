# SPDX-License-Identifier: Apache-2.0
# Fault: critical
# Library: kernels.c
"""A compiled library adds up in a critical region."""

import os

import kernels

library = kernels.load()
kernels.print_checksum(library.shared_total(30000 * len(os.sched_getaffinity(0))))
