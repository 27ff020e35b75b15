# shellcheck shell=bash
# Sourced: box $name in folder $D as a machine: boot, orderly stop, power cut.

# The cgroups of the box. On cgroup v1 a machine for containers needs its own group in every controller's hierarchy,
# because nspawn alone would show it this machine's, read-only.
cgroups() {
  local hierarchy
  if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
    echo "/sys/fs/cgroup/box-$name"
    return
  fi
  for hierarchy in /sys/fs/cgroup/*/; do
    hierarchy=${hierarchy%/}
    [[ -e $hierarchy/cgroup.procs ]] || continue
    case $hierarchy in
      */systemd | */unified) echo "$hierarchy/box-$name" ;;
      *) [[ -z $container_host ]] || echo "$hierarchy/box-$name" ;;
    esac
  done
}

make_cgroups() {
  local group
  for group in $(cgroups); do
    mkdir -p "$group"
    if [[ $group == */cpuset/* ]]; then # a new cpuset group has no CPUs and no memory nodes
      cat "${group%/*}/cpuset.cpus" >"$group/cpuset.cpus"
      cat "${group%/*}/cpuset.mems" >"$group/cpuset.mems"
      echo 1 >"$group/cgroup.clone_children"
    fi
  done
}

cgroups_gone() {
  local group gone=0
  for group in $(cgroups); do
    [[ ! -d $group ]] || find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    [[ ! -d $group ]] || gone=1
  done
  return $gone
}

remove_cgroups() {
  wait_until 10 cgroups_gone || die "processes are left in $(cgroups | tr '\n' ' ')"
}

running() {
  process_of "$D/nspawn.pid" >/dev/null
}

# systemd of the box, process 1 inside.
leader() {
  local nspawn pid
  nspawn=$(process_of "$D/nspawn.pid") || return 1
  # Of its own children, not of all processes of this machine: it is asked at every turn of a wait.
  read -r pid _ 2>/dev/null <"/proc/$nspawn/task/$nspawn/children" || true
  echo "${pid:-}"
}

# inside COMMAND...: in all namespaces of the box, with nothing of this machine's environment.
inside() {
  local pid
  pid=$(leader) && [[ -n $pid ]] || die "box $name does not run; run: ${0##*/} start $name"
  nsenter -t "$pid" -a -- env -i HOME=/root TERM=dumb LANG=C.UTF-8 SYSTEMD_PAGER= SYSTEMD_COLORS=0 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# As soon as it has a bus, its systemd says itself when it is done.
booted_or_gone() {
  running || return 0
  local state
  state=$( (inside timeout 120 systemctl is-system-running --wait) 2>/dev/null || true)
  [[ $state == running || $state == degraded ]]
}

boot() {
  local started arguments unified=0
  started=$(now_ms)
  # systemd <= 255 boots on cgroup v1 (hybrid); 257 refuses it.
  [[ ! -e /sys/fs/cgroup/cgroup.controllers && $suite != trixie ]] || unified=1
  remove_cgroups # what a container runtime left there before the reboot
  make_cgroups
  # --register=no --keep-unit: this machine need not run systemd; all boxes would then share one cgroup, hence the own ones.
  arguments=(-q -D "$D/root" -M "$name" --boot --register=no --keep-unit --network-namespace-path="/run/netns/$netns"
    --resolv-conf=off --timezone=off --link-journal=no --capability=all --console=read-only "${nspawn_arguments[@]}"
    -- systemd.log_target=journal systemd.show_status=0)
  # Writable /sys, else systemd-udevd does not start and .link files do nothing. nsenter as well as
  # --network-namespace-path: with the latter alone /sys shows this machine's NICs, writable.
  # shellcheck disable=SC2016  # expanded by the inner shell
  (
    cd /
    export SYSTEMD_NSPAWN_API_VFS_WRITABLE=1 SYSTEMD_NSPAWN_TMPFS_TMP=0 SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=$unified
    exec setsid bash -c 'for group in $1; do echo $$ >"$group/cgroup.procs"; done; exec "${@:2}"' - "$(cgroups)" \
      nsenter --net="/run/netns/$netns" systemd-nspawn "${arguments[@]}"
  ) </dev/null >>"$D/console.log" 2>&1 &
  remember_process "$D/nspawn.pid" $!
  if ! wait_until 120 booted_or_gone || ! running; then
    tail -n 5 "$D/console.log" >&2
    die "box $name did not boot, see $D/console.log"
  fi
  say "box $name booted after $(($(now_ms) - started)) ms"
}

stopped() {
  ! running
}

# SIGRTMIN+4 is systemd's poweroff (man 1 systemd).
halt() {
  local pid
  running || return 0
  pid=$(leader) || true
  [[ -z $pid ]] || kill -RTMIN+4 "$pid" 2>/dev/null || true
  wait_until 30 stopped || cut_power
}

# The page cache of this machine survives: a box shows lost processes and lost runtime state, not lost unsynced data.
cut_power() {
  local pid nspawn
  nspawn=$(process_of "$D/nspawn.pid") || return 0
  pid=$(leader) || true
  [[ -z $pid ]] || kill -KILL "$pid" 2>/dev/null || true
  wait_until 10 stopped || kill -KILL "$nspawn" 2>/dev/null || true
  wait_until 10 stopped || die "box $name (pid $nspawn) does not die"
}
