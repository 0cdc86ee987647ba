# Configures and builds one CMake preset.
# shellcheck shell=bash disable=SC2154  # sourced by a script that sets root

# One compiler for each core, but no more than the memory feeds: a large file takes about 1.5 GB.
build_jobs() {
  local cores memory_kb jobs
  cores=$(nproc)
  memory_kb=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo)
  jobs=$((memory_kb / 1500000))
  [ "$jobs" -ge 1 ] || jobs=1
  if [ "$jobs" -lt "$cores" ]; then echo "$jobs"; else echo "$cores"; fi
}

# build_preset PRESET [TARGET...]: prints one line while all goes well, the compiler's words when not.
build_preset() {
  local preset=$1 log="$root/build/$1.log"
  shift
  mkdir -p "$root/build"
  (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
  grep '^--   ' "$log" | sed 's/^--/  /'
  local command=(cmake --build --preset "$preset" --parallel "$(build_jobs)")
  [ $# -eq 0 ] || command+=(--target "$@")
  if [ -t 1 ]; then
    (cd "$root" && NINJA_STATUS='   [%f/%t, %es] ' "${command[@]}")
  else
    (cd "$root" && "${command[@]}") >"$log" 2>&1 || {
      tail -n 60 "$log" >&2
      return 1
    }
  fi
}
