# shellcheck shell=bash
# Sourced: where the Debian packages of a box come from.

# The mirror that this machine's apt uses for SUITE: Debian's, or the local one of an air-gapped site.
mirror() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(REPO_URI) $(CODENAME)' | awk -v suite="$1" '$2 == suite && !found++ { print $1 }'
}

# mirror_like SUITE POCKET: of another release the place is that of this machine's own, if it has it.
mirror_like() {
  local own uri release
  uri=$(mirror "$1$2")
  if [[ -z $uri ]]; then
    # shellcheck disable=SC1091
    own=$(source /etc/os-release && echo "${VERSION_CODENAME:-}")
    uri=$(mirror "$own$2")
    release=$(mktemp)
    [[ -n $uri ]] && /usr/lib/apt/apt-helper download-file "${uri%/}/dists/$1$2/InRelease" "$release" >/dev/null || uri=
    rm -f "$release"
  fi
  echo "${uri%/}"
}

# apt_sources SUITE: lines of sources.list, one each for the release, its updates and its security fixes.
apt_sources() {
  local main pocket uri
  main=$(mirror_like "$1" '')
  [[ -n $main ]] || die "this machine's apt knows no mirror for Debian '$1': add it to /etc/apt/sources.list.d and run apt-get update"
  echo "deb $main $1 main"
  for pocket in -updates -security; do
    uri=$(mirror_like "$1" "$pocket")
    [[ -z $uri ]] || echo "deb $uri $1$pocket main"
  done
}
