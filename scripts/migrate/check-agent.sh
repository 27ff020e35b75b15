# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: obstacles to the migration of a business cluster.

check_cluster() {
  may_all "${rights[@]}" list/daemonsets.apps list/nodes {list,delete}/jobs.batch {update,patch}/"$kind"
}

check_legacy_system() {
  local object other=() running=() stray=() row
  finding "legacy controller: ${deployments[*]:-none}"
  ((${#deployments[@]} > 0)) ||
    block nothing "no Deployment of this cluster runs the legacy controller (multinic-controller)" \
      "install MultiNIC: scripts/build-and-deploy.sh; or, if a migration scaled the legacy controller to 0, pass the --backup of this migration"
  for object in "${deployments[@]}"; do
    [[ $object == "$namespace/"* ]] || other+=("$object")
  done
  block_all namespace "the legacy controller is not in namespace $namespace; MultiNIC's controller reads node configs only from $namespace" \
    "check whether the legacy controller reads node configs from $namespace (CONTROLLER_NAMESPACE); forward stops the legacy controller in any case" "${other[@]}"
  check_deployments "${deployments[@]}"
  rows "{{.metadata.namespace}}/{{.metadata.name}}$sep$containers$sep$images" daemonsets -A
  while IFS=$sep read -r object row other; do
    if [[ " $row " =~ [\ /]multinic-agent\  || $other =~ multinic-agent[:@\ ] ]]; then running+=("DaemonSet $object"); fi
  done <<<"$answer"
  block_all daemonset "agents of an earlier generation run on all nodes and write the same files as MultiNIC's agents" \
    "delete the DaemonSet, and wait until no Pod is left" "${running[@]}"
  rows "{{.metadata.namespace}}/{{.metadata.name}}$sep{{range .spec.containers}}{{range .command}}{{.}} {{end}}{{end}}$sep{{range .metadata.ownerReferences}}{{.kind}}{{end}}" pods -A
  while IFS=$sep read -r object row other; do
    if [[ " $row " =~ [\ /]multinic-controller\  && $other != ReplicaSet ]]; then stray+=("Pod $object"); fi
  done <<<"$answer"
  block_all stray "these Pods run the legacy controller and belong to no Deployment" "find their creator, then delete these Pods" "${stray[@]}"
  check_jobs
  check_tokens
}

# check_names: MultiNIC never renames a NIC in use; a legacy agent renames a NIC to the name in spec.interfaces.
check_names() {
  local name desired actual nic mac renamed=()
  exists crd "$kind" || return 0
  rows "{{.metadata.name}}$sep{{range .spec.interfaces}}{{.macAddress}}={{.name}} {{end}}$sep{{with .status}}{{range .interfaceStatuses}}{{.macAddress}}={{.name}} {{end}}{{end}}" "$kind" -n "$namespace"
  while IFS=$sep read -r name desired actual; do
    for nic in ${desired,,}; do
      mac=${nic%=*}
      [[ " ${actual,,}" != *" $mac=multinic"* || " ${actual,,}" == *" $nic "* ]] ||
        renamed+=("$name: $(grep -o "$mac=multinic[0-9]" <<<"${actual,,}" | cut -d= -f2) would be ${nic#*=} (MAC $mac)")
    done
  done <<<"$answer"
  block_all numbers "the names of these NICs differ from spec.interfaces; a legacy agent renames NICs in use" \
    "detach these NICs first, or accept the renaming" "${renamed[@]}"
}

# The ServiceAccounts of both controllers have the same name.
check_tokens() {
  local object account
  rows "{{.metadata.name}}$sep$(annotation kubernetes.io/service-account.name)" secrets -n "$namespace" --field-selector type=kubernetes.io/service-account-token
  while IFS=$sep read -r object account; do
    [[ $account != multinic-agent ]] ||
      notice "Secret $namespace/$object is a token of ServiceAccount multinic-agent. forward replaces this account: foreign clients of the token need a new token"
  done <<<"$answer"
}

check_jobs() {
  local object active working=0 ended=0
  rows "{{.metadata.namespace}}/{{.metadata.name}}$sep{{with .status}}{{.active}}{{end}}" jobs -A "${legacy_jobs[@]}"
  while IFS=$sep read -r object active; do
    [[ -n $object ]] || continue
    if [[ $active == [1-9]* ]]; then working=$((working + 1)); else ended=$((ended + 1)); fi
  done <<<"$answer"
  finding "legacy agents: $working running (forward waits for the end), $ended finished (forward removes their Jobs)"
}

check_configs() {
  if ! exists crd "$kind"; then
    finding "node configs: none, the CRD $kind is not installed"
    return
  fi
  check_kind
  read_nodes
  read_configs
  read_entries
  check_owners
}

check_kind() {
  read_cluster get crd "$kind" -o 'jsonpath={.spec.conversion.strategy}{" "}{.status.storedVersions[*]}'
  finding "CRD $kind: stored versions ${answer#* }"
  [[ $answer =~ ^(None)?\ (v1alpha1|v1|\ )+$ ]] ||
    block kind "$kind has stored versions ${answer#* } and conversion ${answer%% *}, unlike every legacy version" "find the owner of this CRD"
}

# Node names by systemUUID (lower case), systemUUIDs and OS images by node name.
declare -A node_of=() named_node=() os_of=()

read_nodes() {
  local name uuid os ready twice=()
  rows "{{.metadata.name}}$sep{{.status.nodeInfo.systemUUID}}$sep{{.status.nodeInfo.osImage}}$sep{{range .status.conditions}}{{if eq .type \"Ready\"}}{{.status}}{{end}}{{end}}" nodes
  while IFS=$sep read -r name uuid os ready; do
    [[ -n $name ]] || continue
    [[ $ready == True || -z $ready ]] || notice "node $name is not ready: MultiNIC takes over the node config when the node is ready"
    named_node[$name]=${uuid,,}
    os_of[$name]=$os
    [[ -z ${node_of[${uuid,,}]:-} ]] || twice+=("$uuid: ${node_of[${uuid,,}]} and $name")
    node_of[${uuid,,}]=$name
  done <<<"$answer"
  block_all uuid "several nodes have the same systemUUID; MultiNIC sends no agent to these nodes" "find the server of each node: virsh or the cloud assigned the same id twice" "${twice[@]}"
}

read_configs() {
  local where name node id labelled state leaving form id_used on number=0 elsewhere=() nowhere=() leaves=() forms=() differ=0 unsupported=()
  local -A holder=() states=()
  local twice=()
  rows "{{.metadata.namespace}}$sep{{.metadata.name}}$sep{{.spec.nodeName}}$sep{{.spec.instanceId}}$sep$(label multinic.io/instance-id)$sep{{with .status}}{{.state}}{{end}}$sep{{.metadata.deletionTimestamp}}$sep{{with .status}}{{printf \"%T\" .interfaceStatuses}}{{end}}" "$kind" -A
  while IFS=$sep read -r where name node id labelled state leaving form; do
    [[ -n $name ]] || continue
    number=$((number + 1))
    [[ -n $state && $state != '<no value>' ]] || state='without a state'
    states[$state]=$((${states[$state]:-0} + 1))
    [[ $where == "$namespace" ]] || { elsewhere+=("$where/$name"); continue; }
    [[ $leaving == '<no value>' ]] || { leaves+=("$name"); continue; }
    [[ $form != map* ]] || forms+=("$name")
    node=${node/'<no value>'/$name}
    id_used=${id/'<no value>'/$labelled}
    if [[ -n $id_used ]]; then on=${node_of[${id_used,,}]:-}; else on=${named_node[$node]:+$node}; fi
    if [[ -z $on ]]; then
      nowhere+=("$name: instanceId ${id_used:-none}, nodeName $node")
      continue
    fi
    [[ $on == "$node" ]] || differ=$((differ + 1))
    [[ -z ${holder[$on]:-} ]] || twice+=("$on: ${holder[$on]} and $name")
    holder[$on]=$name
    [[ ${os_of[$on]} =~ ^(Ubuntu|Debian) ]] || unsupported+=("$on: ${os_of[$on]}")
  done <<<"$answer"
  finding "node configs: $number$(for state in "${!states[@]}"; do printf ', %s %s' "${states[$state]}" "$state"; done)"
  ((differ == 0)) || notice "$differ node configs have a nodeName unlike the Node's name: MultiNIC finds the node by instance id (condition NameDiffers)"
  block_all elsewhere "MultiNIC does not read node configs outside namespace $namespace" "move these node configs to $namespace, or ignore them" "${elsewhere[@]}"
  block_all node "these node configs match no node; their NICs stay unchanged and get no updates (NodeNotFound)" \
    "delete node configs of removed servers; correct other instance ids (kubectl get nodes -o custom-columns=NAME:.metadata.name,ID:.status.nodeInfo.systemUUID)" "${nowhere[@]}"
  block_all duplicates "several node configs match the same node; MultiNIC applies none (DuplicateInstanceId)" "delete the outdated node config" "${twice[@]}"
  block_all leaving "finalizers delay the deletion of these node configs" "read their finalizers" "${leaves[@]}"
  block_all form "these objects have a status in an early form, refused by every later CRD" \
    "remove this status: kubectl -n $namespace patch mnnc NAME --subresource=status --type=json -p '[{\"op\":\"remove\",\"path\":\"/status/interfaceStatuses\"}]'" "${forms[@]}"
  block_all os "the hosts of these nodes do not use netplan; MultiNIC refuses to configure these hosts" \
    "leave this cluster with the legacy system; README.md lists supported distributions" "${unsupported[@]}"
}

# Entries that MultiNIC's controller rejects (`acceptEntries`). The NIC of a rejected entry stays unchanged.
read_entries() {
  local where entry position id name mac address cidr mtu key why bad=()
  local -A holder=()
  rows "{{\$where := .metadata.name}}{{range \$i, \$e := .spec.interfaces}}{{\$where}}$sep{{\$i}}$sep{{.id}}$sep{{.name}}$sep{{.macAddress}}$sep{{.address}}$sep{{.cidr}}$sep{{.mtu}}{{\"\\n\"}}{{end}}" "$kind" -n "$namespace"
  while IFS=$sep read -r where position id name mac address cidr mtu; do
    [[ -n $where ]] || continue
    entry="$where interfaces[$position]"
    # `acceptEntries` also reads multinic05 as multinic5.
    [[ $name == '<no value>' ]] || id=$(sed -E 's/^multinic0*([0-9])/\1/' <<<"$name")
    why=''
    [[ $id =~ ^([0-9]|'<no value>')$ ]] || why="name $name is not within multinic0 to multinic9"
    [[ $mac =~ ^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$ ]] || why="macAddress ${mac/'<no value>'/is missing}"
    [[ $mtu == '<no value>' ]] || ((mtu >= 68 && mtu <= 9000)) || why="mtu $mtu is not within 68 and 9000"
    case $address,$cidr in
      '<no value>,<no value>') why='address and cidr are missing' ;;
      *) in_subnet "$address" "$cidr" || why="address $address and cidr $cidr do not fit" ;;
    esac
    for key in "multinic${id/'<no value>'/0}" "MAC ${mac,,}" "address $address"; do
      [[ -z ${holder[$where $key]:-} || $key == *'<no value>' ]] || why="$key is claimed by interfaces[${holder[$where $key]}] too"
      holder[$where $key]=${holder[$where $key]:-$position}
    done
    [[ -z $why ]] || bad+=("$entry: $why")
  done <<<"$answer"
  block_all entries "MultiNIC rejects these entries (InvalidEntry); the legacy agent removed such a NIC, MultiNIC leaves the NIC unchanged" \
    "correct these entries at their source" "${bad[@]}"
}

# in_subnet ADDRESS CIDR: IPv4 only, as everywhere in the legacy system.
in_subnet() {
  local -i mask ip net
  number_of "$1" || return 1
  ip=$answer
  [[ $2 =~ /([1-9]|[12][0-9]|3[0-2])$ ]] && number_of "${2%/*}" || return 1
  net=$answer
  mask=$((0xffffffff << (32 - ${2#*/}) & 0xffffffff))
  (((ip & mask) == (net & mask)))
}

number_of() {
  local octet='(0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])'
  [[ $1 =~ ^$octet\.$octet\.$octet\.$octet$ ]] || return 1
  answer=$((BASH_REMATCH[1] << 24 | BASH_REMATCH[2] << 16 | BASH_REMATCH[3] << 8 | BASH_REMATCH[4]))
}

# Field managers of node configs: MultiNIC's Viola takes over fields of the legacy Viola only.
check_owners() {
  local managers manager
  local -A times=()
  read_cluster get "$kind" -n "$namespace" --show-managed-fields -o 'go-template={{range .items}}{{range .metadata.managedFields}}{{if ne (printf "%v" .subresource) "status"}}{{.manager}}{{"\n"}}{{end}}{{end}}{{end}}'
  while read -r manager; do
    [[ -z $manager ]] || times[$manager]=$((${times[$manager]:-0} + 1))
  done <<<"$answer"
  managers=$(for manager in "${!times[@]}"; do printf ', %s (%s)' "$manager" "${times[$manager]}"; done)
  finding "specs written by: ${managers#, }"
  for manager in "${!times[@]}"; do
    case $manager in
      kubectl-client-side-apply | kubectl | viola | controller | multinic-controller | kubectl-annotate | kubectl-label | kubectl-patch | kubectl-edit) ;;
      *) notice "$manager writes node configs too: further writes cause a FieldConflict at MultiNIC's Viola" ;;
    esac
  done
}
