# shellcheck shell=bash
# Sourced: the official releases of Kubernetes and etcd, where they can be reached, verified by the checksums published with them.

kubernetes_release() {
  echo "${KUBERNETES_RELEASES:-https://dl.k8s.io}/$(module_version k8s.io/kubernetes)/bin/linux/$(machine)"
}

etcd_release() {
  echo "${ETCD_RELEASES:-https://github.com/etcd-io/etcd/releases/download}/$(module_version go.etcd.io/etcd/server/v3)"
}

# Where packets are dropped silently a probe must not take minutes.
reachable() {
  curl -fsL -m 10 --connect-timeout 4 -o /dev/null "$1"
}

fetch() {
  curl -fsSL --retry 3 --connect-timeout 10 -o "$2" "$1"
}

released() {
  case $1 in
    kubernetes) reachable "$(kubernetes_release)/kubectl.sha256" ;;
    etcd) reachable "$(etcd_release)/SHA256SUMS" ;;
  esac
}

fetch_kubernetes() {
  local folder=${1:?} program
  for program in $(members_of kubernetes); do
    echo "$program"
    fetch "$(kubernetes_release)/$program" "$folder/$program"
    fetch "$(kubernetes_release)/$program.sha256" "$folder/$program.sha256"
    (cd "$folder" && echo "$(<"$program.sha256")  $program" | sha256sum -c --quiet -) || return 1
    rm "$folder/$program.sha256"
    chmod 755 "$folder/$program"
  done
}

fetch_etcd() {
  local folder=${1:?} archive
  archive=etcd-$(module_version go.etcd.io/etcd/server/v3)-linux-$(machine).tar.gz
  fetch "$(etcd_release)/$archive" "$folder/$archive"
  fetch "$(etcd_release)/SHA256SUMS" "$folder/SHA256SUMS"
  (cd "$folder" && grep " $archive\$" SHA256SUMS | sha256sum -c --quiet -) || return 1
  tar -C "$folder" --strip-components=1 -xzf "$folder/$archive" "${archive%.tar.gz}/etcd"
  rm "$folder/$archive" "$folder/SHA256SUMS"
}

last_line() {
  tail -n 1 "$1"
}

# install_release SET
install_release() {
  with_progress "$1-release" last_line keep "$(stored_as "$1")release" "fetch_$1"
}
