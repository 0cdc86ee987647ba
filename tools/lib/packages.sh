# Installs Debian packages that are missing, saying which and why. Does nothing, and needs no network, if none is.
# shellcheck shell=bash disable=SC2154  # sourced by a script that sets root

# missing_packages PURPOSE...: lines "package why" of packages.txt that are not installed.
missing_packages() {
  local purpose package why
  while read -r purpose package why; do
    case " $* " in *" $purpose "*) ;; *) continue ;; esac
    [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      printf '%s %s\n' "$package" "$why"
  done < <(grep -v '^#' "$root/tools/lib/packages.txt")
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# install_packages PURPOSE...
install_packages() {
  command -v dpkg-query >/dev/null || {
    echo "This is not a Debian system: packages are not installed here; CMake names what it misses."
    return 0
  }
  local missing packages
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  packages=$(cut -d' ' -f1 <<<"$missing" | paste -sd' ')
  say "Installing Debian packages that are missing"
  while read -r package why; do printf '   %-20s %s\n' "$package" "$why"; done <<<"$missing"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "not root, and there is no sudo. As root, run: apt-get install $packages"
    echo "   (sudo may ask for your password)"
  fi
  local log
  log=$(mktemp)
  local options=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  as_root apt-get "${options[@]}" update >"$log" 2>&1 || true # what is in the old lists may do
  as_root dpkg --configure -a >>"$log" 2>&1 || true # an earlier run may have been interrupted
  # shellcheck disable=SC2086  # a list of words
  as_root env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install --yes --no-install-recommends \
    $packages >>"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    fail "apt-get could not install: $packages"
  }
  rm -f "$log"
}
