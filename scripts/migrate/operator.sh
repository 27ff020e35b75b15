# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: the half of the management cluster. In the step viola our Viola stands in a namespace of its own and takes what the
# deployed operator sends, without a token, beside an operator of ours that has nothing to do but to keep its certificate: names
# in the namespace of the release are still the deployed operator's. In the step operator ours takes its place.

release=multinic-operator
namespace=multinic-operator-system
bridge=multinic-migration
bridge_url=http://viola-api.$bridge.svc:80
clusters=multinic-clusters
key_secret=multinic-operator-contrabass
kind=openstackconfigs.multinic.example.com
marker=multinic-migration-operator
finalizers=(multinic.example.com/cleanup multinic.example.com/finalizer multinic.example.com/operator-finalizer)
# What an object says of itself, for comparison afterwards, and what it says when it is well.
said='{{with .status}}{{range .conditions}}{{if eq .type "Ready"}}{{.status}}{{end}}{{end}}{{end}}'
well=True

find_deployments() {
  deployments_of is_viola
  violas=("${deployments[@]}")
  deployments_of is_operator
  operators=("${deployments[@]}")
  deployments=("${operators[@]}" "${violas[@]}")
}

look() {
  local it
  check_cluster
  find_deployments
  for it in "${deployments[@]}"; do note_deployment "$it"; done
  note_in_the_way
  for it in "${deployments[@]}" "$namespace/" multinic-system/; do note leave namespace "${it%/*}"; done
  map_values
  steps=("everything of the deployed operator and Viola (${#theirs[@]} objects) is saved in the folder that --backup names")
  [[ $step == operator ]] || steps+=("with --step viola, and for as long as you like: our Viola is installed in namespace $bridge, the deployed operator is started anew with VIOLA_ENDPOINT=$bridge_url, the deployed Viola is stopped")
  [[ $step == viola ]] || steps+=(
    "${deployments[*]:-nothing} is stopped for good; $(saved remove | wc -l) of these objects are removed; OpenstackConfigs, Secrets, ConfigMaps, volumes and namespaces stay"
    "the kind gets our definition, and the chart $release is installed in namespace $namespace"
    "our operator takes $(how_many) OpenstackConfigs over: the names of NICs are read from the business clusters and stay; a node config that says more by then (ids of ports) is looked at by one agent"
  )
  check_theirs
  check_configs
  check_clusters
  write_values
}

# map_values: what the first operator is set, and where it and Viola may run.
map_values() {
  local it environment key
  for it in "${operators[@]:0:1}"; do
    env_of "$it"
    environment=$answer
    settings_of operator "$operator_settings" "$environment"
    key=$(grep -E '^CONTRABASS_ENCRYPT_KEY[=@].' <<<"$environment" | tail -n 1) || true
    [[ -z $key ]] || map_key "${it%/*}" "$key"
    placement_of operator "$it"
    pull_secrets_of "$it"
  done
  for it in "${violas[@]:0:1}"; do placement_of viola "$it"; done
  # Pod Security of namespaces that others use too is not ours to change in passing.
  of_part namespaces '  create: false'
}

