# SPDX-License-Identifier: Apache-2.0
# Every target does its own set-up, so that a fresh Debian 12 machine needs nothing else.
.PHONY: setup build demo test test-asan clean

setup:
	@scripts/setup

build: setup
	cmake --preset release
	cmake --build --preset release

demo: build
	build/release/bench/context_switch

test: build
	ctest --preset release

test-asan: setup
	cmake --preset asan
	cmake --build --preset asan
	ctest --preset asan

clean:
	rm -rf build
