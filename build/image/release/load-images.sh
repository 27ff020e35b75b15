#!/bin/sh
# Loads MultiNIC's images on this node: those of its architecture, into what runs its containers.
#
#   load-images.sh [--tool ctr|nerdctl|podman|docker] [--namespace NAME] [--pin] [--dry-run]
#
#   --tool        what loads them; default: the first of these that is there
#   --namespace   of containerd, for ctr and nerdctl; default k8s.io, where the kubelet looks
#   --pin         with ctr: the kubelet keeps them when it cleans up (containerd 1.7.9 or later)
#   --dry-run     say what would be done, and do nothing
#
# Run it as root on every node, in the unpacked archive. It may be run again. CONTAINERD_ADDRESS names another containerd.
set -eu
cd "$(dirname "$(readlink -f "$0")")"
tool='' namespace=k8s.io pin=false run=''

die() { printf '%s\n' "load-images: $1" "  $2" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

while [ $# -gt 0 ]; do
  case $1 in
    --tool) tool=${2:?--tool wants ctr, nerdctl, podman or docker}; shift ;;
    --namespace) namespace=${2:?--namespace wants a name}; shift ;;
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
  *) die "there are no images for $(uname -m)" 'MultiNIC has images for amd64 and arm64' ;;
esac

if [ -z "$tool" ]; then
  for one in ctr nerdctl podman docker; do
    if has "$one"; then tool=$one; break; fi
  done
  [ -n "$tool" ] || die 'there is neither ctr, nerdctl, podman nor docker' \
    'run it on a node, or load the files of images/ with what your runtime has'
fi
if $pin && [ "$tool" != ctr ]; then die "$tool cannot pin images" 'use ctr, or leave --pin out'; fi
has "$tool" || die "there is no $tool" 'choose another one with --tool'
[ -n "$run" ] || [ "$(id -u)" = 0 ] || die 'it needs root, whose images the kubelet uses' 'run it with sudo'

# The name under which a runtime keeps the image of an archive.
name_in() { tar -xOf "$1" ./index.json | sed 's/.*"io.containerd.image.name":"\([^"]*\)".*/\1/'; }

load_with_ctr() {
  $run ctr --namespace "$namespace" images import "$1" || return
  if $pin; then $run ctr --namespace "$namespace" images label "$(name_in "$1")" io.cri-containerd.pinned=pinned; fi
}

[ -e SHA256SUMS ] || die 'there is no SHA256SUMS to check the images with' 'run it in the whole unpacked archive'
found=false
for file in images/*-linux-"$architecture".tar; do
  [ -e "$file" ] || continue
  found=true
  grep -F "  $file" SHA256SUMS | sha256sum -c - >/dev/null 2>&1 ||
    die "$file is damaged: its checksum is another one" 'copy the archive again'
  case $tool in
    ctr) load_with_ctr "$file" ;;
    nerdctl) $run nerdctl --namespace "$namespace" load --input "$file" ;;
    podman | docker) $run "$tool" load --input "$file" ;;
    *) die "unknown tool $tool" 'use ctr, nerdctl, podman or docker' ;;
  esac || die "$tool could not load $file" 'its own message is above'
done
$found || die "there are no images for $architecture in images/" 'make the archive with --arch amd64,arm64'
