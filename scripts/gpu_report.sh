#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Verifies this tree on a GPU and packs what there is to report:
#
#   Kokkos_ROOT=PREFIX scripts/gpu_report.sh hip        # MI100, MI200, MI300: a Kokkos with HIP and your architecture
#   Kokkos_ROOT=PREFIX scripts/gpu_report.sh cuda
#
# Builds the CMake preset of that name, runs the numeric suite on the GPU, then inputs/gpu.yaml (verified and timed) and
# inputs/profile.yaml (traffic, where the profiler may count). Writes results/gpu-report-PRESET.tar.gz with all of it and
# prints what failed; exit code 1 where a test or a row did. What comes after a failure still runs.
set -u
usage="usage: gpu_report.sh hip|cuda|default"
refuse() {
  echo "gpu_report: error: $1; $usage" >&2
  exit 2
}
case ${1:-} in
  hip | cuda | default) preset=$1 ;;
  -h | --help)
    echo "$usage"
    exit 0
    ;;
  "") refuse "no preset" ;;
  *) refuse "preset $(printf %q "$1"); allowed: hip, cuda, default" ;;
esac
[ $# = 1 ] || refuse "$(printf %q "$2") is one word too many"
cd "$(dirname "$0")/.." || exit 2
build=build/$preset
[ "$preset" = default ] && build=build
report=results/gpu-report-$preset
rm -rf "$report" && mkdir -p "$report"  # an earlier run is no report of this revision
failed=()

step() {  # NAME COMMAND...: output goes to NAME.txt and the terminal
  local name=$1
  shift
  echo "== $name: $*" | tee "$report/$name.txt"
  "$@" 2>&1 | tee -a "$report/$name.txt"
  local code=${PIPESTATUS[0]}
  [ "$code" = 0 ] || failed+=("$name (exit code $code)")
  return "$code"
}

git rev-parse HEAD >"$report/revision.txt" 2>/dev/null
step configure cmake --preset "$preset" && step build cmake --build --preset "$preset" ||
  { echo "gpu_report: error: nothing was run: ${failed[*]}" >&2; exit 1; }
for tool in rocminfo rocm-smi nvidia-smi; do
  command -v $tool >/dev/null && "$tool" >"$report/$tool.txt" 2>&1
done
step info "$build/flashpad" info
step tests ctest --preset "$preset" -L numeric
step run "$build/flashpad" run inputs/gpu.yaml --json "$report/run.json"
backend=$([ "$preset" = default ] && echo auto || echo "$preset")
kernels=$([ "$preset" = cuda ] && echo '[naive-vendor, fused, hopper]' || echo '[naive-vendor, fused]')
step profile "$build/flashpad" profile inputs/profile.yaml --set "backend=$backend" --set "kernels=$kernels" \
  --json "$report/profile.json"

tar -C results -czf "$report.tar.gz" "$(basename "$report")"
echo "gpu_report: wrote $report.tar.gz; please attach it to an issue of the project"
[ ${#failed[@]} = 0 ] || { printf 'gpu_report: error: failed: %s\n' "${failed[*]}" >&2; exit 1; }
