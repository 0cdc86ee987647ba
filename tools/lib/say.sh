# How the scripts talk: one-line steps with the time since the start, and errors that end the script.
# shellcheck shell=bash disable=SC2154  # sourced by a script that sets root
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' plain=$'\e[0m'
else
  bold='' plain=''
fi

say() { printf '%s== [%d:%02d] %s%s\n' "$bold" $((SECONDS / 60)) $((SECONDS % 60)) "$*" "$plain"; }

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# usage FILE: the comment at the head of a script is its help.
usage() { sed -n '2,/^[^#]/{ s/^# \{0,1\}//p; }' "$1"; }
