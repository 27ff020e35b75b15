# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: the half of a business cluster. The deployed controller is stopped, its agents are waited for, ours takes every node
# config over: one agent for each node, which finds the NICs as they shall be. All of it can be repeated from any point.

release=multinic-agent
namespace=multinic-system
kind=multinicnodeconfigs.multinic.io
marker=multinic-migration-agent
finalizers=(multinic.io/cleanup)
their_jobs=(-l app.kubernetes.io/managed-by=multinic-controller)
# What an object says of itself, for comparison afterwards, and what it says when it is well.
said='{{with .status}}{{.state}}{{end}}'
well=Configured

find_deployments() {
  deployments_of is_controller
}

look() {
  local it
  check_cluster
  find_deployments
  for it in "${deployments[@]}"; do note_deployment "$it"; done
  note_in_the_way
  note leave namespace "$namespace"
  for it in "${deployments[@]:0:1}"; do
    env_of "$it"
    settings_of controller "$agent_settings" "$answer"
    placement_of controller "$it"
    pull_secrets_of "$it"
  done
  steps=(
    "everything of the deployed controller (${#theirs[@]} objects) is saved in the folder that --backup names"
    "${deployments[*]:-no controller} is stopped for good, agents that it has sent are waited for"
    "$(saved remove | wc -l) of these objects are removed; node configs, Secrets, ConfigMaps and namespaces stay"
    "the kind gets our definition, in which v1alpha1 is served as before, and the chart $release is installed"
    "our controller takes $(how_many) node configs over and sends one agent to each node, at most 20 at once: links, names and IPv4 addresses stay, rules and files get the form that docs/guides/migrate.md shows"
  )
  check_theirs
  check_configs
  write_values
}

forward() {
  begin_forward "take this cluster over from the deployed controller"
  stop "${deployments[@]}"
  wait_for 60 "the deployed controller to end" their_controller_ended ||
    die "the deployed controller still runs, in Pods that no Deployment of the backup has" "see kubectl get pods -A -o wide | grep multinic"
  await_their_agents
  remove_theirs
  restrict_namespace
  if there crd "$kind"; then place_kind; fi
  copy_pull_secrets "$namespace"
  place_release --set controller.settings.takeOver=true
  copy_pull_secrets multinic-agents
  wait_for "$timeout" "node configs that are being taken over" taken_over || unfinished
  place_release
  if changed_nothing; then return; fi
  say "done: $(how_many) node configs are ours"
  standing | while IFS=$sep read -r it ready how; do
    case $how in
      away) say "  $it is taken over as soon as its node is ready" ;;
      bad) say "  $it is $ready, as it was not Configured before" ;;
    esac
  done
  say "keep $backup: it is the way back, and its values.yaml goes to every upgrade:"
  say "  scripts/build-and-deploy.sh --type production --skip-build -- --values $backup/values.yaml"
}

their_controller_ended() {
  local pods
  pods=$(kube get pods -A -o 'go-template={{range .items}}{{range .spec.containers}} {{range .command}}{{.}} {{end}}{{range .args}}{{.}} {{end}}{{end}}{{.status.phase}}{{"\n"}}{{end}}') || return 1
  ! grep -E '[ /]multinic-controller ' <<<"$pods" | grep -Eqv ' (Succeeded|Failed)$'
}

# Whatever is at work on a node, or was asked for a moment ago, ends its work; what never began would begin beside ours. Their records go with them: ours would
# take them for a controller that is still there.
await_their_agents() {
  wait_for "$timeout" "agents of the deployed controller" their_agents_ended ||
    die "agents of the deployed controller are still at work" \
      "see kubectl get jobs -A ${their_jobs[*]}; delete those whose Pods cannot begin, then run this again"
  if there jobs -A "${their_jobs[@]}"; then change kube delete jobs -A "${their_jobs[@]}" --wait; fi
}

their_agents_ended() {
  local active
  active=$(kube get jobs -A "${their_jobs[@]}" -o 'go-template={{range .items}}{{if or .status.active (not .status.startTime)}}{{.metadata.namespace}}/{{.metadata.name}} {{end}}{{end}}') || return 1
  [[ -z $active ]]
}

# standing: a row for each object: name, its Ready condition, and whether it is theirs, being worked on, good, bad, or for a node
# that is away, which nobody waits for.
standing() {
  local name held other ready at how rows
  there crd "$kind" || return 0
  rows=$(kube get "$kind" -n "$namespace" -o "go-template={{range .items}}{{.metadata.name}}$sep{{range .metadata.finalizers}}{{.}} {{end}}$sep{{with .status}}{{range .conditions}}{{if eq .type \"OtherControllerActive\"}}{{.status}}{{end}}{{end}}{{end}}$sep{{with .status}}{{range .conditions}}{{if eq .type \"Ready\"}}{{.status}} {{.reason}}$sep{{with .lastTransitionTime}}{{.}}{{end}}{{end}}{{end}}{{end}}{{\"\\n\"}}{{end}}") || return 1
  while IFS=$sep read -r name held other ready at; do
    [[ -n $name ]] || continue
    if [[ " $held" != *" ${finalizers[0]} "* || $other == True || -z $at ]]; then how=theirs
    elif [[ $ready == *' NodeNotReady' ]]; then how=away
    elif [[ $ready == Unknown* ]]; then how=working
    elif [[ $ready == True* ]]; then how=good
    else how=bad; fi
    printf '%s\n' "$name$sep${ready:-not looked at}$sep$how"
  done <<<"$rows"
}

unfinished() {
  kube get "$kind" -n "$namespace" >&2 || true
  worse >&2
  die "after $timeout s not all node configs are taken over (above); their NICs are as they were" \
    "correct what they say and run this again, or go back: $0 back --half agent --backup $backup"
}

back() {
  begin_back "take MultiNIC off this cluster, keep all NICs, and put the deployed controller back"
  local where places
  places=$(agent_namespaces "$namespace")
  read -ra places <<<"$places"
  stop_ours "$namespace/multinic-agent-controller"
  wait_for "$timeout" "our agents" agents_ended "${places[@]}" ||
    die "our agents are still at work" "see kubectl -n ${places[0]} get pods -l $agents"
  # A Job whose agent never began would begin beside theirs.
  for where in "${places[@]}"; do
    if there jobs -n "$where" -l "$agents"; then change kube -n "$where" delete jobs -l "$agents" --wait; fi
  done
  let_go "${finalizers[@]}"
  uninstall_release
  restore_labels "$namespace"
  if $crds; then restore_kind; fi
  restore_theirs
  wait_for 300 "the deployed controller" serves_again || say "the deployed controller does not run yet: see kubectl get pods -A"
  end_back
  if changed_nothing; then return; fi
  say "done: the deployed controller has this cluster again. Left of ours: namespace multinic-agents$($crds || echo ", and our definition of $kind, which serves what it needs")"
}
