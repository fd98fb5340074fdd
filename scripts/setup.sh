#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sees to it that the build finds all it needs, and does nothing where it already does.
#
#   scripts/setup.sh                   install what is missing, saying what
#   scripts/setup.sh --check           only say what it would do; non-zero when something is missing
#   scripts/setup.sh --with-dev-tools  clang-format 16 as well
#
# A Kokkos of your own (Kokkos_ROOT, CMAKE_PREFIX_PATH, a Spack environment) is used as it is. Otherwise, on
# Debian and Ubuntu, Kokkos and Kokkos Kernels are built with OpenMP from the distribution's source package
# into build/deps. FLASHPAD_DEPS=packaged takes the distribution's own, which has the Serial backend alone.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
deps=$root/build/deps
stamp=$root/build/setup.stamp

check=no
dev_tools=no
for argument in "$@"; do
  case $argument in
    --check) check=yes ;;
    --with-dev-tools) dev_tools=yes ;;
    *) echo "setup: unknown argument \`$argument\`; allowed: --check, --with-dev-tools" >&2; exit 2 ;;
  esac
done
case ${FLASHPAD_DEPS:-} in
  "" | packaged) ;;
  *) echo "setup: FLASHPAD_DEPS is \`$FLASHPAD_DEPS\`; allowed: packaged, or unset" >&2; exit 2 ;;
esac

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

# --- The quick way out: nothing that this script looks at has changed since it last succeeded -----------

fingerprint() {
  {
    cat "$0" "$root/cmake/Kokkos.cmake" "$root/cmake/Dependencies.cmake"
    echo "${Kokkos_ROOT:-}|${KokkosKernels_ROOT:-}|${CMAKE_PREFIX_PATH:-}|${FLASHPAD_DEPS:-}|${CXX:-}"
  } | cksum
}
if [ $check = no ] && [ -f "$stamp" ]; then
  { read -r stamped; read -r kokkos_dir; } <"$stamp" || true
  if [ "$stamped" = "$(fingerprint)" ] && [ -d "$kokkos_dir" ] &&
    { [ $dev_tools = no ] || command -v clang-format-16 >/dev/null; }; then exit 0; fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# --- What is there -------------------------------------------------------------------------------------

have() { command -v "$1" >/dev/null 2>&1; }
installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$'; }

# Runs CMake's own search. Sets missing, problem, kokkos_dir, kokkos_version, kokkos_devices.
probe() {
  rm -rf "$work/probe"
  if ! cmake -S "$root/cmake/probe" -B "$work/probe" -G Ninja >"$work/probe.log" 2>&1; then
    cat "$work/probe.log" >&2
    fail "CMake cannot look for packages here; its words are above"
  fi
  missing=$(sed -n 's/^missing=//p' "$work/probe/probe.txt" | tr ';' ' ')
  problem=$(sed -n 's/^problem=//p' "$work/probe/probe.txt")
  kokkos_dir=$(sed -n 's/^kokkos_dir=//p' "$work/probe/probe.txt")
  kokkos_version=$(sed -n 's/^kokkos_version=//p' "$work/probe/probe.txt")
  kokkos_devices=$(sed -n 's/^kokkos_devices=//p' "$work/probe/probe.txt" | tr ';' ' ')
  [ "$kokkos_version" ] || kokkos_dir=
}

