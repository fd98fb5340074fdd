# Short names for what CMake, CTest and one set-up script do.
#
#   make run         the quickstart: set up, build, run inputs/quickstart.yaml
#   make test        set up, build, run the test suite
#   make check-NAME  one of the checks in .ci/check, as in README's support table
#   make deps        only install what is missing; make driver: and build build/flashpad; make build: and the tests
#   make clean       remove what was built, keep build/deps; make distclean: remove build/
#
#   make run-labs       tune, verify, sweep: the three labs in order (docs/labs.md): run-autotune, run-flash, run-benchmark
#   make run-exercises  tile loops that are broken on purpose: each FAIL is a lesson; make run-solutions: the right ones
#   make report         the quickstart as a page: results/report.html, opened where there is a display
#   make bench-host  ours beside PyTorch, ONNX Runtime and zentorch on the host, cell by cell
#
# SEQ: lengths for run-benchmark, as in SEQ="512 1024 2048".
# PEERS: interpreters that have the peers of bench-host, as in PEERS="python3 build/venv/bin/python"; BENCH: flags
# for scripts/bench_host.py, as in BENCH="--quick --filter fp32".

FLASHPAD := build/flashpad
# Kokkos advises to bind threads. Idle OpenMP threads that spin take the cores from the BLAS's own threads: passive
# waiting made naive twice as fast on two cores (quickstart, N = 512, d = 64: 11.6 to 5.95 ms) and fused no slower.
export OMP_PROC_BIND ?= spread
export OMP_PLACES ?= threads
export OMP_WAIT_POLICY ?= passive
empty :=
space := $(empty) $(empty)
comma := ,

.PHONY: run run-flash run-benchmark run-autotune bench-host test deps configure driver build clean distclean

run: driver
	$(FLASHPAD) run inputs/quickstart.yaml

.PHONY: report
report: run
	$(FLASHPAD) report results/quickstart.json -o results/report.html
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] && command -v xdg-open >/dev/null; then xdg-open results/report.html; fi

run-flash: driver
	$(FLASHPAD) run inputs/flash.yaml

run-benchmark: driver
	$(FLASHPAD) run inputs/benchmark.yaml $(if $(SEQ),--set 'problem.seq=[$(subst $(space),$(comma),$(strip $(SEQ)))]')

run-autotune: driver
	$(FLASHPAD) tune inputs/tune.yaml

DRILLS := build/tests/labs/drills

.PHONY: run-labs run-exercises run-solutions drills

run-labs: driver
	@$(MAKE) --no-print-directory run-autotune
	@$(MAKE) --no-print-directory run-flash
	@$(MAKE) --no-print-directory run-benchmark

run-exercises: drills
	$(DRILLS) exercises

run-solutions: drills
	$(DRILLS) solutions

bench-host: driver
	python3 scripts/bench_host.py --flashpad $(FLASHPAD) --json results/bench-host.json $(addprefix --python ,$(PEERS)) $(BENCH)

test: build
	ctest --preset default

check-%:
	@bash .ci/run $*

deps:
	@scripts/setup.sh

configure: deps
	@test -f build/build.ninja && test -f build/CMakeCache.txt || cmake --preset default

# The driver is half of what there is to compile; the tests are the rest.
driver: configure
	@cmake --build --preset default --target flashpad_cli

drills: configure
	@cmake --build --preset default --target flashpad_drills

build: configure
	@cmake --build --preset default

clean:
	cmake -P cmake/Clean.cmake

distclean:
	cmake -E rm -rf build
