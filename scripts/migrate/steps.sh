# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: steps of forward and back that both halves share: start, resume after an interruption, end.

# begin_forward WHAT: inspects the cluster, prints findings, asks for confirmation and saves the backup; or resumes an interrupted run.
begin_forward() {
  if open_backup; then
    lock_backup
    [[ ! -e $backup/going-back ]] || die "$backup was used to go back" \
      "if back was interrupted, finish it: $0 back --half $half --backup $backup; then go forward with a new folder"
    say "resuming with the backup $backup"
    find_deployments
    refuse_younger_deployments
    check_cluster
  else
    inspect
    print_findings "${steps[@]}"
    require_no_obstacle
    confirm "$1"
    save_backup
  fi
  mark_cluster
}

# refuse_younger_deployments: the backup lacks younger Deployments, and forward would delete them without a copy.
refuse_younger_deployments() {
  local object
  for object in "${deployments[@]}"; do
    read_cluster get deployment "${object#*/}" -n "${object%/*}" -o 'jsonpath={.metadata.uid}'
    grep -q "$sep$answer$sep" "$backup/objects" ||
      die "Deployment $object is part of the legacy system and younger than the backup" "find the creator; delete this Deployment, or go back first"
  done
}

# begin_back WHAT
begin_back() {
  open_backup || die "$backup has no backup" "pass the --backup folder of forward"
  lock_backup
  [[ ! -e $backup/gone-back ]] || die "the legacy system is already restored from $backup" "no further step is necessary"
  check_cluster
  check_names
  print_obstacles
  require_no_obstacle
  confirm "$1"
  $dry_run || touch "$backup/going-back"
}

# config_count: prints the number of objects of $kind; 0 without the CRD.
config_count() {
  count_of "$kind" || true
}

# ends_dry_run: true in a dry run; prints the last message of a dry run.
ends_dry_run() {
  ! $dry_run || say "nothing was changed (--dry-run)"
  $dry_run
}

end_back() {
  if exists configmap "$marker" -n multinic-system; then change kube -n multinic-system delete configmap "$marker"; fi
  $dry_run || touch "$backup/gone-back"
}

# stop NAMESPACE/NAME…: scales these Deployments to 0 and waits until no Pod is left.
stop() {
  local object
  for object; do
    read_cluster get deployment "${object#*/}" -n "${object%/*}" -o 'jsonpath={.spec.replicas}'
    [[ $answer == 0 ]] || change kube -n "${object%/*}" scale deployment "${object#*/}" --replicas=0
    read_cluster get deployment "${object#*/}" -n "${object%/*}" -o 'go-template={{range $k, $v := .spec.selector.matchLabels}},{{$k}}={{$v}}{{end}}'
    wait_for 180 "the end of Deployment $object" no_pods "${object%/*}" "${answer#,}" ||
      die "Deployment $object still has Pods after 180 s" "see kubectl -n ${object%/*} get pods -l ${answer#,}"
  done
}

# no_pods NAMESPACE SELECTOR
no_pods() {
  local pods
  pods=$(kube get pods -n "$1" -l "$2" -o name) || return 1
  [[ -z $pods ]]
}

# no_deletion_pending: MultiNIC must finish pending deletions: the legacy system would remove no NIC of these objects.
no_deletion_pending() {
  local leaving
  leaving=$(kube get "$kind" -A -o 'go-template={{range .items}}{{if .metadata.deletionTimestamp}}{{.metadata.name}} {{end}}{{end}}') || return 1
  [[ -z $leaving ]]
}

# stop_multinic NAMESPACE/NAME: waits for pending deletions, then stops the Deployment.
stop_multinic() {
  is_released || return 0
  if exists crd "$kind"; then
    wait_for "$timeout" "pending deletions" no_deletion_pending ||
      die "deletions are pending, and their nodes still have NICs" "see kubectl get $kind -A; run this script again after the deletions"
  fi
  if exists deployment "${1#*/}" -n "${1%/*}"; then stop "$1"; fi
}

# remove_finalizers FINALIZER…: the legacy system never removes MultiNIC's finalizers, and later deletions would hang.
remove_finalizers() {
  exists crd "$kind" || return 0
  without_finalizers "$kind" "$@"
  wait_for 60 "the removal of finalizers" finalizers_removed "$@" || die "objects still have MultiNIC's finalizers" "run this script again"
}

finalizers_removed() {
  local present finalizer
  present=$(kube get "$kind" -A -o 'go-template={{range .items}}{{range .metadata.finalizers}}{{.}} {{end}}{{end}}') || return 1
  for finalizer; do [[ " $present" != *" $finalizer "* ]] || return 1; done
}

# taken_over: true if MultiNIC manages every object, and no object is worse than before.
taken_over() {
  local rows
  rows=$(takeover_states) || return 1
  ! grep -Eq "$sep(legacy|working)\$" <<<"$rows" && [[ -z $(degraded) ]]
}

# degraded: prints objects that were healthy before the migration and are not now.
degraded() {
  local name ready how where
  takeover_states | while IFS=$sep read -r name ready how; do
    where=$namespace
    [[ $name != */* ]] || where=${name%/*}
    if [[ $how == bad ]] && grep -Fqx "$where$sep${name#*/}$sep$healthy" "$backup/states"; then
      printf '%s\n' "$name was ${healthy/True/Ready} and is $ready"
    fi
  done
}

# legacy_system_ready: true if every legacy Deployment has as many ready replicas as spec.replicas.
legacy_system_ready() {
  local object ready
  find_deployments
  for object in "${deployments[@]}"; do
    ready=$(kube get deployment "${object#*/}" -n "${object%/*}" -o 'jsonpath={.spec.replicas} {.status.readyReplicas}') || return 1
    [[ $ready == 0* || ${ready% *} == "${ready#* }" ]] || return 1
  done
}
