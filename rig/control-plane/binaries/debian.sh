# shellcheck shell=bash
# Sourced: containerd, runc, CNI plugins and nft, unpacked from Debian's packages, not installed. Debian 12's run on every newer
# system. Its containerd 1.6 lacks the RuntimeConfig call, which kubelet 1.37 still does without.

# What nft is linked against, but for the C library: a box has less of it than this machine.
nft_libraries=(libnftables1 libnftnl11 libmnl0 libxtables12 libjansson4 libgmp10 libedit2 libbsd0 libmd0 libtinfo6)

# Package lists of its own: the machine's apt is not touched; same mirror, same keyring.
private_apt() {
  local tool=$1 folder=$CACHE/build/apt
  shift
  "$tool" -oDir::Etc::sourcelist="$folder/sources.list" -oDir::Etc::sourceparts=/dev/null -oDir::State::Lists="$folder/lists" \
    -oDir::Cache="$folder/cache" -oDir::State::status="$folder/status" -oAPT::Sandbox::User=root "$@"
}

# The mirror that this machine's apt uses for its own release has the others too.
debian_mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb (\[[^]]*\] )?([^ ]+).*/\2/p' | sed -n 1p
}

unpack_runtime() {
  local folder=${1:?} work=$CACHE/build/runtime package mirror
  mkdir -p "$CACHE"/build/apt/{lists/partial,cache/archives/partial}
  rm -rf "$work"
  mkdir -p "$work"
  : >"$CACHE/build/apt/status"
  mirror=$(debian_mirror || true)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian} bookworm main" >"$CACHE/build/apt/sources.list"
  private_apt apt-get update
  cd "$work"
  private_apt apt-get download containerd runc containernetworking-plugins nftables "${nft_libraries[@]}"
  for package in *.deb; do
    dpkg -x "$package" root
  done
  cp root/usr/bin/{containerd,ctr,containerd-shim-runc-v2} root/usr/sbin/runc "$folder/"
  cp -r root/usr/lib/cni "$folder/cni"
  mkdir "$folder/nftables"
  find root -name '*.so.*' -exec cp -P -t "$folder/nftables" {} +
  cp root/usr/sbin/nft "$folder/nftables/"
  "$folder/containerd" --version
  "$folder/runc" --version
  LD_LIBRARY_PATH=$folder/nftables "$folder/nftables/nft" --version
}

install_debian() {
  command -v dpkg >/dev/null || die "no Debian here: put containerd, ctr, containerd-shim-runc-v2 and runc on PATH and CNI plugins into /opt/cni/bin"
  with_progress runtime last_line keep "$(stored_as runtime)" unpack_runtime
}
