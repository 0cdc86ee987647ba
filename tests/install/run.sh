#!/usr/bin/env bash
# Installs a build into a fresh prefix, moves the prefix, and builds and runs users' programs against it.
#
#   run.sh BUILD_DIRECTORY
#
# Each program (c/main.c, cpp/main.cpp, and those printed in README.md) is built once through find_package and once
# through pkg-config, with warnings as errors, and run as two ranks under the installed strata-run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
libdir=$(dirname "$(find "$prefix" -name libstrata_ccl.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
unset LD_LIBRARY_PATH CPATH CPLUS_INCLUDE_PATH C_INCLUDE_PATH LIBRARY_PATH

check_prefix() {
  local file
  for file in "$libdir"/libstrata_ccl.so.0 "$prefix"/include/strata/{ccl.h,communicator.hpp} "$prefix"/bin/strata-run; do
    [ -e "$file" ] || { echo "not installed: ${file#"$prefix"/}" >&2; return 1; }
  done
  "$prefix/bin/strata-lab" --help >/dev/null # finds its parts
  if grep -rl "$work/first" "$prefix" --include='*.cmake' --include='*.pc'; then
    echo "these name the folder they were installed to and break when it moves" >&2
    return 1
  fi
}

# run PROGRAM: as two ranks.
run() { timeout 60 "$prefix/bin/strata-run" -n 2 -- "$1"; }

# try SOURCE: builds it both ways and runs both.
try() {
  local source=$1 language=${1##*.} out
  out=$work/out-$(basename "$source")
  cmake -S "$here/$language" -B "$out" -DCMAKE_PREFIX_PATH="$prefix" -DSOURCE="$source" >"$work/cmake.log" ||
    { cat "$work/cmake.log" >&2; return 1; }
  cmake --build "$out" >"$work/cmake.log" || { cat "$work/cmake.log" >&2; return 1; }
  run "$out/consumer"

  local compiler=(cc -std=c11)
  [ "$language" = c ] || compiler=(c++ -std=c++20)
  local flags
  read -ra flags < <(pkg-config --cflags --libs strata)
  "${compiler[@]}" -Wall -Wextra -Werror -pedantic "$source" "${flags[@]}" -Wl,-rpath,"$libdir" \
    -o "$out/by-pkg-config"
  run "$out/by-pkg-config"
}

check_prefix
mkdir "$work/readme"
python3 "$here/readme_examples.py" "$here/../../README.md" "$work/readme"
for source in "$here/c/main.c" "$here/cpp/main.cpp" "$work"/readme/*; do
  echo "== ${source##*/}"
  try "$source"
done
