# SPDX-License-Identifier: Apache-2.0
"""The driver of `weft tune`: measures the collectives of an MPI, writes its decision file and says what it gains.

The command starts it by its folder, so that it also runs where the package `weft` is not installed.
"""
