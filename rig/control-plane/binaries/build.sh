# shellcheck shell=bash
# Sourced: Kubernetes and etcd from the Go module proxy, pinned and verified by kube/go.mod and kube/go.sum. One program `kube`
# holds the five of Kubernetes (150 MB instead of 400, one link instead of five) and runs the one that it is called as.

# Static programs, no work tree looked at, no path of this machine inside: the same bytes everywhere.
go_settings() {
  export CGO_ENABLED=0 GOWORK=off GOTOOLCHAIN=local GOFLAGS='-buildvcs=false -trimpath'
  export GOCACHE=${GOCACHE:-$CACHE/build/go-build} GOMODCACHE=${GOMODCACHE:-$CACHE/build/go-mod}
}

build_kubernetes() {
  local folder=${1:?} version package flags='-s -w' date
  cd "$here/kube"
  version=$(module_version k8s.io/kubernetes)
  date=$("$go" list -m -f '{{.Time.Format "2006-01-02T15:04:05Z"}}' k8s.io/kubernetes)
  # Without these the server calls itself v0.0.0-master, and clients that compare versions misbehave.
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$version")"
    flags+=" -X $package.gitTreeState=clean -X $package.buildDate=$date"
  done
  echo "total: $("$go" list -deps . | wc -l)"
  "$go" build -v -ldflags "$flags" -o "$folder/kube" .
  [[ $("$folder/kube" kubelet --version) == "Kubernetes $version" ]] || die "the built kube does not run"
  link_components "$folder"
}

link_components() {
  local component
  for component in $(members_of kubernetes); do
    ln -sfn kube "$1/$component"
  done
}

build_etcd() {
  cd "$here/kube"
  echo "total: $("$go" list -deps go.etcd.io/etcd/server/v3 | wc -l)"
  "$go" build -v -ldflags '-s -w' -o "${1:?}/etcd" go.etcd.io/etcd/server/v3
  "$1/etcd" --version
}

# Helm, kubeconform and CoreDNS share most of what they are made of with Kubernetes and each other: built behind it with the
# same versions of that (the replacements in tools/go.mod), they take less than half of the time.
build_tools() {
  local folder=${1:?} helm=helm.sh/helm/v4
  local programs=("$helm/cmd/helm" github.com/yannh/kubeconform/cmd/kubeconform ./coredns)
  cd "$here/tools"
  echo "total: $("$go" list -deps "${programs[@]}" | wc -l)"
  # Without it helm calls itself v4.3, and charts cannot ask for a patch.
  "$go" build -v -ldflags "-s -w -X $helm/internal/version.version=$(module_version $helm tools)" -o "$folder/" "${programs[@]}"
  "$folder/helm" version --short
  "$folder/kubeconform" -v
  "$folder/coredns" -version
}

# krew is apart from the other tools: only a long suite runs it, and it needs an older client-go.
build_krew() {
  local folder=${1:?} program=sigs.k8s.io/krew/cmd/krew
  cd "$here/krew"
  echo "total: $("$go" list -deps "$program" | wc -l)"
  "$go" build -v -ldflags '-s -w' -o "$folder/" "$program"
  KREW_ROOT=$folder/none "$folder/krew" version
}

# `go build -v` names each package when it starts compiling it.
packages() {
  local total
  total=$(sed -n 's/^total: //p' "$1")
  printf '%s of %s packages compiled, now %s' "$(grep -vcE '^(go|total): ' "$1" || true)" "${total:-many}" "$(tail -n 1 "$1")"
}

# install_build SET
install_build() {
  local free
  mkdir -p "$CACHE/build"
  free=$(df --output=avail -BG "$CACHE" | tail -n 1 | tr -dc 0-9)
  ((free >= 7)) || die "building needs 7 GB in $CACHE for a while, $free GB are free"
  find_go
  go_settings
  say "$1: building with Go $(version_of "$go") from $(go_proxy)"
  with_progress "$1-build" packages keep "$(stored_as "$1")go$(version_of "$go")" "build_$1"
}

# Module caches are read-only folders, even for their owner.
remove_build() {
  [[ ! -d $CACHE/build ]] || chmod -R u+w "$CACHE/build"
  rm -rf "$CACHE/build" "$STORE/go-toolchain"
}
