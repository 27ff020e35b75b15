# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: migration of a business cluster. The script stops the legacy controller and waits for the legacy agents. MultiNIC's
# controller then takes over every node config and runs an agent on each node; the agents find NICs as planned. Every step is idempotent.

release=multinic-agent
namespace=multinic-system
kind=multinicnodeconfigs.multinic.io
marker=multinic-migration-agent
finalizers=(multinic.io/cleanup)
legacy_jobs=(-l app.kubernetes.io/managed-by=multinic-controller)
# Template of an object's state, to compare before and after, and the state of a healthy object.
state_template='{{with .status}}{{.state}}{{end}}'
healthy=Configured

find_deployments() {
  deployments_of is_controller
}

inspect() {
  local object
  check_cluster
  find_deployments
  for object in "${deployments[@]}"; do include_deployment "$object"; done
  include_name_conflicts
  include leave namespace "$namespace"
  for object in "${deployments[@]:0:1}"; do
    env_of "$object"
    settings_of controller "$agent_settings" "$answer"
    placement_of controller "$object"
    pull_secrets_of "$object"
  done
  steps=(
    "save $(counted "${#legacy_objects[@]}" object) of the legacy system in the folder --backup DIR"
    "stop ${deployments[*]:-no controller}, and wait for the running legacy agents"
    "remove $(counted "$(backup_rows remove | wc -l)" 'saved object'); node configs, Secrets, ConfigMaps and namespaces stay"
    "install MultiNIC's CRD, with v1alpha1 served as before, and the chart $release"
    "MultiNIC's controller takes over $(counted "$(config_count)" 'node config') and sends an agent to each node, at most 20 at once: links, names and IPv4 addresses stay, rules and files change as docs/guides/migrate.md describes"
  )
  check_legacy_system
  check_configs
  write_values
}

forward() {
  begin_forward "migrate this cluster from the legacy controller to MultiNIC"
  stop "${deployments[@]}"
  wait_for 60 "the legacy controller to end" legacy_controller_ended ||
    die "the legacy controller still runs, in Pods outside the saved Deployments" "find these Pods: kubectl get pods -A -o wide | grep multinic"
  await_legacy_agents
  remove_legacy_objects
  restrict_namespace
  if exists crd "$kind"; then install_crd; fi
  copy_pull_secrets "$namespace"
  upgrade_release --set controller.settings.takeOver=true
  copy_pull_secrets multinic-agents
  wait_for "$timeout" "the takeover of node configs" taken_over || report_unfinished
  upgrade_release
  if ends_dry_run; then return; fi
  say "done: MultiNIC manages $(counted "$(config_count)" 'node config')"
  takeover_states | while IFS=$sep read -r object ready how; do
    case $how in
      away) say "  MultiNIC takes over $object when the node is ready" ;;
      bad) say "  $object is $ready and was not Configured before the migration" ;;
    esac
  done
  say "keep $backup: \`back\` needs this folder, and every upgrade needs the values.yaml in this folder:"
  say "  scripts/build-and-deploy.sh --type production --skip-build -- --values $backup/values.yaml"
}

legacy_controller_ended() {
  local pods
  pods=$(kube get pods -A -o 'go-template={{range .items}}{{range .spec.containers}} {{range .command}}{{.}} {{end}}{{range .args}}{{.}} {{end}}{{end}}{{.status.phase}}{{"\n"}}{{end}}') || return 1
  ! grep -E '[ /]multinic-controller ' <<<"$pods" | grep -Eqv ' (Succeeded|Failed)$'
}

# Running and just created legacy agents must end first: a Job without a started Pod would later start beside a MultiNIC agent. The legacy
# Jobs are deleted as well, because MultiNIC's controller would read them as a sign of a running legacy controller.
await_legacy_agents() {
  wait_for "$timeout" "agents of the legacy controller" legacy_agents_ended ||
    die "agents of the legacy controller are still running" \
      "find their Jobs: kubectl get jobs -A ${legacy_jobs[*]}; delete Jobs with Pods that cannot start, then run this script again"
  if exists jobs -A "${legacy_jobs[@]}"; then change kube delete jobs -A "${legacy_jobs[@]}" --wait; fi
}

legacy_agents_ended() {
  local active
  active=$(kube get jobs -A "${legacy_jobs[@]}" -o 'go-template={{range .items}}{{if or .status.active (not .status.startTime)}}{{.metadata.namespace}}/{{.metadata.name}} {{end}}{{end}}') || return 1
  [[ -z $active ]]
}

# takeover_states: prints a row per object: name, Ready condition, and legacy, working, good, bad or away. "away": the node is not ready,
# and the script does not wait.
takeover_states() {
  local name present other ready at how rows
  exists crd "$kind" || return 0
  rows=$(kube get "$kind" -n "$namespace" -o "go-template={{range .items}}{{.metadata.name}}$sep{{range .metadata.finalizers}}{{.}} {{end}}$sep{{with .status}}{{range .conditions}}{{if eq .type \"OtherControllerActive\"}}{{.status}}{{end}}{{end}}{{end}}$sep{{with .status}}{{range .conditions}}{{if eq .type \"Ready\"}}{{.status}} {{.reason}}$sep{{with .lastTransitionTime}}{{.}}{{end}}{{end}}{{end}}{{end}}{{\"\\n\"}}{{end}}") || return 1
  while IFS=$sep read -r name present other ready at; do
    [[ -n $name ]] || continue
    if [[ " $present" != *" ${finalizers[0]} "* || $other == True || -z $at ]]; then how=legacy
    elif [[ $ready == *' NodeNotReady' ]]; then how=away
    elif [[ $ready == Unknown* ]]; then how=working
    elif [[ $ready == True* ]]; then how=good
    else how=bad; fi
    printf '%s\n' "$name$sep${ready:-not observed}$sep$how"
  done <<<"$rows"
}

report_unfinished() {
  kube get "$kind" -n "$namespace" >&2 || true
  degraded >&2
  die "after $timeout s MultiNIC does not manage all node configs (above); remaining NICs are unchanged" \
    "resolve the reasons above and run this script again, or go back: $0 back --half agent --backup $backup"
}

back() {
  begin_back "remove MultiNIC from this cluster, leave all NICs unchanged, and restore the legacy controller"
  local where namespaces
  namespaces=$(agent_namespaces "$namespace")
  read -ra namespaces <<<"$namespaces"
  stop_multinic "$namespace/multinic-agent-controller"
  wait_for "$timeout" "MultiNIC agents" agents_ended "${namespaces[@]}" ||
    die "MultiNIC agents are still running" "see kubectl -n ${namespaces[0]} get pods -l $agents"
  # A Job without a started Pod would later start beside a legacy agent.
  for where in "${namespaces[@]}"; do
    if exists jobs -n "$where" -l "$agents"; then change kube -n "$where" delete jobs -l "$agents" --wait; fi
  done
  remove_finalizers "${finalizers[@]}"
  uninstall_multinic
  restore_labels "$namespace"
  if $crds; then restore_crd; fi
  restore_legacy_objects
  wait_for 300 "the legacy controller" legacy_system_ready || say "the legacy controller does not run yet: see kubectl get pods -A"
  end_back
  if ends_dry_run; then return; fi
  say "done: the legacy controller manages this cluster again. Left: namespace multinic-agents$($crds || echo ", and MultiNIC's CRD $kind, compatible with the legacy controller")"
}
