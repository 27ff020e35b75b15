# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: what the ways of both halves have in common: how they begin, go on after an interruption, and end.

# begin_forward WHAT: looks, tells, asks and saves; or goes on with what an interrupted run has saved.
begin_forward() {
  if open_backup; then
    lock_backup
    [[ ! -e $backup/going-back ]] || die "$backup was used to go back" \
      "end that, if it was interrupted: $0 back --half $half --backup $backup; then go forward with a new folder"
    say "going on with the backup $backup"
    find_deployments
    known_only
    check_cluster
  else
    look
    tell "${steps[@]}"
    unblocked
    confirm "$1"
    save
  fi
  mark
}

# known_only: what came after the backup would be lost by it.
known_only() {
  local it
  for it in "${deployments[@]}"; do
    ask get deployment "${it#*/}" -n "${it%/*}" -o 'jsonpath={.metadata.uid}'
    grep -q "$sep$answer$sep" "$backup/objects" ||
      die "Deployment $it is of the deployed system, and younger than the backup" "find out who made it; delete it, or go back first"
  done
}

# begin_back WHAT
begin_back() {
  open_backup || die "$backup holds no backup" "give the folder that forward was given"
  lock_backup
  [[ ! -e $backup/gone-back ]] || die "what $backup holds is back in its place" "there is nothing to do"
  check_cluster
  check_names
  tell_blocks
  unblocked
  confirm "$1"
  $dry_run || touch "$backup/going-back"
}

# how_many objects of the kind there are, also when it is not installed.
how_many() {
  count_of "$kind" || true
}

# changed_nothing: whether it was a dry run, which ends here.
changed_nothing() {
  ! $dry_run || say "nothing was changed (--dry-run)"
  $dry_run
}

end_back() {
  if there configmap "$marker" -n multinic-system; then change kube -n multinic-system delete configmap "$marker"; fi
  $dry_run || touch "$backup/gone-back"
}

# stop NAMESPACE/NAME…: no Pod of these Deployments is left.
stop() {
  local it
  for it; do
    ask get deployment "${it#*/}" -n "${it%/*}" -o 'jsonpath={.spec.replicas}'
    [[ $answer == 0 ]] || change kube -n "${it%/*}" scale deployment "${it#*/}" --replicas=0
    ask get deployment "${it#*/}" -n "${it%/*}" -o 'go-template={{range $k, $v := .spec.selector.matchLabels}},{{$k}}={{$v}}{{end}}'
    wait_for 180 "Deployment $it to end" no_pods "${it%/*}" "${answer#,}" ||
      die "Deployment $it does not end" "see kubectl -n ${it%/*} get pods -l ${answer#,}"
  done
}

# no_pods NAMESPACE SELECTOR
no_pods() {
  local pods
  pods=$(kube get pods -n "$1" -l "$2" -o name) || return 1
  [[ -z $pods ]]
}

# none_leaving: an object that is being deleted is cleaned by who has the cluster; nobody else would.
none_leaving() {
  local leaving
  leaving=$(kube get "$kind" -A -o 'go-template={{range .items}}{{if .metadata.deletionTimestamp}}{{.metadata.name}} {{end}}{{end}}') || return 1
  [[ -z $leaving ]]
}

# stop_ours NAMESPACE/NAME: what is being deleted is ended first.
stop_ours() {
  is_released || return 0
  if there crd "$kind"; then
    wait_for "$timeout" "objects that are being deleted" none_leaving ||
      die "objects are being deleted, and their nodes are not clean yet" "see kubectl get $kind -A; run this again when they are gone"
  fi
  if there deployment "${1#*/}" -n "${1%/*}"; then stop "$1"; fi
}

# let_go FINALIZER…: the deployed system never lets an object go that has one of ours.
let_go() {
  there crd "$kind" || return 0
  without_finalizers "$kind" "$@"
  wait_for 60 "finalizers to go" none_held "$@" || die "objects still have finalizers of ours" "run this again"
}

none_held() {
  local held finalizer
  held=$(kube get "$kind" -A -o 'go-template={{range .items}}{{range .metadata.finalizers}}{{.}} {{end}}{{end}}') || return 1
  for finalizer; do [[ " $held" != *" $finalizer "* ]] || return 1; done
}

# taken_over: whether every object is ours, and as well as it was before.
taken_over() {
  local rows
  rows=$(standing) || return 1
  ! grep -Eq "$sep(theirs|working)\$" <<<"$rows" && [[ -z $(worse) ]]
}

# worse: objects that were well before and are not now.
worse() {
  local name ready how where
  standing | while IFS=$sep read -r name ready how; do
    where=$namespace
    [[ $name != */* ]] || where=${name%/*}
    if [[ $how == bad ]] && grep -Fqx "$where$sep${name#*/}$sep$well" "$backup/states"; then
      printf '%s\n' "$name was ${well/True/Ready} and is $ready"
    fi
  done
}

# serves_again: whether the deployed system runs as it did.
serves_again() {
  local it ready
  find_deployments
  for it in "${deployments[@]}"; do
    ready=$(kube get deployment "${it#*/}" -n "${it%/*}" -o 'jsonpath={.spec.replicas} {.status.readyReplicas}') || return 1
    [[ $ready == 0* || ${ready% *} == "${ready#* }" ]] || return 1
  done
}
