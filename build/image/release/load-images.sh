#!/bin/sh
# Loads MultiNIC's images for this node's architecture into the container runtime.
#
#   load-images.sh [--tool ctr|nerdctl|podman|docker] [--namespace NAME] [--pin] [--dry-run]
#
#   --tool        program that loads the images; default: the first installed program in this list
#   --namespace   containerd namespace, for ctr and nerdctl; default: k8s.io, the kubelet's namespace
#   --pin         with ctr: exclude the images from the kubelet's garbage collection (containerd 1.7.9 or later)
#   --dry-run     print the commands without running them
#
# Run this script as root on every node, in the unpacked archive. A second run is harmless. CONTAINERD_ADDRESS selects a containerd socket.
set -eu
cd "$(dirname "$(readlink -f "$0")")"
tool='' namespace=k8s.io pin=false run=''

die() { printf '%s\n' "load-images: $1" "  $2" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

while [ $# -gt 0 ]; do
  case $1 in
    --tool) tool=${2:?--tool needs ctr, nerdctl, podman or docker}; shift ;;
    --namespace) namespace=${2:?--namespace needs a name}; shift ;;
    --pin) pin=true ;;
    --dry-run) run='echo' ;;
    --help | -h) sed -n '2,11s/^# \{0,1\}//p' load-images.sh; exit ;;
    *) die "unknown option $1" 'load-images.sh --help lists them' ;;
  esac
  shift
done

case $(uname -m) in
  x86_64 | amd64) architecture=amd64 ;;
  aarch64 | arm64) architecture=arm64 ;;
  *) die "MultiNIC has no images for $(uname -m)" 'run this script on an amd64 or arm64 machine' ;;
esac

if [ -z "$tool" ]; then
  for candidate in ctr nerdctl podman docker; do
    if has "$candidate"; then tool=$candidate; break; fi
  done
  [ -n "$tool" ] || die 'none of ctr, nerdctl, podman and docker is installed' \
    'run this script on a node, or load the files in images/ with your runtime'
fi
if $pin && [ "$tool" != ctr ]; then die "$tool cannot pin images" 'use ctr, or omit --pin'; fi
has "$tool" || die "$tool is not installed" 'choose a different program with --tool'
[ -n "$run" ] || [ "$(id -u)" = 0 ] || die 'root rights are required: the kubelet uses the images of root' 'run it with sudo'

# Prints the image name in an archive.
name_in() { tar -xOf "$1" ./index.json | sed 's/.*"io.containerd.image.name":"\([^"]*\)".*/\1/'; }

load_with_ctr() {
  $run ctr --namespace "$namespace" images import "$1" || return
  if $pin; then $run ctr --namespace "$namespace" images label "$(name_in "$1")" io.cri-containerd.pinned=pinned; fi
}

[ -e SHA256SUMS ] || die 'SHA256SUMS is missing: the checksums of the images are unknown' 'run this script in the complete unpacked archive'
# The folder may also contain images from an earlier release: only names in SHA256SUMS count.
files=$(sed -n "s|^[0-9a-f]*  \(images/[^/ ]*-linux-$architecture\.tar\)\$|\1|p" SHA256SUMS)
[ -n "$files" ] || die "this release has no images for $architecture" 'build the archive with --arch amd64,arm64'
for file in $files; do
  [ -e "$file" ] || die "$file is missing" 'copy the archive again'
  grep -F "  $file" SHA256SUMS | sha256sum -c - >/dev/null 2>&1 ||
    die "$file is damaged: the checksum differs" 'copy the archive again'
  case $tool in
    ctr) load_with_ctr "$file" ;;
    nerdctl) $run nerdctl --namespace "$namespace" load --input "$file" ;;
    podman | docker) $run "$tool" load --input "$file" ;;
    *) die "unknown tool $tool" 'use ctr, nerdctl, podman or docker' ;;
  esac || die "$tool could not load $file" 'see the error above'
done
