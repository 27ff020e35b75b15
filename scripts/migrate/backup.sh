# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: the deployed system as files, and from files back into the cluster. A backup is complete before anything is changed,
# and is never written again.
#
#   DIR/id, cluster, half       which migration it belongs to
#   DIR/objects                 a row for each object: kind, namespace, name, uid, remove or leave, its file
#   DIR/files/N-KIND-NAME.json  each object as it was: it goes back as it is, kubectl would rewrite what it was applied from
#   DIR/definition.yaml, configs.yaml, namespaces, states   the kind, its objects, labels of namespaces, what the objects said
#   DIR/values.yaml             what the settings come to in our chart; encrypt-key: the one that is in no Secret of its namespace
#   DIR/pointed                 (operator half) which Viola an OpenstackConfig named; rows come as they are changed
#   DIR/complete, gone-back     all of it is there; it was put back

# open_backup: whether the folder is one of this cluster and half; dies when it is of another, or of another migration.
open_backup() {
  local cluster id
  ask get namespace kube-system -o 'jsonpath={.metadata.uid}'
  cluster=$answer
  ask get configmap "$marker" -n multinic-system --ignore-not-found -o 'jsonpath={.data.id}{" "}{.data.directory}'
  id=${answer%% *}
  if [[ -e $backup/complete ]]; then
    [[ $(<"$backup/half") == "$half" ]] || die "$backup is a backup of the half $(<"$backup/half")" "give the folder of the half $half"
    [[ $(<"$backup/cluster") == "$cluster" ]] || die "$backup is a backup of another cluster" "give --context NAME of that cluster, or another folder"
    [[ -z $id || $id == "$(<"$backup/id")" ]] || die "this cluster is being migrated with the backup ${answer#* }" "give that folder"
    return 0
  fi
  [[ -z $id ]] || die "this cluster is being migrated with the backup ${answer#* }, and $backup is not that one" "give that folder"
  [[ ! -d $backup || -e $backup/half || -z $(ls -A "$backup") ]] || die "$backup holds something else" "give a folder that is empty or not there yet"
  return 1
}

# lock_backup: nobody else is at work with it, from here to the end of this run and of every helm that it starts. A filesystem
# that cannot lock is put up with.
lock_backup() {
  local code=0
  $dry_run && return
  exec {lock}<"$backup"
  flock --nonblock --conflict-exit-code 75 "$lock" 2>/dev/null || code=$?
  ((code == 75)) || return 0
  say "waiting for another run with the backup $backup"
  flock --timeout 30 "$lock" ||
    die "another run is at work with the backup $backup, or a helm of one that was killed" "see ps -ef | grep -e migrate.sh -e helm; run this again when it has ended"
}

