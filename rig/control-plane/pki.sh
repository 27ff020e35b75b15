# shellcheck shell=bash
# Sourced: certificates and kubeconfigs of one instance, whose folder is $D and whose name is $name.
# One CA per instance; P-256 keys, because a control plane starts with a dozen of them; valid for 30 days.

authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
    -subj "/CN=multinic-test-$name" -addext keyUsage=critical,keyCertSign,digitalSignature \
    -keyout "$D/pki/ca.key" -out "$D/pki/ca.crt" 2>/dev/null
}

service_account_key() {
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$D/pki/sa.key" 2>/dev/null
  openssl pkey -in "$D/pki/sa.key" -pubout -out "$D/pki/sa.pub"
}

# certificate PATH SUBJECT USAGE [SAN]: makes PATH.key and PATH.crt once.
certificate() {
  local path=$1 subject=$2 usage=$3 names=${4:-} extensions
  [[ ! -s $path.crt ]] || return 0
  extensions=$(printf 'keyUsage=critical,digitalSignature\nextendedKeyUsage=%s\nbasicConstraints=CA:FALSE\n' "$usage")
  [[ -z $names ]] || extensions+=$'\n'"subjectAltName=$names"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -keyout "$path.key" -subj "$subject" -out "$path.csr" 2>/dev/null
  openssl x509 -req -in "$path.csr" -CA "$D/pki/ca.crt" -CAkey "$D/pki/ca.key" \
    -set_serial "0x$(openssl rand -hex 8)" -days 30 -extfile <(echo "$extensions") -out "$path.crt" 2>/dev/null
  rm -f "$path.csr"
}

# kubeconfig FILE CERTIFICATE: for the identity of the client certificate.
kubeconfig() {
  local user=${2##*/}
  cat >"$1" <<YAML
apiVersion: v1
kind: Config
current-context: $name
clusters:
  - name: $name
    cluster:
      server: $server
      certificate-authority-data: $(base64 -w0 "$D/pki/ca.crt")
users:
  - name: $user
    user:
      client-certificate-data: $(base64 -w0 "$2.crt")
      client-key-data: $(base64 -w0 "$2.key")
contexts:
  - name: $name
    context:
      cluster: $name
      user: $user
YAML
}

# user CN [GROUP...]: prints the path of a kubeconfig for an identity of its own. Names may hold characters that a
# file name may not, and the same CN may be asked for with other groups: hence the hash.
user() {
  local cn=$1 subject='' group file
  shift
  for group; do
    subject+="/O=${group//\//\\/}"
  done
  file=$D/pki/user-${cn//[^a-zA-Z0-9.-]/-}-$(printf '%s\n' "$cn" "$@" | sha256sum | cut -c1-8)
  certificate "$file" "$subject/CN=${cn//\//\\/}" clientAuth
  [[ -s $file.kubeconfig ]] || kubeconfig "$file.kubeconfig" "$file"
  echo "$file.kubeconfig"
}
