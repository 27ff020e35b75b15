# shellcheck shell=bash
# Sourced: apt-get for scripts that run side by side.

# apt_get ARGUMENTS...: waits for another one of ours, as apt-get update gives up when the lists are locked, and for dpkg.
apt_get() {
  DEBIAN_FRONTEND=noninteractive flock /var/cache/apt/multinic.lock apt-get -q -o DPkg::Lock::Timeout=600 "$@"
}