# save: everything of $theirs, and what the objects of the kind $kind say now.
save() {
  local key uid fate object number=0
  if $dry_run; then
    say "+ save ${#theirs[@]} objects in $backup"
    return
  fi
  say "+ save ${#theirs[@]} objects in $backup"
  umask 077
  mkdir -p "$backup"
  lock_backup
  [[ ! -e $backup/complete ]] || die "another run has begun the migration with $backup meanwhile" "run this again, which goes on from there"
  rm -rf "$backup/files"
  mkdir -p "$backup/files"
  echo "$half" >"$backup/half"
  : >"$backup/objects"
  while IFS= read -r key; do
    IFS=$sep read -r uid fate <<<"${theirs[$key]}"
    number=$((number + 1))
    object=$(printf 'files/%03d-%s.json' "$number" "$(tr -c 'A-Za-z0-9.\n-' _ <<<"${key//$sep/-}")")
    as_it_was "$key" >"$backup/$object"
    printf '%s\n' "$key$sep$uid$sep$fate$sep$object" >>"$backup/objects"
  done < <(printf '%s\n' "${!theirs[@]}" | sort)
  save_kind
  printf '%s' "$values" >"$backup/values.yaml"
  [[ -z $own_key ]] || printf %s "$own_key" >"$backup/encrypt-key"
  ask get namespace kube-system -o 'jsonpath={.metadata.uid}'
  echo "$answer" >"$backup/cluster"
  echo "$(date -u +%Y%m%dT%H%M%SZ)-$RANDOM$RANDOM" >"$backup/id"
  sync -f "$backup"
  touch "$backup/complete"
}

save_kind() {
  if there crd "$kind"; then
    plain get crd "$kind" >"$backup/definition.yaml"
    kube get "$kind" -A -o yaml >"$backup/configs.yaml"
    rows "{{.metadata.namespace}}$sep{{.metadata.name}}$sep$said" "$kind" -A
    printf '%s\n' "$answer" >"$backup/states"
  else
    : >"$backup/states"
  fi
  rows "{{.metadata.name}}$sep$enforced" namespaces
  printf '%s\n' "$answer" >"$backup/namespaces"
}

enforced=$(label pod-security.kubernetes.io/enforce)$sep$(label pod-security.kubernetes.io/warn)

# as_it_was KEY: what it takes to be created with a request of its own is that it has no version.
as_it_was() {
  local kind namespace name where=()
  IFS=$sep read -r kind namespace name <<<"$1"
  [[ $namespace == - ]] || where=(-n "$namespace")
  kube get "$kind" "$name" "${where[@]}" -o json | sed -E 's/^(        "resourceVersion": )"[0-9]+"/\1""/'
}

# plain ARGUMENT…: one object as YAML, without what the API server says and no person wrote.
plain() {
  kube "$@" -o yaml --show-managed-fields=false | awk '
    /^[^ ]/ { skipped = /^status:/ }
    skipped || /^  (uid|resourceVersion|generation|creationTimestamp|selfLink):/ { next }
    { print }'
}

# mark: says in the cluster which backup belongs to it, before the first change.
mark() {
  local id
  ask get configmap "$marker" -n multinic-system --ignore-not-found -o 'jsonpath={.data.id}'
  id=$answer
  if [[ -n $id && $id != "$(<"$backup/id")" ]]; then
    $dry_run || rm -f "$backup/complete"
    die "another run has begun the migration of this cluster meanwhile" "run this again, which says with what backup"
  fi
  [[ -z $id ]] || return 0
  there namespace multinic-system || change kube create namespace multinic-system
  change kube -n multinic-system create configmap "$marker" \
    "--from-literal=id=$($dry_run || cat "$backup/id")" "--from-literal=directory=$(hostname):$(readlink -m "$backup")"
}

# saved FATE: rows of the backup's objects that are to be removed, or to be left; before there is a backup, of what was found.
saved() {
  local key uid fate
  if [[ -e $backup/objects ]]; then
    grep "$sep$1$sep" "$backup/objects" || true
    return
  fi
  for key in "${!theirs[@]}"; do
    IFS=$sep read -r uid fate <<<"${theirs[$key]}"
    [[ $fate != "$1" ]] || printf '%s\n' "$key$sep$uid$sep$fate$sep"
  done
}

# removal_order, creation_order: rows of objects, so that nothing refers to what is gone, or not there yet.
removal_order() {
  awk -F"$sep" '{ print ($1 ~ /^Deployment/ ? 1 : $1 ~ /Binding/ ? 2 : $1 ~ /^(Secret|ConfigMap)/ ? 4 : 3) FS $0 }' | sort | cut -d"$sep" -f2-
}

creation_order() {
  awk -F"$sep" '{ print ($1 ~ /^(Secret|ConfigMap|ServiceAccount|PersistentVolume)/ ? 1 : $1 ~ /^(Cluster)?Role\./ ? 2 : $1 ~ /Binding/ ? 3 : $1 ~ /^Deployment/ ? 5 : 4) FS $0 }' | sort | cut -d"$sep" -f2-
}

# remove_theirs: takes away what was saved to be removed; what has its name by now and is another object stays.
remove_theirs() {
  local kind namespace name uid fate file where rest
  rest=$(saved remove | removal_order)
  while IFS=$sep read -r kind namespace name uid fate file; do
    [[ -n $name ]] || continue
    where=()
    [[ $namespace == - ]] || where=(-n "$namespace")
    ask get "$kind" "$name" "${where[@]}" --ignore-not-found -o 'jsonpath={.metadata.uid}'
    [[ $answer == "$uid" ]] || continue
    change kube delete "$kind" "$name" "${where[@]}" --ignore-not-found
  done <<<"$rest"
}

# restore_theirs: puts back what is not there, and makes Deployments that were only stopped what they were.
restore_theirs() {
  local kind namespace name uid fate file where rest path
  ask api-resources --no-headers
  served=$answer
  rest=$(creation_order <"$backup/objects")
  while IFS=$sep read -r kind namespace name uid fate file; do
    [[ -n $name ]] || continue
    where=()
    [[ $namespace == - ]] || where=(-n "$namespace")
    ask get "$kind" "$name" "${where[@]}" --ignore-not-found -o "go-template={{.metadata.uid}}$sep$ours"
    # In a dry run ours is still there.
    if [[ $answer == *"${sep}multinic" ]] && $dry_run; then answer=''; fi
    [[ $answer != *"${sep}multinic" ]] || die "$kind $name is there, and is ours" "see kubectl get $kind $name ${where[*]}; helm uninstall what it belongs to, then run this again"
    path_of "$kind" "$namespace"
    if [[ -z $answer ]]; then
      create_raw "$path" "$file"
    elif [[ $answer == "$uid$sep" && $kind == Deployment.* ]]; then
      change kube replace --raw "$path/$name" -f "$backup/$file" >/dev/null
    fi
  done <<<"$rest"
}

# path_of KIND.VERSION.GROUP NAMESPACE: where the API server has such objects, in $path.
path_of() {
  local version=${1#*.} plural api
  api=${version%%.*}
  [[ -z ${version#*.} ]] || api=${version#*.}/$api
  plural=$(awk -v kind="${1%%.*}" -v api="$api" '$NF == kind && $(NF - 2) == api && !found { print $1; found = 1 }' <<<"$served")
  [[ -n $plural ]] || die "this cluster has no kind $1 any more" "install what defines it, then run this again"
  path=/apis/$api
  [[ $api == */* ]] || path=/api/$api
  [[ $2 == - ]] || path+=/namespaces/$2
  path+=/$plural
}

# create_raw PATH FILE: as it was; an address of a Service that somebody has by now is given anew.
create_raw() {
  say "+ kube create --raw $1 -f $backup/$2"
  if $dry_run || kube create --raw "$1" -f "$backup/$2" >/dev/null 2>"$scratch/refused"; then return; fi
  [[ $1 == */services ]] || die "$(<"$scratch/refused")" "correct that, then run this again"
  awk '/"clusterIP": / { next } /"clusterIPs": \[/ { skipped = 1 } !skipped { print } /\]/ { skipped = 0 }' "$backup/$2" >"$scratch/service"
  change kube create --raw "$1" -f "$scratch/service" >/dev/null
}
