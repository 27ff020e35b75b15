# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: what may stand in the way of the migration of a management cluster.

check_cluster() {
  may_all "${rights[@]}" list/secrets list/configmaps delete/namespaces {create,patch,delete}/persistentvolumeclaims {update,patch}/"$kind"
}

check_theirs() {
  found "deployed operator: ${operators[*]:-none}"
  found "deployed Viola: ${violas[*]:-none}"
  ((${#operators[@]} > 0)) ||
    block nothing "no Deployment of this cluster runs the deployed operator" \
      "install MultiNIC anew: ./deploy-operator.sh; or, if it was scaled to 0 by a migration, give its --backup"
  check_deployments "${deployments[@]}"
  if there crd "$lifecycle" && there "$lifecycle" -A; then
    mind "there is a MultiNicOperator, which stays valid: to have it install our operator, run ./deploy-operator.sh --lifecycle instead of this script, and set its annotation multinic.io/take-over"
  fi
}

lifecycle=multinicoperators.multinic.example.com
providers=()

# What our operator answers with ConfigError, or what it would quarrel with.
check_configs() {
  if ! there crd "$kind"; then
    found "OpenstackConfigs: none, the kind $kind is not installed"
    return
  fi
  local where provider cloud project direct by_secret subnets leaving viola contrabass insecure own_key_of number=0 ready
  local bad=() leaves=() keyless=() elsewhere=()
  local -A named=() spaces=() states=()
  rows "{{.metadata.namespace}}/{{.metadata.name}}$sep{{with .spec.credentials}}{{with .k8sProviderID}}{{.}}{{end}}$sep{{with .openstackProviderID}}{{.}}{{end}}$sep{{with .projectID}}{{.}}{{end}}$sep{{with .authURL}}{{.}}{{end}}$sep{{with .secretRef}}{{.name}}{{end}}{{else}}$sep$sep$sep$sep{{end}}$sep{{range .spec.subnetIDs}}{{.}}{{end}}{{with .spec.subnetID}}{{.}}{{end}}{{with .spec.subnetName}}{{.}}{{end}}$sep{{with .metadata.deletionTimestamp}}{{.}}{{end}}$sep{{with .spec.settings}}{{with .violaEndpoint}}{{.}}{{end}}$sep{{with .contrabassEndpoint}}{{.}}{{end}}$sep{{if .contrabassInsecureTLS}}contrabass{{end}}{{if .openstackInsecureTLS}} openstack{{end}}$sep{{with .contrabassEncryptKey}}set{{end}}{{else}}$sep$sep$sep{{end}}{{with .spec.secrets}}{{with .contrabassEncryptKeySecretRef}}{{.name}}{{end}}{{end}}$sep{{with .status}}{{range .conditions}}{{if eq .type \"Ready\"}}{{.status}} {{.reason}}{{end}}{{end}}{{end}}" "$kind" -A
  while IFS=$sep read -r where provider cloud project direct by_secret subnets leaving viola contrabass insecure own_key_of ready; do
    [[ -n $where ]] || continue
    number=$((number + 1))
    states[${ready:-not looked at}]=$((${states[${ready:-not looked at}]:-0} + 1))
    spaces[${where%/*}]=1
    [[ -z $leaving ]] || leaves+=("$where")
    [[ -n $cloud || -n $direct$by_secret ]] || bad+=("$where: credentials.openstackProviderID is missing")
    [[ -n $provider$cloud ]] || bad+=("$where: credentials.k8sProviderID is missing")
    [[ -n $project$by_secret ]] || bad+=("$where: credentials.projectID is missing")
    [[ -n $subnets ]] || bad+=("$where: names no subnet")
    [[ -z $provider$cloud ]] || named[${provider:-$cloud}]=1
    [[ -z $contrabass || -n $own_key_of ]] || has_key "${where%/*}" || keyless+=("$where: $contrabass")
    [[ -z $insecure ]] || unverified "$where" "$insecure" "$contrabass"
    [[ -z $viola ]] || mind "OpenstackConfig $where names a Viola of its own ($viola): that is taken out of it, and put back on the way back"
  done <<<"$answer"
  providers=("${!named[@]}")
  found "OpenstackConfigs: $number$(for ready in "${!states[@]}"; do printf ', %s %s' "${states[$ready]}" "$ready"; done)"
  map_namespaces "${!spaces[@]}"
  map_unverified
  check_servers
  block_all configs "what our operator refuses (ConfigError); NICs of these stay as they are, and nobody looks after them" "correct them" "${bad[@]}"
  block_all leaving "OpenstackConfigs are being deleted, and something holds them" "see their finalizers" "${leaves[@]}"
  block_all key "these name a Contrabass and have no encrypt key of their own: ours shows its own key to no endpoint that only an object vouches for (PolicyDenied)" \
    "allow them: -- --set 'operator.settings.allowedEndpoints={https://contrabass.example.com}'; or create Secret contrabass-encrypt-key in their namespace" "${keyless[@]}"
}

# has_key NAMESPACE: the Secret in which every generation looks for the key.
has_key() {
  there secret contrabass-encrypt-key -n "$1"
}

# map_namespaces NAMESPACE…: where our operator may read the keys that objects refer to, and whose objects may take over node
# configs of the deployed system, which name no OpenstackConfig.
map_namespaces() {
  local it list=''
  for it; do list+="${list:+, }$it"; done
  [[ -z $list ]] || setting_of operator "legacyTakeOver: [$list]"
  [[ -z $list || $list == multinic-system ]] || setting_of operator "secretNamespaces: [$list]"
}

# Origins at which OpenstackConfigs have certificates not verified.
declare -A origins=()

# unverified OBJECT WHAT CONTRABASS: which those of one are. Of a cloud only Contrabass and its catalog know them.
unverified() {
  local url=$3
  mind "OpenstackConfig $1 has certificates not verified (${2# }): operator.settings.insecureTlsEndpoints lets it; better give our operator the authority (contrabassCaFile, openstackCaFile) and take that out"
  [[ $2 != *openstack* ]] || origins['*']=1
  [[ $2 == contrabass* ]] || return 0
  [[ -n $url ]] || url=$(sed -n 's/^ *contrabassEndpoint: "\(.*\)"$/\1/p' <<<"${settings_in[operator]:-}")
  [[ ! $url =~ ^https://[^/?#]+ ]] || origins["${BASH_REMATCH[0]}"]=1
}

# map_unverified: our operator lets them.
map_unverified() {
  local it list=''
  while read -r it; do list+="${list:+, }\"$it\""; done < <(printf '%s\n' "${!origins[@]}" | sed '/^$/d' | sort)
  [[ -z $list ]] || setting_of operator "insecureTlsEndpoints: [$list]"
}

# check_servers: one OpenstackConfig has each server. The deployed operator compared what is no UUID with UUIDs.
check_servers() {
  local where provider server key twice=()
  local -A holder=()
  rows "{{\$where := printf \"%v/%v\" .metadata.namespace .metadata.name}}{{\$provider := \"\"}}{{with .spec.credentials}}{{with .openstackProviderID}}{{\$provider = .}}{{end}}{{with .k8sProviderID}}{{\$provider = .}}{{end}}{{end}}{{range .spec.vmNames}}{{\$where}}$sep{{\$provider}}$sep{{.}}{{\"\\n\"}}{{end}}" "$kind" -A
  while IFS=$sep read -r where provider server; do
    [[ -n $where ]] || continue
    if [[ ${server,,} =~ ^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$ ]]; then
      server=${server,,}
    else
      mind "OpenstackConfig $where has \"$server\" in vmNames, which gave it no NICs so far: ours serves the one server of this name (docs/guides/selection.md)"
    fi
    key=$provider/$server
    [[ -z ${holder[$key]:-} || ${holder[$key]} == "$where" ]] || twice+=("$server: ${holder[$key]} and $where")
    holder[$key]=$where
  done <<<"$answer"
  block_all claims "servers that two OpenstackConfigs have: the deployed operator overwrote one by the other, ours says NameConflict for the second" \
    "take each server out of one of them" "${twice[@]}"
}

# check_clusters: every business cluster is registered, and its own half is migrated.
check_clusters() {
  local it row missing=() behind=() known=''
  if there namespace "$clusters"; then
    rows "$(label multinic.io/provider-id)$sep{{.metadata.name}}" secrets -n "$clusters" -l multinic.io/provider-id
    known=$answer
  fi
  for it in "${providers[@]}"; do
    row=$(row_of "$it$sep" <<<"$known")
    if [[ -z $row ]]; then
      missing+=("$it")
    elif ! ready_cluster "${row#*"$sep"}"; then
      behind+=("$it")
    fi
  done
  found "business clusters that OpenstackConfigs name: ${providers[*]:-none}"
  block_all clusters "these are not registered, and our Viola writes nowhere else" \
    "kubectl create namespace $clusters; then for each: multinic register-cluster ID --kubeconfig FILE (docs/guides/register-cluster.md)" "${missing[@]}"
  block_all half "their half agent is not migrated, or they cannot be asked from here" \
    "migrate each business cluster first: $0 check --half agent" "${behind[@]}"
}

# ready_cluster SECRET: whether the kind is there in our version.
ready_cluster() {
  in_cluster "$1" -o name >/dev/null 2>&1
}

# in_cluster SECRET ARGUMENT…: `kubectl get` of the node configs of a registered cluster, as Viola reads them.
in_cluster() {
  local secret=$1
  shift
  ask get secret "$secret" -n "$clusters" -o 'go-template={{with .data}}{{with .kubeconfig}}{{. | base64decode}}{{end}}{{end}}'
  if [[ -z $answer ]]; then
    ask get secret "$secret" -n "$clusters" -o 'go-template=apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: "{{.data.server | base64decode}}", certificate-authority-data: "{{index .data "ca.crt"}}"}}]
users: [{name: it, user: {token: "{{.data.token | base64decode}}"}}]'
  fi
  (umask 077 && printf '%s\n' "$answer" >"$scratch/registered")
  kubectl --kubeconfig "$scratch/registered" get multinicnodeconfigs.v1.multinic.io -n multinic-system --request-timeout=15s "$@"
}

# check_names: with ours a NIC keeps its name; the deployed operator numbers all of a node by their MACs, each time it sends it.
check_names() {
  local secret rows name nics nic place list=() renamed=() silent=()
  there namespace "$clusters" || return 0
  ask get secrets -n "$clusters" -l multinic.io/provider-id -o 'jsonpath={.items[*].metadata.name}'
  for secret in $answer; do
    rows=$(in_cluster "$secret" -o "go-template={{range .items}}{{.metadata.name}}$sep{{range .spec.interfaces}}{{.macAddress}}={{.name}} {{end}}{{\"\n\"}}{{end}}" 2>/dev/null) ||
      { silent+=("$secret"); continue; }
    while IFS=$sep read -r name nics; do
      mapfile -t list < <(tr ' ' '\n' <<<"${nics,,}" | sed '/^$/d' | sort)
      place=0
      for nic in "${list[@]}"; do
        [[ ${nic#*=} == "multinic$place" ]] || renamed+=("$secret: $name: ${nic#*=} would be multinic$place (MAC ${nic%=*})")
        place=$((place + 1))
      done
    done <<<"$rows"
  done
  block_all numbers "the deployed operator numbers NICs by their MACs; our agents let these keep their names all the same, those of the deployed system rename them while they are in use" \
    "detach them first, or accept it" "${renamed[@]}"
  block_all silent "these clusters cannot be asked from here whether the deployed operator would rename NICs of theirs" \
    "run this where their API servers can be reached" "${silent[@]}"
}