# map_key NAMESPACE CONTRABASS_ENCRYPT_KEY(=VALUE|@SECRET/KEY): a key that lies in no Secret of ours gets one when we install.
map_key() {
  local place=${2#*@}
  if [[ $2 == CONTRABASS_ENCRYPT_KEY@* && $1 == "$namespace" ]]; then
    of_part operator "  secretSettings:"$'\n'"    contrabassEncryptKey: {name: ${place%/*}, key: ${place#*/}}"
    return
  fi
  of_part operator "  secretSettings:"$'\n'"    contrabassEncryptKey: {name: $key_secret, key: encrypt-key}"
  if [[ $2 == *@* ]]; then
    ask get secret "${place%/*}" -n "$1" -o "go-template={{index .data \"${place#*/}\" | base64decode}}"
    own_key=$answer
  else
    own_key=${2#*=}
  fi
}

forward() {
  begin_forward "take this cluster over from the deployed $([[ $step == viola ]] && echo Viola || echo 'operator and Viola')"
  if [[ $step == viola ]]; then forward_viola; else forward_operator; fi
}

forward_viola() {
  local it networks
  ! is_released || die "the operator is ours already: it needs no listener without a token" "there is nothing to do"
  pod_networks
  networks=$answer
  registrations_namespace
  restricted_namespace "$bridge"
  copy_pull_secrets "$bridge"
  namespace=$bridge place_kind
  bridge_values >"$scratch/bridge.yaml"
  namespace=$bridge settled=$scratch/bridge.yaml place_release --set "operator.settings.watchNamespace=$bridge" \
    --set operator.replicas=1 --set operator.persistence.enabled=false \
    --set viola.tls.mode=managed --set viola.tokens.mode=managed --set viola.settings.legacyListener=:8081 \
    --set "viola.settings.legacyAllowFrom={$networks}" --set viola.settings.takeOver=true --set viola.settings.acceptUnfenced=true
  for it in "${operators[@]}"; do point_operator "$it"; done
  point_configs "$bridge_url"
  stop "${violas[@]}"
  if changed_nothing; then return; fi
  say "done: the deployed operator sends to our Viola. See what it is sent: kubectl -n $bridge logs deploy/viola-api"
  say "Next: $0 forward --half operator --step operator --backup $backup; or back: $0 back --half operator --backup $backup"
}

# bridge_values: those of the backup without Secrets that lie beside the deployed operator; nobody asks Contrabass there.
bridge_values() {
  $dry_run || awk '/^  secretSettings:/ { skipped = 1; next } skipped && /^    / { next } { skipped = 0; print }' "$backup/values.yaml"
}

# Viola reads registrations in a namespace that holds nothing else.
registrations_namespace() {
  there namespace "$clusters" || restricted_namespace "$clusters"
}

# pod_networks: where the deployed operator's Pod will send from, in $answer.
pod_networks() {
  answer=$legacy_from
  [[ -z $answer ]] || return 0
  ask get nodes -o 'go-template={{range .items}}{{range .spec.podCIDRs}}{{.}}{{"\n"}}{{end}}{{end}}'
  answer=$(sort -u <<<"$answer" | paste -sd,)
  [[ -n $answer ]] || die "the nodes do not say what addresses Pods have" "give them: --legacy-from 10.244.0.0/16"
}

# point_operator NAMESPACE/NAME: started anew, it sends to our Viola.
point_operator() {
  local namespace=${1%/*} name=${1#*/}
  env_of "$1"
  grep -q "^VIOLA_ENDPOINT=$bridge_url\$" <<<"$answer" ||
    change kube -n "$namespace" set env "deployment/$name" "VIOLA_ENDPOINT=$bridge_url"
  $dry_run || kube -n "$namespace" rollout status "deployment/$name" --timeout=300s >&2 ||
    die "the deployed operator does not start with another VIOLA_ENDPOINT" "see kubectl -n $namespace get pods; or go back"
}

# point_configs URL|null: an OpenstackConfig that names a Viola of its own means the one that it is to have now.
point_configs() {
  local where name now to=null found
  [[ $1 == null ]] || to="\"$1\""
  there crd "$kind" || return 0
  rows "{{.metadata.namespace}}$sep{{.metadata.name}}$sep{{with .spec.settings}}{{with .violaEndpoint}}{{.}}{{end}}{{end}}" "$kind" -A
  found=$answer
  while IFS=$sep read -r where name now; do
    [[ -n $now && $now != "$1" ]] || continue
    [[ $now == "$bridge_url" ]] || keep_pointed "$where$sep$name$sep" "$now"
    point "$where" "$name" "$to"
  done <<<"$found"
}

# keep_pointed OBJECT URL: what it named first goes back into it.
keep_pointed() {
  $dry_run && return
  [[ -e $backup/pointed && -n $(row_of "$1" "$backup/pointed") ]] || printf '%s\n' "$1$2" >>"$backup/pointed"
}

point() {
  change kube -n "$1" patch "$kind" "$2" --type=merge -p "{\"spec\":{\"settings\":{\"violaEndpoint\":$3}}}"
}

# point_back: what somebody has named since stays.
point_back() {
  local where name before
  [[ -e $backup/pointed ]] || return 0
  while IFS=$sep read -r where name before; do
    there "$kind" "$name" -n "$where" || continue
    ask get "$kind" "$name" -n "$where" -o 'jsonpath={.spec.settings.violaEndpoint}'
    [[ -n $answer && $answer != "$bridge_url" ]] || point "$where" "$name" "\"$before\""
  done <"$backup/pointed"
}

forward_operator() {
  registrations_namespace
  stop "${deployments[@]}"
  point_configs null
  remove_theirs
  remove_bridge
  restrict_namespace
  if there crd "$kind"; then place_kind; fi
  place_key
  copy_pull_secrets "$namespace"
  place_release --set viola.settings.takeOver=true
  ask_each
  wait_for "$timeout" "OpenstackConfigs that are being taken over" taken_over || unfinished
  ask_no_more
  place_release
  if changed_nothing; then return; fi
  say "done: $(how_many) OpenstackConfigs are ours"
  standing | while IFS=$sep read -r it ready how; do
    [[ $how == good ]] || say "  $it is $ready, as it was not Ready before"
  done
  say "keep $backup: it is the way back, and its values.yaml goes to every upgrade:"
  say "  ./deploy-operator.sh --type production -- --values $backup/values.yaml"
  say "once all OpenstackConfigs are Ready, remove operator.settings.legacyTakeOver from that file and upgrade: until then OpenstackConfigs of these namespaces take over any node config that names none"
}

remove_bridge() {
  there namespace "$bridge" || return 0
  namespace=$bridge uninstall_release
  change kube delete namespace "$bridge"
}

# place_key: never on a command line, where every user of this machine could read it.
place_key() {
  [[ -e $backup/encrypt-key ]] || return 0
  if there secret "$key_secret" -n "$namespace"; then return; fi
  say "+ Secret $namespace/$key_secret from what the deployed operator was set"
  $dry_run || kube -n "$namespace" create secret generic "$key_secret" "--from-file=encrypt-key=$backup/encrypt-key" >/dev/null
}

# ask_each: has our operator look at each object anew, and say so.
asked=multinic.example.com/force-reconcile

ask_each() {
  if ! there crd "$kind" || ! there "$kind" -A; then return; fi
  change kube annotate "$kind" --all -A --overwrite "$asked=$($dry_run || cat "$backup/id")"
}

ask_no_more() {
  there crd "$kind" || return 0
  ask get "$kind" -A -o "go-template={{range .items}}$(annotation $asked){{end}}"
  [[ -z $answer ]] || change kube annotate "$kind" --all -A "$asked-"
}

# standing: a row for each object: namespace/name, its Ready condition, and whether it is theirs, being worked on, good or bad.
standing() {
  local name generation seen handled ready how rows id
  there crd "$kind" || return 0
  id=$(<"$backup/id")
  rows=$(kube get "$kind" -A -o "go-template={{range .items}}{{.metadata.namespace}}/{{.metadata.name}}$sep{{.metadata.generation}}$sep{{with .status}}{{with .observedGeneration}}{{.}}{{end}}$sep{{with .lastHandledReconcileAt}}{{.}}{{end}}$sep{{range .conditions}}{{if eq .type \"Ready\"}}{{.status}} {{.reason}}{{end}}{{end}}{{else}}$sep$sep{{end}}{{\"\n\"}}{{end}}") || return 1
  while IFS=$sep read -r name generation seen handled ready; do
    [[ -n $name ]] || continue
    if [[ $handled != *"$id"* ]]; then how=theirs
    elif [[ $seen != "$generation" || $ready == Unknown* ]]; then how=working
    elif [[ $ready == True* ]]; then how=good
    else how=bad; fi
    printf '%s\n' "$name$sep${ready:-not looked at}$sep$how"
  done <<<"$rows"
}

unfinished() {
  kube get "$kind" -A >&2 || true
  worse >&2
  die "after $timeout s not all OpenstackConfigs are taken over (above); no NIC was removed" \
    "correct what they say and run this again, or go back: $0 back --half operator --backup $backup"
}

back() {
  begin_back "take MultiNIC off this cluster, keep all NICs, and put the deployed operator and Viola back"
  stop_ours "$namespace/multinic-operator-controller-manager"
  let_go "${finalizers[@]}"
  ask_no_more
  uninstall_release
  remove_bridge
  restore_labels "$namespace"
  if $crds; then restore_kind; fi
  point_back
  restore_theirs
  wait_for 300 "the deployed operator and Viola" serves_again || say "the deployed operator or Viola does not run yet: see kubectl get pods -A"
  end_back
  if changed_nothing; then return; fi
  say "done: the deployed operator has this cluster again. Left of ours: namespace $clusters with the registrations$($crds || echo ", and our definition of $kind, which serves what it needs")"
}
