# shellcheck shell=bash
# Sourced by the rig's scripts: how they speak, wait, and recognise their own processes.
set -eEuo pipefail
trap 'echo "${0##*/}: failed in ${BASH_SOURCE[0]##*/} line $LINENO: $BASH_COMMAND" >&2' ERR
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C.UTF-8
# shellcheck source=rig/apt.sh
source "${BASH_SOURCE[0]%/*}/../../apt.sh"

say() {
  printf '%(%H:%M:%S)T %s\n' -1 "$*" >&2
}

die() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# The comment at the head of the calling script is its help.
help() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
}

bad_usage() {
  echo "${0##*/}: $*; see ${0##*/} --help" >&2
  exit 2
}

need_root() {
  ((EUID == 0)) || die "$* needs root: run it with sudo"
}

# A box takes about 20 of the 128 inotify instances that a kernel gives to a user, a kubelet 7 more: without them kubelets end.
raise_inotify_limit() {
  local limit=/proc/sys/fs/inotify/max_user_instances
  (($(<"$limit") >= 1024)) || echo 1024 >"$limit" || say "cannot raise $limit; many boxes at a time may fail"
}

now_ms() {
  echo $((${EPOCHREALTIME/[.,]/} / 1000))
}

# wait_until SECONDS COMMAND...: polls; status 1 when the time is over.
wait_until() {
  local end=$(($(now_ms) + $1 * 1000))
  shift
  until "$@"; do
    (($(now_ms) < end)) || return 1
    sleep 0.05
  done
}

# Field 22 of /proc/PID/stat. Pids are reused, a pid together with its start time is not (man 5 proc).
started_at() {
  local stat fields
  read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  read -ra fields <<<"${stat##*) }"
  [[ ${fields[0]} != Z ]] || return 1
  echo "${fields[19]}"
}

# remember_process FILE PID
remember_process() {
  echo "$2 $(started_at "$2" || true)" >"$1"
}

# process_of FILE: the pid remembered in FILE while that very process is alive, else status 1.
process_of() {
  local pid started
  [[ -s $1 ]] || return 1
  read -r pid started <"$1" || return 1
  [[ -n $started && $(started_at "$pid") == "$started" ]] || return 1
  echo "$pid"
}

ended() {
  ! process_of "$1" >/dev/null
}

# install_packages NAME...: Debian packages that are not there yet.
install_packages() {
  local package missing=()
  command -v apt-get >/dev/null || die "no apt-get: the rig runs on Debian 12 and needs its packages $*"
  for package; do
    [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) == 'ii ' ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || die "missing packages; run: sudo apt-get install --no-install-recommends ${missing[*]}"
  say "apt-get install ${missing[*]}"
  local log
  log=$(mktemp)
  {
    apt_get update
    apt_get install -y --no-install-recommends "${missing[@]}"
  } >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "apt-get install failed (all of its output: $log); check the machine's package sources"
  }
  rm -f "$log"
}
