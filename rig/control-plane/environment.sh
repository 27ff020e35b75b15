# shellcheck shell=bash
# Sourced by every script of this folder: where things live, and which folder a binary comes from.
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=rig/hosts/box/shell.sh
source "$here/../hosts/box/shell.sh"
umask 077

CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/multinic/control-plane
STORE=$CACHE/.store
STATE=${CONTROL_PLANE_STATE:-/tmp/multinic-control-plane}

[[ ! -e $STATE || -O $STATE ]] || die "$STATE belongs to somebody else: set CONTROL_PLANE_STATE to a folder of your own"
# The overlays and tmpfs that a node puts over these folders would hide the instance's own files.
case $(realpath -m "$STATE")/ in
  /etc/* | /run/* | /var/lib/* | /var/log/* | /proc/* | /sys/*)
    die "CONTROL_PLANE_STATE=$STATE must not be below /etc, /run, /var/lib, /var/log, /proc or /sys" ;;
esac

members_of() {
  case $1 in
    kubernetes) echo kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl ;;
    etcd) echo etcd ;;
    tools) echo helm kubeconform coredns ;;
    krew) echo krew ;;
    runtime) echo containerd ctr containerd-shim-runc-v2 runc ;;
  esac
}

set_of() {
  case $1 in
    etcd) echo etcd ;;
    helm | kubeconform | coredns) echo tools ;;
    krew) echo krew ;;
    kube*) echo kubernetes ;;
    *) echo runtime ;;
  esac
}

# module_version MODULE [FOLDER]: as FOLDER's go.mod pins it.
module_version() {
  awk -v module="$1" '$1 == module { print $2; exit }' "$here/${2:-kube}/go.mod"
}

hash_of() {
  cat "$@" | sha256sum | cut -c1-12
}

# stored_as SET: the beginning of the names of its folders in the store; what follows says how it was made.
# Content-addressed: another pinned version is another name.
stored_as() {
  case $1 in
    kubernetes) echo "kube-$(hash_of "$here"/kube/{go.mod,go.sum,main.go})-" ;;
    etcd) echo "etcd-$(hash_of "$here/kube/go.mod")-" ;;
    tools) echo "tools-$(hash_of "$here"/tools/{go.mod,go.sum,coredns/main.go})-" ;;
    krew) echo "krew-$(hash_of "$here"/krew/{go.mod,go.sum})-" ;;
    runtime) echo "node-$(hash_of "$here/binaries/debian.sh")-bookworm" ;;
  esac
}

complete() {
  local member
  for member in $(members_of "$2"); do
    [[ -x $1/$member ]] || return 1
  done
}

on_path() {
  local member
  for member in $(members_of "$1"); do
    command -v "$member" >/dev/null || return 1
  done
}

# source_of SET: the folder of the set, or PATH; status 1 if it is nowhere. A set is taken whole from one place, because a
# controller manager or kubelet newer than its API server is not a supported pair (Kubernetes' version skew policy).
source_of() {
  local folder
  if [[ -n ${KUBEBUILDER_ASSETS:-} ]] && complete "$KUBEBUILDER_ASSETS" "$1"; then
    echo "$KUBEBUILDER_ASSETS"
  elif on_path "$1"; then
    echo PATH
  else
    for folder in "$STORE/$(stored_as "$1")"*; do
      complete "$folder" "$1" && { echo "$folder"; return; }
    done
    return 1
  fi
}

# binary NAME: its path.
binary() {
  local folder
  folder=$(source_of "$(set_of "$1")") || die "no $1 on this machine; run: $here/control-plane install"
  if [[ $folder == PATH ]]; then
    command -v "$1"
  else
    echo "$folder/$1"
  fi
}