lacks() { case " $missing " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

# Whose Kokkos it is: none, ours (build/deps), distribution, user.
kokkos_owner() {
  case $kokkos_dir in
    "") echo none ;;
    "$deps"/*) echo ours ;;
    /usr/lib/* | /usr/share/*) echo distribution ;;
    *) echo user ;;
  esac
}

# What to do about Kokkos: keep, build, packaged.
plan_kokkos() {
  owner=$(kokkos_owner)
  if [ "${Kokkos_ROOT:-}" ] && [ "$owner" = none ]; then
    fail "Kokkos_ROOT is \`$Kokkos_ROOT\`, where CMake finds no Kokkos; name its prefix, or unset it"
  fi
  if [ "$owner" = user ] || { [ "$owner" != none ] && [ "${Kokkos_ROOT:-}" ]; }; then
    [ -z "$problem" ] || fail "cannot use $problem"
    ! lacks KokkosKernels ||
      fail "no Kokkos Kernels for Kokkos $kokkos_version in $kokkos_dir: name its prefix in KokkosKernels_ROOT"
    kokkos_plan=keep
  elif [ "${FLASHPAD_DEPS:-}" = packaged ]; then
    kokkos_plan=packaged
    if [ "$owner" = distribution ] && ! lacks KokkosKernels && [ -z "$problem" ]; then kokkos_plan=keep; fi
  elif [ "$problem" ] || lacks KokkosKernels || [ "$kokkos_devices" = serial ] || [ "$owner" = none ]; then
    kokkos_plan=build
  else
    kokkos_plan=keep
  fi
}

# The name of a missing thing on Debian and Ubuntu, and in Spack.
debian_name() {
  case $1 in
    cmake) echo cmake ;;
    c++) echo g++ ;;
    ninja) echo ninja-build ;;
    clang-format-16) echo clang-format-16 ;;
    yaml-cpp) echo libyaml-cpp-dev ;;
    nlohmann_json) echo nlohmann-json3-dev ;;
    CLI11) echo libcli11-dev ;;
    fmt) echo libfmt-dev ;;
    benchmark) echo libbenchmark-dev ;;
    GTest) echo libgtest-dev libgmock-dev ;;
    OpenBLAS) echo libopenblas-dev ;;
    jsonschema) echo python3-yaml python3-jsonschema ;;
  esac
}
spack_name() {
  case $1 in
    c++) echo gcc ;;
    clang-format-16) echo llvm@16 ;;
    nlohmann_json) echo nlohmann-json ;;
    CLI11) echo cli11 ;;
    GTest) echo googletest ;;
    OpenBLAS) echo openblas ;;
    Kokkos) echo kokkos+openmp ;;
    KokkosKernels) echo kokkos-kernels ;;
    *) echo "$1" ;;
  esac
}

packaged_kokkos="libtrilinos-kokkos-dev libtrilinos-kokkos-kernels-dev"
all_libraries="yaml-cpp nlohmann_json CLI11 fmt benchmark GTest OpenBLAS"
missing_tools=
have cmake || missing_tools="$missing_tools cmake"
have "${CXX:-c++}" || missing_tools="$missing_tools c++"
have ninja || missing_tools="$missing_tools ninja"
if [ $dev_tools = yes ]; then have clang-format-16 || missing_tools="$missing_tools clang-format-16"; fi

case "$missing_tools " in
  *" cmake "* | *" c++ "* | *" ninja "*)
    # CMake cannot be asked; the package manager knows what it has installed.
    probed=no
    missing="Kokkos KokkosKernels"
    for library in $all_libraries; do
      for package in $(debian_name "$library"); do
        installed "$package" || missing="$missing $library"
      done
    done
    missing=$(echo "$missing" | tr ' ' '\n' | uniq | tr '\n' ' ')
    kokkos_plan=${FLASHPAD_DEPS:-build}
    [ -z "${Kokkos_ROOT:-}" ] || kokkos_plan=keep
    ;;
  *)
    probed=yes
    probe
    plan_kokkos
    ;;
esac

wanted=$missing_tools
for library in $all_libraries; do
  # A Kokkos of the user's own brings its BLAS.
  if [ "$library" = OpenBLAS ] && [ "$kokkos_plan" = keep ]; then continue; fi
  ! lacks "$library" || wanted="$wanted $library"
done

# One test of the suite runs Python; a build and a run need none.
schema_python=no
for python in python3 /usr/bin/python3; do
  if have $python && $python -c 'import jsonschema, yaml' 2>/dev/null; then schema_python=yes; fi
done

# --- What may be done about it ---------------------------------------------------------------------------

sudo=
if [ "$(id -u)" != 0 ]; then
  if have sudo && sudo -n true 2>/dev/null; then sudo="sudo -n"; else sudo=none; fi
fi
is_debian=no
if [ -f /etc/debian_version ] && have apt-get; then is_debian=yes; fi

if [ $schema_python = no ]; then
  if [ $is_debian = yes ] && [ "$sudo" != none ]; then
    wanted="$wanted jsonschema"
  else
    say "Python with jsonschema and yaml is missing: the test experiment.schema_files will fail"
  fi
fi
packages=
for thing in $wanted; do packages="$packages $(debian_name "$thing")"; done
if [ "$kokkos_plan" = packaged ]; then
  for package in $packaged_kokkos; do installed "$package" || packages="$packages $package"; done
fi
packages=${packages# }

# Prints what is missing for somebody else to install, and stops.
cannot_install() {
  echo "setup: $1; nothing was changed. Missing:" >&2
  [ -z "$packages" ] || echo "  Debian or Ubuntu packages: $packages" >&2
  specs=
  for thing in $wanted; do specs="$specs $(spack_name "$thing")"; done
  if [ "$kokkos_plan" != keep ]; then
    specs="$specs $(spack_name Kokkos) $(spack_name KokkosKernels)"
    echo "  Kokkos and Kokkos Kernels, 3.4.01 to 5.x, with OpenMP: name their prefix in Kokkos_ROOT" >&2
    [ $is_debian = no ] || [ -z "$packages" ] ||
      echo "    (once the packages above are there, this script builds them without root)" >&2
  fi
  echo "  or Spack specs:$specs" >&2
  exit 1
}

if [ $is_debian = no ] && { [ "$packages" ] || [ "$kokkos_plan" != keep ]; }; then
  cannot_install "this is not Debian or Ubuntu"
fi
if [ "$sudo" = none ] && [ "$packages" ]; then
  cannot_install "not root, and no sudo without a password"
fi

if [ $check = yes ]; then
  [ -z "$packages" ] || say "would install with apt-get: $packages"
  [ "$kokkos_plan" != packaged ] || [ ! -d "$deps" ] || say "would remove $deps (FLASHPAD_DEPS=packaged)"
  [ "$kokkos_plan" != build ] || say "would build Kokkos and Kokkos Kernels (OpenMP, Serial) into $deps"
  [ "$kokkos_plan" != keep ] || [ $probed = no ] || say "Kokkos $kokkos_version ($kokkos_devices): $kokkos_dir"
  if [ "$packages" ] || [ "$kokkos_plan" != keep ]; then exit 1; fi
  say "nothing is missing"
  exit 0
fi

# --- Doing it --------------------------------------------------------------------------------------------

apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" </dev/null; }

install_packages() {
  say "installing with apt-get: $*"
  # The package lists are fetched only where they do not name a package, or name an outdated file.
  # shellcheck disable=SC2086
  if ! apt-cache show "$@" >/dev/null 2>&1 ||
    ! apt install --no-install-recommends "$@" >"$work/apt.log" 2>&1; then
    say "fetching apt's package lists"
    apt update || say "apt-get update failed in part; going on with what it has"
    if ! apt install --no-install-recommends "$@" >"$work/apt.log" 2>&1; then
      cat "$work/apt.log" >&2
      return 1
    fi
  fi
}

if [ "$packages" ]; then
  # shellcheck disable=SC2086
  install_packages $packages || fail "apt-get could not install: $packages"
fi
if [ $probed = no ]; then
  probe
  plan_kokkos
fi

if [ "$kokkos_plan" = build ]; then
  if ! sh "$root/scripts/build_kokkos.sh" "$deps" "$work"; then
    echo "setup: WARNING: Kokkos could not be built with OpenMP (see above). Falling back to the" >&2
    echo "setup: WARNING: distribution's package: the Serial backend alone, one core. Once the cause is" >&2
    echo "setup: WARNING: gone, remove build/setup.stamp to try again." >&2
    [ "$sudo" != none ] || cannot_install "not root, and no sudo without a password"
    # shellcheck disable=SC2086
    install_packages $packaged_kokkos || fail "apt-get could not install $packaged_kokkos either"
  fi
elif [ "$kokkos_plan" = packaged ]; then
  # One that was built here earlier would be found first.
  rm -rf "$deps"
fi

probe
[ "$kokkos_plan" != keep ] || missing=$(echo " $missing " | sed 's/ OpenBLAS / /')
[ -z "$(echo "$missing" | tr -d ' ')" ] || fail "installed all there was to install, and CMake still misses: $missing"
[ -z "$problem" ] || fail "cannot use $problem"

# A build that was configured with another Kokkos is configured anew.
mkdir -p "$root/build"
if [ -f "$root/build/CMakeCache.txt" ] &&
  ! grep -q "^Kokkos_DIR:[A-Z]*=$kokkos_dir\$" "$root/build/CMakeCache.txt"; then
  rm -f "$root/build/CMakeCache.txt"
fi
{ fingerprint; echo "$kokkos_dir"; } >"$stamp"
say "ready: Kokkos $kokkos_version ($kokkos_devices) in $kokkos_dir"
