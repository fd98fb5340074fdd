#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   scripts/build_kokkos.sh PREFIX WORK [CMAKE_ARGUMENT...]
#
# Builds Kokkos and Kokkos Kernels (shared) from the distribution's source package of Trilinos, which holds
# both, and installs them in PREFIX: with OpenMP and Serial, or with what the arguments choose
# (-DKokkos_ENABLE_HIP=ON, -DCMAKE_CXX_COMPILER=hipcc); both libraries get them. Called by setup.sh; needs no
# root, and leaves apt's configuration and package lists as they are. WORK is a folder for temporary files; the
# source package that an earlier call left there is used again.
set -eu

prefix=$1
work=$2/kokkos
shift 2
[ $# != 0 ] || set -- -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/sources.d"

say() { echo "setup: $*"; }

# --- Source entries from the machine's own mirrors -------------------------------------------------------

# One-line format: `deb [options] uri suite components`.
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
  sed -n 's/^[[:space:]]*deb[[:space:]]/deb-src /p' >"$work/sources.list" || true

# deb822 format: stanzas of fields; those of binary packages, and not switched off.
for file in /etc/apt/sources.list.d/*.sources; do
  [ -f "$file" ] || continue
  awk 'BEGIN { RS = ""; ORS = "\n\n"; FS = "\n" }
       {
         binary = 0; enabled = 1; stanza = ""
         for (i = 1; i <= NF; i++) {
           line = $i
           if (line ~ /^#/) continue
           if (tolower(line) ~ /^types:/) {
             binary = line ~ /(^|[: \t])deb([ \t]|$)/
             line = "Types: deb-src"
           }
           if (tolower(line) ~ /^enabled:[ \t]*(no|false|0)/) enabled = 0
           stanza = stanza line "\n"
         }
         if (binary && enabled) print stanza
       }' "$file" >"$work/sources.d/$(basename "$file")"
done

# --- Download: apt checks the signature of the index and the checksum of the file ------------------------

apt_source() {
  apt-get -qq -o APT::Sandbox::User=root \
    -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts="$work/sources.d" \
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" "$@" </dev/null
}

cd "$work"
if ! archive=$(ls trilinos_*.orig.tar.* 2>/dev/null); then
  say "downloading the source package trilinos (about 170 MB), for Kokkos"
  # A mirror without sources is no failure as long as another has the package.
  apt_source update || true
  apt_source source --download-only --tar-only trilinos
  archive=$(ls trilinos_*.orig.tar.*)
fi

# --- Build -----------------------------------------------------------------------------------------------

tar -xf "$archive" --wildcards '*/packages/kokkos' '*/packages/kokkos-kernels'
source=$(dirname ./*/packages)/packages
jobs=$(nproc)
rm -rf kokkos kokkos-kernels

build() {
  name=$1
  shift
  if ! { cmake -G Ninja -S "$source/$name" -B "$name" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
    -DCMAKE_CXX_STANDARD=17 -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    "-DCMAKE_INSTALL_RPATH=\$ORIGIN" "$@" && cmake --build "$name" --parallel "$jobs" &&
    cmake --install "$name"; } >"$name.log" 2>&1; then
    tail -n 30 "$name.log" >&2
    rm -rf "$prefix"
    exit 1
  fi
}

say "building Kokkos and Kokkos Kernels ($*) on $jobs cores into $prefix (about half a minute on two)"
rm -rf "$prefix"
build kokkos -DKokkos_ENABLE_TESTS=OFF "$@"
# The BLAS component alone, without instantiations ahead of time: the library makes those it uses. The
# mangling is named because there may be no Fortran compiler to ask.
build kokkos-kernels -DKokkos_ROOT="$prefix" -DKokkosKernels_ENABLED_COMPONENTS=BLAS \
  -DKokkosKernels_ENABLE_TPL_BLAS=ON -DKokkosKernels_ENABLE_TPL_LAPACK=OFF -DKokkosKernels_ADD_DEFAULT_ETI=OFF \
  "-DF77_BLAS_MANGLE=(name,NAME) name ## _" -DKokkosKernels_ENABLE_TESTS=OFF "$@"
