# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: migration of the management cluster. The step viola installs MultiNIC's Viola in a separate namespace, because the legacy
# operator still owns the names in the release's namespace. This Viola accepts POSTs from the legacy operator without a token; an idle
# MultiNIC operator beside Viola renews the certificate. The step operator replaces the legacy operator.

release=multinic-operator
namespace=multinic-operator-system
bridge=multinic-migration
bridge_url=http://viola-api.$bridge.svc:80
clusters=multinic-clusters
key_secret=multinic-operator-contrabass
kind=openstackconfigs.multinic.example.com
marker=multinic-migration-operator
finalizers=(multinic.example.com/cleanup multinic.example.com/finalizer multinic.example.com/operator-finalizer)
# Template of an object's state, to compare before and after, and the state of a healthy object.
state_template='{{with .status}}{{range .conditions}}{{if eq .type "Ready"}}{{.status}}{{end}}{{end}}{{end}}'
healthy=True

find_deployments() {
  deployments_of is_viola
  violas=("${deployments[@]}")
  deployments_of is_operator
  operators=("${deployments[@]}")
  deployments=("${operators[@]}" "${violas[@]}")
}

inspect() {
  local object
  check_cluster
  find_deployments
  for object in "${deployments[@]}"; do include_deployment "$object"; done
  include_name_conflicts
  for object in "${deployments[@]}" "$namespace/" multinic-system/; do include leave namespace "${object%/*}"; done
  map_values
  steps=("save $(counted "${#legacy_objects[@]}" object) of the legacy operator and Viola in the folder --backup DIR")
  [[ $step == operator ]] || steps+=("with --step viola, for as long as you like: install MultiNIC's Viola in namespace $bridge, restart the legacy operator with VIOLA_ENDPOINT=$bridge_url, stop the legacy Viola")
  [[ $step == viola ]] || steps+=(
    "stop ${deployments[*]:-no Deployment}, and remove $(counted "$(backup_rows remove | wc -l)" 'saved object'); OpenstackConfigs, Secrets, ConfigMaps, volumes and namespaces stay"
    "install MultiNIC's CRD, and the chart $release in namespace $namespace"
    "MultiNIC's operator takes over $(counted "$(config_count)" OpenstackConfig): NICs keep the names from the business clusters; an agent runs on each node with new fields (port ids)"
  )
  check_legacy_system
  check_configs
  check_clusters
  write_values
}

# map_values: maps the first operator's settings, and the scheduling of operator and Viola, to chart values.
map_values() {
  local object environment key
  for object in "${operators[@]:0:1}"; do
    env_of "$object"
    environment=$answer
    settings_of operator "$operator_settings" "$environment"
    key=$(grep -E '^CONTRABASS_ENCRYPT_KEY[=@].' <<<"$environment" | tail -n 1) || true
    [[ -z $key ]] || map_key "${object%/*}" "$key"
    placement_of operator "$object"
    pull_secrets_of "$object"
  done
  for object in "${violas[@]:0:1}"; do placement_of viola "$object"; done
  # The chart must not set Pod Security labels on namespaces with foreign Pods.
  add_part_line namespaces '  create: false'
}

# map_key NAMESPACE CONTRABASS_ENCRYPT_KEY(=VALUE|@SECRET/KEY): refers to the Secret with the key. Without a Secret in $namespace the
# script creates $key_secret at the installation.
map_key() {
  local secret_key=${2#*@}
  if [[ $2 == CONTRABASS_ENCRYPT_KEY@* && $1 == "$namespace" ]]; then
    add_part_line operator "  secretSettings:"$'\n'"    contrabassEncryptKey: {name: ${secret_key%/*}, key: ${secret_key#*/}}"
    return
  fi
  add_part_line operator "  secretSettings:"$'\n'"    contrabassEncryptKey: {name: $key_secret, key: encrypt-key}"
  if [[ $2 == *@* ]]; then
    read_cluster get secret "${secret_key%/*}" -n "$1" -o "go-template={{index .data \"${secret_key#*/}\" | base64decode}}"
    contrabass_key=$answer
  else
    contrabass_key=${2#*=}
  fi
}

forward() {
  begin_forward "migrate this cluster from the legacy $([[ $step == viola ]] && echo Viola || echo 'operator and Viola') to MultiNIC"
  if [[ $step == viola ]]; then forward_viola; else forward_operator; fi
}

forward_viola() {
  local object networks
  ! is_released || die "MultiNIC's operator is already installed and needs no listener without a token" "no further step is necessary"
  pod_networks
  networks=$answer
  registrations_namespace
  restricted_namespace "$bridge"
  copy_pull_secrets "$bridge"
  namespace=$bridge install_crd
  bridge_values >"$scratch/bridge.yaml"
  namespace=$bridge values_file=$scratch/bridge.yaml upgrade_release --set "operator.settings.watchNamespace=$bridge" \
    --set operator.replicas=1 --set operator.persistence.enabled=false \
    --set viola.tls.mode=managed --set viola.tokens.mode=managed --set viola.settings.legacyListener=:8081 \
    --set "viola.settings.legacyAllowFrom={$networks}" --set viola.settings.takeOver=true --set viola.settings.acceptUnfenced=true
  for object in "${operators[@]}"; do redirect_operator "$object"; done
  redirect_configs "$bridge_url"
  stop "${violas[@]}"
  if ends_dry_run; then return; fi
  say "done: the legacy operator sends to MultiNIC's Viola. See the requests: kubectl -n $bridge logs deploy/viola-api"
  say "Next: $0 forward --half operator --step operator --backup $backup; or back: $0 back --half operator --backup $backup"
}

# bridge_values: prints the backup's values without secretSettings: the bridge's namespace lacks these Secrets, and its operator
# sends no request to Contrabass.
bridge_values() {
  $dry_run || awk '/^  secretSettings:/ { skipped = 1; next } skipped && /^    / { next } { skipped = 0; print }' "$backup/values.yaml"
}

# Viola reads registrations from a dedicated namespace.
registrations_namespace() {
  exists namespace "$clusters" || restricted_namespace "$clusters"
}

# pod_networks: sets $answer to the networks from which the legacy operator's Pod sends.
pod_networks() {
  answer=$legacy_from
  [[ -z $answer ]] || return 0
  read_cluster get nodes -o 'go-template={{range .items}}{{range .spec.podCIDRs}}{{.}}{{"\n"}}{{end}}{{end}}'
  answer=$(sort -u <<<"$answer" | paste -sd,)
  [[ -n $answer ]] || die "no Node states podCIDRs" "pass the Pod networks: --legacy-from 10.244.0.0/16"
}

# redirect_operator NAMESPACE/NAME: restarts the legacy operator with the bridge's VIOLA_ENDPOINT.
redirect_operator() {
  local namespace=${1%/*} name=${1#*/}
  env_of "$1"
  grep -q "^VIOLA_ENDPOINT=$bridge_url\$" <<<"$answer" ||
    change kube -n "$namespace" set env "deployment/$name" "VIOLA_ENDPOINT=$bridge_url"
  $dry_run || kube -n "$namespace" rollout status "deployment/$name" --timeout=300s >&2 ||
    die "the legacy operator does not start with VIOLA_ENDPOINT=$bridge_url" "see kubectl -n $namespace get pods; or go back"
}

# redirect_configs URL|null: replaces violaEndpoint in each OpenstackConfig that sets the field.
redirect_configs() {
  local where name now to=null found
  [[ $1 == null ]] || to="\"$1\""
  exists crd "$kind" || return 0
  rows "{{.metadata.namespace}}$sep{{.metadata.name}}$sep{{with .spec.settings}}{{with .violaEndpoint}}{{.}}{{end}}{{end}}" "$kind" -A
  found=$answer
  while IFS=$sep read -r where name now; do
    [[ -n $now && $now != "$1" ]] || continue
    [[ $now == "$bridge_url" ]] || save_viola_endpoint "$where$sep$name$sep" "$now"
    set_viola_endpoint "$where" "$name" "$to"
  done <<<"$found"
}

# save_viola_endpoint OBJECT URL: saves the first value only: `back` restores this value.
save_viola_endpoint() {
  $dry_run && return
  [[ -e $backup/pointed && -n $(row_of "$1" "$backup/pointed") ]] || printf '%s\n' "$1$2" >>"$backup/pointed"
}

set_viola_endpoint() {
  change kube -n "$1" patch "$kind" "$2" --type=merge -p "{\"spec\":{\"settings\":{\"violaEndpoint\":$3}}}"
}

# restore_viola_endpoints: restores saved values; a violaEndpoint that a user has set since stays.
restore_viola_endpoints() {
  local where name before
  [[ -e $backup/pointed ]] || return 0
  while IFS=$sep read -r where name before; do
    exists "$kind" "$name" -n "$where" || continue
    read_cluster get "$kind" "$name" -n "$where" -o 'jsonpath={.spec.settings.violaEndpoint}'
    [[ -n $answer && $answer != "$bridge_url" ]] || set_viola_endpoint "$where" "$name" "\"$before\""
  done <"$backup/pointed"
}

forward_operator() {
  registrations_namespace
  stop "${deployments[@]}"
  redirect_configs null
  remove_legacy_objects
  remove_bridge
  restrict_namespace
  if exists crd "$kind"; then install_crd; fi
  create_key_secret
  copy_pull_secrets "$namespace"
  upgrade_release --set viola.settings.takeOver=true
  request_syncs
  wait_for "$timeout" "the takeover of OpenstackConfigs" taken_over || report_unfinished
  withdraw_sync_requests
  upgrade_release
  if ends_dry_run; then return; fi
  say "done: MultiNIC manages $(counted "$(config_count)" OpenstackConfig)"
  takeover_states | while IFS=$sep read -r object ready how; do
    [[ $how == good ]] || say "  $object is $ready and was not Ready before the migration"
  done
  say "keep $backup: \`back\` needs this folder, and every upgrade needs the values.yaml in this folder:"
  say "  ./deploy-operator.sh --type production -- --values $backup/values.yaml"
  say "when all OpenstackConfigs are Ready, remove operator.settings.legacyTakeOver from this file and upgrade: until then OpenstackConfigs in these namespaces take over any node config without source"
}

remove_bridge() {
  exists namespace "$bridge" || return 0
  namespace=$bridge uninstall_multinic
  change kube delete namespace "$bridge"
}

# create_key_secret: the key stays off command lines: every user of this machine can read them.
create_key_secret() {
  [[ -e $backup/encrypt-key ]] || return 0
  if exists secret "$key_secret" -n "$namespace"; then return; fi
  say "+ Secret $namespace/$key_secret from the legacy operator's CONTRABASS_ENCRYPT_KEY"
  $dry_run || kube -n "$namespace" create secret generic "$key_secret" "--from-file=encrypt-key=$backup/encrypt-key" >/dev/null
}

# request_syncs: requests a sync for each object; the operator reports the end in status.lastHandledReconcileAt.
sync_request=multinic.example.com/force-reconcile

request_syncs() {
  if ! exists crd "$kind" || ! exists "$kind" -A; then return; fi
  change kube annotate "$kind" --all -A --overwrite "$sync_request=$($dry_run || cat "$backup/id")"
}

withdraw_sync_requests() {
  exists crd "$kind" || return 0
  read_cluster get "$kind" -A -o "go-template={{range .items}}$(annotation $sync_request){{end}}"
  [[ -z $answer ]] || change kube annotate "$kind" --all -A "$sync_request-"
}

# takeover_states: prints a row per object: namespace/name, Ready condition, and legacy, working, good or bad.
takeover_states() {
  local name generation observed handled ready how rows id
  exists crd "$kind" || return 0
  id=$(<"$backup/id")
  rows=$(kube get "$kind" -A -o "go-template={{range .items}}{{.metadata.namespace}}/{{.metadata.name}}$sep{{.metadata.generation}}$sep{{with .status}}{{with .observedGeneration}}{{.}}{{end}}$sep{{with .lastHandledReconcileAt}}{{.}}{{end}}$sep{{range .conditions}}{{if eq .type \"Ready\"}}{{.status}} {{.reason}}{{end}}{{end}}{{else}}$sep$sep{{end}}{{\"\n\"}}{{end}}") || return 1
  while IFS=$sep read -r name generation observed handled ready; do
    [[ -n $name ]] || continue
    if [[ $handled != *"$id"* ]]; then how=legacy
    elif [[ $observed != "$generation" || $ready == Unknown* ]]; then how=working
    elif [[ $ready == True* ]]; then how=good
    else how=bad; fi
    printf '%s\n' "$name$sep${ready:-not observed}$sep$how"
  done <<<"$rows"
}

report_unfinished() {
  kube get "$kind" -A >&2 || true
  degraded >&2
  die "after $timeout s MultiNIC does not manage all OpenstackConfigs (above); no NIC was removed" \
    "resolve the reasons above and run this script again, or go back: $0 back --half operator --backup $backup"
}

back() {
  begin_back "remove MultiNIC from this cluster, leave all NICs unchanged, and restore the legacy operator and Viola"
  stop_multinic "$namespace/multinic-operator-controller-manager"
  remove_finalizers "${finalizers[@]}"
  withdraw_sync_requests
  uninstall_multinic
  remove_bridge
  restore_labels "$namespace"
  if $crds; then restore_crd; fi
  restore_viola_endpoints
  restore_legacy_objects
  wait_for 300 "the legacy operator and Viola" legacy_system_ready || say "the legacy operator or Viola does not run yet: see kubectl get pods -A"
  end_back
  if ends_dry_run; then return; fi
  say "done: the legacy operator manages this cluster again. Left: namespace $clusters with the registrations$($crds || echo ", and MultiNIC's CRD $kind, compatible with the legacy operator")"
}
