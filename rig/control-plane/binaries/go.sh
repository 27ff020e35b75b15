# shellcheck shell=bash
# Sourced: a Go that can build what kube/go.mod pins: the machine's own, else Go's toolchain from the Go module proxy.

# version_of GO: such as 1.26.8. GOTOOLCHAIN=local, or an old Go would fetch a new one by itself, unseen.
version_of() {
  GOTOOLCHAIN=local "$1" env GOVERSION | sed -E 's/^go([0-9.]+).*/\1/'
}

new_enough() {
  local wanted
  wanted=$(awk '$1 == "go" { print $2 }' "$here/kube/go.mod")
  [[ $(printf '%s\n' "$wanted" "$(version_of "$1")" | sort -V | head -n 1) == "$wanted" ]]
}

# The first plain proxy of GOPROXY's list, which may also hold "direct" and "off".
go_proxy() {
  local proxy list=${GOPROXY:-https://proxy.golang.org}
  for proxy in ${list//[,|]/ }; do
    [[ $proxy != http*://* ]] || { echo "${proxy%/}"; return; }
  done
  echo https://proxy.golang.org
}

# Unzipping loses which files are programs.
unpack() {
  local archive=$1 folder=$2
  if command -v unzip >/dev/null; then
    unzip -q "$archive" -d "$folder"
  else
    python3 -m zipfile -e "$archive" "$folder"
  fi
  find "$folder" \( -path '*/bin/*' -o -path '*/pkg/tool/*' \) -type f -exec chmod 755 {} +
}

fetch_go() {
  local folder=${1:?} archive pinned
  pinned=$here/binaries/go-toolchain.sha256
  archive=$(awk -v machine="$(machine).zip" 'index($2, machine) { print $2 }' "$pinned")
  fetch "$(go_proxy)/golang.org/toolchain/@v/$archive" "$folder/$archive"
  (cd "$folder" && sha256sum -c --quiet --ignore-missing "$pinned") || return 1
  unpack "$folder/$archive" "$folder"
  mv "$folder/golang.org/toolchain@${archive%.zip}" "$folder/go"
  rm -r "$folder/$archive" "$folder/golang.org"
}

downloaded() {
  du -sh "$STORE/go-toolchain.part" | cut -f1
}

# find_go: sets $go.
find_go() {
  go=$(command -v go || true)
  if [[ -n $go ]] && new_enough "$go"; then return; fi
  go=$STORE/go-toolchain/go/bin/go
  [[ -x $go ]] && new_enough "$go" && return
  say "no Go of at least $(awk '$1 == "go" { print $2 }' "$here/kube/go.mod") on this machine: fetching it from $(go_proxy) (70 MB)"
  command -v unzip >/dev/null || command -v python3 >/dev/null || install_packages unzip
  rm -rf "$STORE/go-toolchain"
  with_progress go-toolchain downloaded keep go-toolchain fetch_go
}
