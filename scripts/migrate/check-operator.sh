# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: obstacles to the migration of a management cluster.

check_cluster() {
  may_all "${rights[@]}" list/secrets list/configmaps delete/namespaces {create,patch,delete}/persistentvolumeclaims {update,patch}/"$kind"
}

check_legacy_system() {
  finding "legacy operator: ${operators[*]:-none}"
  finding "legacy Viola: ${violas[*]:-none}"
  ((${#operators[@]} > 0)) ||
    block nothing "no Deployment of this cluster runs the legacy operator" \
      "install MultiNIC: ./deploy-operator.sh; or, if a migration scaled the legacy operator to 0, pass the --backup of this migration"
  check_deployments "${deployments[@]}"
  if exists crd "$lifecycle" && exists "$lifecycle" -A; then
    notice "this cluster has a MultiNicOperator, and the object stays valid: to install MultiNIC's operator with this object, run ./deploy-operator.sh --lifecycle instead of this script, and set the annotation multinic.io/take-over"
  fi
}

lifecycle=multinicoperators.multinic.example.com
providers=()

# OpenstackConfigs that MultiNIC's operator rejects (ConfigError) or does not serve.
check_configs() {
  if ! exists crd "$kind"; then
    finding "OpenstackConfigs: none, the CRD $kind is not installed"
    return
  fi
  local where provider cloud project direct by_secret subnets leaving viola contrabass insecure own_key_of number=0 ready
  local bad=() leaves=() keyless=() elsewhere=()
  local -A named=() spaces=() states=()
  rows "{{.metadata.namespace}}/{{.metadata.name}}$sep{{with .spec.credentials}}{{with .k8sProviderID}}{{.}}{{end}}$sep{{with .openstackProviderID}}{{.}}{{end}}$sep{{with .projectID}}{{.}}{{end}}$sep{{with .authURL}}{{.}}{{end}}$sep{{with .secretRef}}{{.name}}{{end}}{{else}}$sep$sep$sep$sep{{end}}$sep{{range .spec.subnetIDs}}{{.}}{{end}}{{with .spec.subnetID}}{{.}}{{end}}{{with .spec.subnetName}}{{.}}{{end}}$sep{{with .metadata.deletionTimestamp}}{{.}}{{end}}$sep{{with .spec.settings}}{{with .violaEndpoint}}{{.}}{{end}}$sep{{with .contrabassEndpoint}}{{.}}{{end}}$sep{{if .contrabassInsecureTLS}}contrabass{{end}}{{if .openstackInsecureTLS}} openstack{{end}}$sep{{with .contrabassEncryptKey}}set{{end}}{{else}}$sep$sep$sep{{end}}{{with .spec.secrets}}{{with .contrabassEncryptKeySecretRef}}{{.name}}{{end}}{{end}}$sep{{with .status}}{{range .conditions}}{{if eq .type \"Ready\"}}{{.status}} {{.reason}}{{end}}{{end}}{{end}}" "$kind" -A
  while IFS=$sep read -r where provider cloud project direct by_secret subnets leaving viola contrabass insecure own_key_of ready; do
    [[ -n $where ]] || continue
    number=$((number + 1))
    states[${ready:-not observed}]=$((${states[${ready:-not observed}]:-0} + 1))
    spaces[${where%/*}]=1
    [[ -z $leaving ]] || leaves+=("$where")
    [[ -n $cloud || -n $direct$by_secret ]] || bad+=("$where: credentials.openstackProviderID is missing")
    [[ -n $provider$cloud ]] || bad+=("$where: credentials.k8sProviderID is missing")
    [[ -n $project$by_secret ]] || bad+=("$where: credentials.projectID is missing")
    [[ -n $subnets ]] || bad+=("$where: subnetIDs, subnetID and subnetName are missing")
    [[ -z $provider$cloud ]] || named[${provider:-$cloud}]=1
    [[ -z $contrabass || -n $own_key_of ]] || has_key "${where%/*}" || keyless+=("$where: $contrabass")
    [[ -z $insecure ]] || unverified "$where" "$insecure" "$contrabass"
    [[ -z $viola ]] || notice "OpenstackConfig $where sets violaEndpoint ($viola): forward removes the field, and back restores the value"
  done <<<"$answer"
  providers=("${!named[@]}")
  finding "OpenstackConfigs: $number$(for ready in "${!states[@]}"; do printf ', %s %s' "${states[$ready]}" "$ready"; done)"
  map_namespaces "${!spaces[@]}"
  map_unverified
  check_servers
  block_all configs "MultiNIC's operator rejects these OpenstackConfigs (ConfigError); their NICs stay unchanged and get no updates" "correct these fields" "${bad[@]}"
  block_all leaving "finalizers delay the deletion of these OpenstackConfigs" "read their finalizers" "${leaves[@]}"
  block_all key "these OpenstackConfigs name a Contrabass without an own encrypt key: MultiNIC sends the operator's key to allowed endpoints only (PolicyDenied)" \
    "allow the endpoints: -- --set 'operator.settings.allowedEndpoints={https://contrabass.example.com}'; or create Secret contrabass-encrypt-key in each namespace" "${keyless[@]}"
}

# has_key NAMESPACE: true if the Secret exists from which every version reads the key.
has_key() {
  exists secret contrabass-encrypt-key -n "$1"
}

# map_namespaces NAMESPACE…: namespaces from which MultiNIC's operator may read keys, and from which OpenstackConfigs may take over
# legacy node configs without a source.
map_namespaces() {
  local object list=''
  for object; do list+="${list:+, }$object"; done
  [[ -z $list ]] || add_setting operator "legacyTakeOver: [$list]"
  [[ -z $list || $list == multinic-system ]] || add_setting operator "secretNamespaces: [$list]"
}

# Origins for which an OpenstackConfig disables certificate verification.
declare -A origins=()

# unverified OBJECT WHAT CONTRABASS: records the origins for an OpenstackConfig. Only Contrabass and the catalog know a cloud's origins.
unverified() {
  local url=$3
  notice "OpenstackConfig $1 disables certificate verification (${2# }): operator.settings.insecureTlsEndpoints allows this; better set the CA (contrabassCaFile, openstackCaFile) and remove these fields"
  [[ $2 != *openstack* ]] || origins['*']=1
  [[ $2 == contrabass* ]] || return 0
  [[ -n $url ]] || url=$(sed -n 's/^ *contrabassEndpoint: "\(.*\)"$/\1/p' <<<"${settings_in[operator]:-}")
  [[ ! $url =~ ^https://[^/?#]+ ]] || origins["${BASH_REMATCH[0]}"]=1
}

# map_unverified: allows these origins in the values.
map_unverified() {
  local object list=''
  while read -r object; do list+="${list:+, }\"$object\""; done < <(printf '%s\n' "${!origins[@]}" | sed '/^$/d' | sort)
  [[ -z $list ]] || add_setting operator "insecureTlsEndpoints: [$list]"
}

# check_servers: each server may be in a single OpenstackConfig. The legacy operator compared names in vmNames with UUIDs.
check_servers() {
  local where provider server key twice=()
  local -A holder=()
  rows "{{\$where := printf \"%v/%v\" .metadata.namespace .metadata.name}}{{\$provider := \"\"}}{{with .spec.credentials}}{{with .openstackProviderID}}{{\$provider = .}}{{end}}{{with .k8sProviderID}}{{\$provider = .}}{{end}}{{end}}{{range .spec.vmNames}}{{\$where}}$sep{{\$provider}}$sep{{.}}{{\"\\n\"}}{{end}}" "$kind" -A
  while IFS=$sep read -r where provider server; do
    [[ -n $where ]] || continue
    if [[ ${server,,} =~ ^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$ ]]; then
      server=${server,,}
    else
      notice "OpenstackConfig $where has \"$server\" in vmNames, a name without NICs so far: MultiNIC serves the server with this name (docs/guides/selection.md)"
    fi
    key=$provider/$server
    [[ -z ${holder[$key]:-} || ${holder[$key]} == "$where" ]] || twice+=("$server: ${holder[$key]} and $where")
    holder[$key]=$where
  done <<<"$answer"
  block_all claims "two OpenstackConfigs select the same server: the legacy operator overwrote the first, MultiNIC reports NameConflict for the second" \
    "remove each server from all but a single OpenstackConfig" "${twice[@]}"
}

# check_clusters: every business cluster must be registered and migrated.
check_clusters() {
  local object row missing=() behind=() known=''
  if exists namespace "$clusters"; then
    rows "$(label multinic.io/provider-id)$sep{{.metadata.name}}" secrets -n "$clusters" -l multinic.io/provider-id
    known=$answer
  fi
  for object in "${providers[@]}"; do
    row=$(row_of "$object$sep" <<<"$known")
    if [[ -z $row ]]; then
      missing+=("$object")
    elif ! ready_cluster "${row#*"$sep"}"; then
      behind+=("$object")
    fi
  done
  finding "business clusters in OpenstackConfigs: ${providers[*]:-none}"
  block_all clusters "these business clusters are not registered; MultiNIC's Viola writes only to registered clusters" \
    "kubectl create namespace $clusters; then for each: multinic register-cluster ID --business-kubeconfig FILE (docs/guides/register-cluster.md)" "${missing[@]}"
  block_all half "these business clusters are not migrated (--half agent), or their API servers do not answer" \
    "migrate each business cluster first: $0 check --half agent" "${behind[@]}"
}

# ready_cluster SECRET: true if the registered cluster serves v1 of the node configs.
ready_cluster() {
  in_cluster "$1" -o name >/dev/null 2>&1
}

# in_cluster SECRET ARGUMENT…: runs `kubectl get` for the node configs in a registered cluster, with Viola's credentials.
in_cluster() {
  local secret=$1
  shift
  read_cluster get secret "$secret" -n "$clusters" -o 'go-template={{with .data}}{{with .kubeconfig}}{{. | base64decode}}{{end}}{{end}}'
  if [[ -z $answer ]]; then
    read_cluster get secret "$secret" -n "$clusters" -o 'go-template=apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: "{{.data.server | base64decode}}", certificate-authority-data: "{{index .data "ca.crt"}}"}}]
users: [{name: it, user: {token: "{{.data.token | base64decode}}"}}]'
  fi
  (umask 077 && printf '%s\n' "$answer" >"$scratch/registered")
  kubectl --kubeconfig "$scratch/registered" get multinicnodeconfigs.v1.multinic.io -n multinic-system --request-timeout=15s "$@"
}

# check_names: MultiNIC never renames a NIC; the legacy operator numbers all NICs of a node by MAC at every POST.
check_names() {
  local secret rows name nics nic number list=() renamed=() silent=()
  exists namespace "$clusters" || return 0
  read_cluster get secrets -n "$clusters" -l multinic.io/provider-id -o 'jsonpath={.items[*].metadata.name}'
  for secret in $answer; do
    rows=$(in_cluster "$secret" -o "go-template={{range .items}}{{.metadata.name}}$sep{{range .spec.interfaces}}{{.macAddress}}={{.name}} {{end}}{{\"\n\"}}{{end}}" 2>/dev/null) ||
      { silent+=("$secret"); continue; }
    while IFS=$sep read -r name nics; do
      mapfile -t list < <(tr ' ' '\n' <<<"${nics,,}" | sed '/^$/d' | sort)
      number=0
      for nic in "${list[@]}"; do
        [[ ${nic#*=} == "multinic$number" ]] || renamed+=("$secret: $name: ${nic#*=} would be multinic$number (MAC ${nic%=*})")
        number=$((number + 1))
      done
    done <<<"$rows"
  done
  block_all numbers "the legacy operator numbers NICs by MAC; MultiNIC's agents leave the names of these NICs unchanged, legacy agents rename NICs in use" \
    "detach these NICs first, or accept the renaming" "${renamed[@]}"
  block_all silent "the API servers of these clusters do not answer; the legacy operator may rename NICs in these clusters" \
    "run this script on a machine with access to their API servers" "${silent[@]}"
}
