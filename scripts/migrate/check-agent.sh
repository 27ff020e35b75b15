# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: what may stand in the way of the migration of a business cluster.

check_cluster() {
  may_all "${rights[@]}" list/daemonsets.apps list/nodes {list,delete}/jobs.batch {update,patch}/"$kind"
}

check_theirs() {
  local it other=() running=() stray=() row
  found "deployed controller: ${deployments[*]:-none}"
  ((${#deployments[@]} > 0)) ||
    block nothing "no Deployment of this cluster runs the deployed controller (multinic-controller)" \
      "install MultiNIC anew: scripts/build-and-deploy.sh; or, if it was scaled to 0 by a migration, give its --backup"
  for it in "${deployments[@]}"; do
    [[ $it == "$namespace/"* ]] || other+=("$it")
  done
  block_all namespace "the deployed controller is not in namespace $namespace, where ours looks for node configs" \
    "see whether it looks at node configs there (CONTROLLER_NAMESPACE); it is stopped in any case" "${other[@]}"
  check_deployments "${deployments[@]}"
  rows "{{.metadata.namespace}}/{{.metadata.name}}$sep$containers$sep$images" daemonsets -A
  while IFS=$sep read -r it row other; do
    if [[ " $row " =~ [\ /]multinic-agent\  || $other =~ multinic-agent[:@\ ] ]]; then running+=("DaemonSet $it"); fi
  done <<<"$answer"
  block_all daemonset "agents of an earlier generation run on all nodes and write the same files as ours" \
    "delete the DaemonSet, and wait until its Pods are gone" "${running[@]}"
  rows "{{.metadata.namespace}}/{{.metadata.name}}$sep{{range .spec.containers}}{{range .command}}{{.}} {{end}}{{end}}$sep{{range .metadata.ownerReferences}}{{.kind}}{{end}}" pods -A
  while IFS=$sep read -r it row other; do
    if [[ " $row " =~ [\ /]multinic-controller\  && $other != ReplicaSet ]]; then stray+=("Pod $it"); fi
  done <<<"$answer"
  block_all stray "these Pods run the deployed controller and belong to no Deployment" "find out who made them, and delete them" "${stray[@]}"
  check_jobs
  check_tokens
}

# check_names: with ours a NIC keeps its name whatever its entry says by now; a deployed agent gives it the one of its entry.
check_names() {
  local name asked real nic mac renamed=()
  there crd "$kind" || return 0
  rows "{{.metadata.name}}$sep{{range .spec.interfaces}}{{.macAddress}}={{.name}} {{end}}$sep{{with .status}}{{range .interfaceStatuses}}{{.macAddress}}={{.name}} {{end}}{{end}}" "$kind" -n "$namespace"
  while IFS=$sep read -r name asked real; do
    for nic in ${asked,,}; do
      mac=${nic%=*}
      [[ " ${real,,}" != *" $mac=multinic"* || " ${real,,}" == *" $nic "* ]] ||
        renamed+=("$name: $(grep -o "$mac=multinic[0-9]" <<<"${real,,}" | cut -d= -f2) would be ${nic#*=} (MAC $mac)")
    done
  done <<<"$answer"
  block_all numbers "these NICs are called otherwise than their entries say; a deployed agent renames them while they are in use" \
    "detach them first, or accept it" "${renamed[@]}"
}

# The account of our controller has the name of theirs.
check_tokens() {
  local it account
  rows "{{.metadata.name}}$sep$(annotation kubernetes.io/service-account.name)" secrets -n "$namespace" --field-selector type=kubernetes.io/service-account-token
  while IFS=$sep read -r it account; do
    [[ $account != multinic-agent ]] ||
      mind "Secret $namespace/$it is a token of ServiceAccount multinic-agent, which is replaced: who uses it elsewhere needs another one"
  done <<<"$answer"
}

check_jobs() {
  local it active working=0 ended=0
  rows "{{.metadata.namespace}}/{{.metadata.name}}$sep{{with .status}}{{.active}}{{end}}" jobs -A "${their_jobs[@]}"
  while IFS=$sep read -r it active; do
    [[ -n $it ]] || continue
    if [[ $active == [1-9]* ]]; then working=$((working + 1)); else ended=$((ended + 1)); fi
  done <<<"$answer"
  found "its agents: $working at work, which are waited for; $ended that have ended, whose Jobs are removed"
}

check_configs() {
  if ! there crd "$kind"; then
    found "node configs: none, the kind $kind is not installed"
    return
  fi
  check_kind
  read_nodes
  read_configs
  read_entries
  check_owners
}

check_kind() {
  ask get crd "$kind" -o 'jsonpath={.spec.conversion.strategy}{" "}{.status.storedVersions[*]}'
  found "kind $kind: stored as ${answer#* }"
  [[ $answer =~ ^(None)?\ (v1alpha1|v1|\ )+$ ]] ||
    block kind "$kind is stored as ${answer#* } with conversion ${answer%% *}: not as any deployed generation" "find out whose kind this is"
}

# Node names by systemUUID, lower case; and how many have it.
declare -A node_of=() named_node=() os_of=()

read_nodes() {
  local name uuid os ready twice=()
  rows "{{.metadata.name}}$sep{{.status.nodeInfo.systemUUID}}$sep{{.status.nodeInfo.osImage}}$sep{{range .status.conditions}}{{if eq .type \"Ready\"}}{{.status}}{{end}}{{end}}" nodes
  while IFS=$sep read -r name uuid os ready; do
    [[ -n $name ]] || continue
    [[ $ready == True || -z $ready ]] || mind "node $name is not ready: its node config is taken over when it is"
    named_node[$name]=${uuid,,}
    os_of[$name]=$os
    [[ -z ${node_of[${uuid,,}]:-} ]] || twice+=("$uuid: ${node_of[${uuid,,}]} and $name")
    node_of[${uuid,,}]=$name
  done <<<"$answer"
  block_all uuid "several nodes have one systemUUID; ours sends no agent to either" "see which server each is: virsh or the cloud gave out one id twice" "${twice[@]}"
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
  found "node configs: $number$(for state in "${!states[@]}"; do printf ', %s %s' "${states[$state]}" "$state"; done)"
  ((differ == 0)) || mind "$differ node configs name their node differently than Kubernetes does: the instance id counts (condition NameDiffers)"
  block_all elsewhere "node configs outside of namespace $namespace are not looked at by ours" "move them to $namespace, or leave them" "${elsewhere[@]}"
  block_all node "no node is meant by these node configs; their NICs stay as they are, and nobody configures them (NodeNotFound)" \
    "delete those of servers that are gone; correct the instance id of others (kubectl get nodes -o custom-columns=NAME:.metadata.name,ID:.status.nodeInfo.systemUUID)" "${nowhere[@]}"
  block_all duplicates "several node configs mean one node; ours applies neither (DuplicateInstanceId)" "delete the one that is out of date" "${twice[@]}"
  block_all leaving "node configs are being deleted, and something holds them" "see their finalizers" "${leaves[@]}"
  block_all form "the status of these has the form of an early generation, which no later definition of the kind accepts" \
    "drop it: kubectl -n $namespace patch mnnc NAME --subresource=status --type=json -p '[{\"op\":\"remove\",\"path\":\"/status/interfaceStatuses\"}]'" "${forms[@]}"
  block_all os "the hosts of these nodes are not of the netplan family: ours refuses to touch them" \
    "leave this cluster with the deployed system until they are supported; README.md says what is" "${unsupported[@]}"
}

# What `acceptEntries` of our controller would not use; such an entry keeps its NIC as it is.
read_entries() {
  local where entry position id name mac address cidr mtu key why bad=()
  local -A holder=()
  rows "{{\$where := .metadata.name}}{{range \$i, \$e := .spec.interfaces}}{{\$where}}$sep{{\$i}}$sep{{.id}}$sep{{.name}}$sep{{.macAddress}}$sep{{.address}}$sep{{.cidr}}$sep{{.mtu}}{{\"\\n\"}}{{end}}" "$kind" -n "$namespace"
  while IFS=$sep read -r where position id name mac address cidr mtu; do
    [[ -n $where ]] || continue
    entry="$where interfaces[$position]"
    # As there, multinic05 is another way to write multinic5.
    [[ $name == '<no value>' ]] || id=$(sed -E 's/^multinic0*([0-9])/\1/' <<<"$name")
    why=''
    [[ $id =~ ^([0-9]|'<no value>')$ ]] || why="$name is not one of multinic0 to multinic9"
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
  block_all entries "entries that ours does not use (InvalidEntry); the deployed agent took such a NIC for removed, ours leaves it as it is" \
    "correct them where they come from" "${bad[@]}"
}

# in_subnet ADDRESS CIDR: IPv4 only, as everywhere in the deployed system.
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

# Whoever wrote fields last: our Viola takes over what the deployed one wrote, and nobody else's.
check_owners() {
  local managers manager
  local -A times=()
  ask get "$kind" -n "$namespace" --show-managed-fields -o 'go-template={{range .items}}{{range .metadata.managedFields}}{{if ne (printf "%v" .subresource) "status"}}{{.manager}}{{"\n"}}{{end}}{{end}}{{end}}'
  while read -r manager; do
    [[ -z $manager ]] || times[$manager]=$((${times[$manager]:-0} + 1))
  done <<<"$answer"
  managers=$(for manager in "${!times[@]}"; do printf ', %s (%s)' "$manager" "${times[$manager]}"; done)
  found "specs written by: ${managers#, }"
  for manager in "${!times[@]}"; do
    case $manager in
      kubectl-client-side-apply | kubectl | viola | controller | multinic-controller | kubectl-annotate | kubectl-label | kubectl-patch | kubectl-edit) ;;
      *) mind "$manager writes node configs too: what it goes on writing is a FieldConflict for our Viola" ;;
    esac
  done
}
