# shellcheck shell=bash
# Sourced: apt-get for scripts that run side by side.

# apt_get ARGUMENTS...: waits for another one of ours, as apt-get update gives up when the lists are locked, and for dpkg.
apt_get() {
  DEBIAN_FRONTEND=noninteractive flock /var/cache/apt/multinic.lock apt-get -q -o DPkg::Lock::Timeout=600 "$@"
}

# unpack_packages FOLDER PACKAGE...: downloads Debian packages and unpacks them into FOLDER; nothing is installed or started.
unpack_packages() {
  local folder=$1 work package
  shift
  work=$(mktemp -d)
  (
    trap 'rm -rf "$work"' EXIT
    cd "$work"
    # Old lists name versions that the mirror no longer has.
    apt_get -o APT::Sandbox::User=root download "$@" ||
      { apt_get update && apt_get -o APT::Sandbox::User=root download "$@"; }
    for package in *.deb; do dpkg-deb -x "$package" "$folder"; done
  )
}
