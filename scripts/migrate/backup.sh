# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: saves the legacy system to files, and restores it. The backup is complete before the script changes the cluster, and is never
# overwritten.
#
#   DIR/id, cluster, half       identity of the migration
#   DIR/objects                 a row per object: kind, namespace, name, uid, action (remove or leave), file
#   DIR/files/N-KIND-NAME.json  the object for a raw request: kubectl apply would rewrite the last-applied annotation
#   DIR/definition.yaml, configs.yaml, namespaces, states   CRD, custom resources, Pod Security labels, states before the migration
#   DIR/values.yaml, encrypt-key   chart values with the legacy settings; Contrabass key without a usable Secret
#   DIR/pointed                 (operator half) former violaEndpoint per OpenstackConfig, added at each change
#   DIR/complete, gone-back     marks: the backup is complete; the legacy system was restored

# open_backup: true for a complete backup of this cluster and half; dies when the folder belongs to a different cluster, half or migration.
open_backup() {
  local cluster id
  read_cluster get namespace kube-system -o 'jsonpath={.metadata.uid}'
  cluster=$answer
  read_cluster get configmap "$marker" -n multinic-system --ignore-not-found -o 'jsonpath={.data.id}{" "}{.data.directory}'
  id=${answer%% *}
  if [[ -e $backup/complete ]]; then
    [[ $(<"$backup/half") == "$half" ]] || die "$backup is a backup of the half $(<"$backup/half")" "pass the folder of the half $half"
    [[ $(<"$backup/cluster") == "$cluster" ]] || die "$backup is a backup of a different cluster" "pass --context NAME of the saved cluster, or the folder of this cluster"
    [[ -z $id || $id == "$(<"$backup/id")" ]] || die "this cluster is being migrated with the backup ${answer#* }" "pass this folder"
    return 0
  fi
  [[ -z $id ]] || die "this cluster is being migrated with the backup ${answer#* }, not with $backup" "pass the folder of this migration"
  [[ ! -d $backup || -e $backup/half || -z $(ls -A "$backup") ]] || die "$backup has files, but no backup" "pass an empty or new folder"
  return 1
}

# lock_backup: excludes a second run on this backup until this run and every helm child end. On a filesystem without locks the script
# continues unlocked.
lock_backup() {
  local code=0
  $dry_run && return
  exec {lock}<"$backup"
  flock --nonblock --conflict-exit-code 75 "$lock" 2>/dev/null || code=$?
  ((code == 75)) || return 0
  say "waiting for a second run with the backup $backup"
  flock --timeout 30 "$lock" ||
    die "another run uses the backup $backup, or helm of a killed run" "find the process: ps -ef | grep -e migrate.sh -e helm; run this script again after the process has ended"
}

# save_backup: writes all $legacy_objects, and the states of all objects of $kind.
save_backup() {
  local key uid action object number=0
  if $dry_run; then
    say "+ save $(counted "${#legacy_objects[@]}" object) in $backup"
    return
  fi
  say "+ save $(counted "${#legacy_objects[@]}" object) in $backup"
  umask 077
  mkdir -p "$backup"
  lock_backup
  [[ ! -e $backup/complete ]] || die "another run has started the migration with $backup meanwhile" "run this script again to continue the migration"
  rm -rf "$backup/files"
  mkdir -p "$backup/files"
  echo "$half" >"$backup/half"
  : >"$backup/objects"
  while IFS= read -r key; do
    IFS=$sep read -r uid action <<<"${legacy_objects[$key]}"
    number=$((number + 1))
    object=$(printf 'files/%03d-%s.json' "$number" "$(tr -c 'A-Za-z0-9.\n-' _ <<<"${key//$sep/-}")")
    object_json "$key" >"$backup/$object"
    printf '%s\n' "$key$sep$uid$sep$action$sep$object" >>"$backup/objects"
  done < <(printf '%s\n' "${!legacy_objects[@]}" | sort)
  save_crd
  printf '%s' "$values" >"$backup/values.yaml"
  [[ -z $contrabass_key ]] || printf %s "$contrabass_key" >"$backup/encrypt-key"
  read_cluster get namespace kube-system -o 'jsonpath={.metadata.uid}'
  echo "$answer" >"$backup/cluster"
  echo "$(date -u +%Y%m%dT%H%M%SZ)-$RANDOM$RANDOM" >"$backup/id"
  sync -f "$backup"
  touch "$backup/complete"
}

save_crd() {
  if exists crd "$kind"; then
    portable_yaml get crd "$kind" >"$backup/definition.yaml"
    kube get "$kind" -A -o yaml >"$backup/configs.yaml"
    rows "{{.metadata.namespace}}$sep{{.metadata.name}}$sep$state_template" "$kind" -A
    printf '%s\n' "$answer" >"$backup/states"
  else
    : >"$backup/states"
  fi
  rows "{{.metadata.name}}$sep$pod_security_template" namespaces
  printf '%s\n' "$answer" >"$backup/namespaces"
}

pod_security_template=$(label pod-security.kubernetes.io/enforce)$sep$(label pod-security.kubernetes.io/warn)

# object_json KEY: prints the object without resourceVersion: the API server refuses to create an object with a version.
object_json() {
  local kind namespace name where=()
  IFS=$sep read -r kind namespace name <<<"$1"
  [[ $namespace == - ]] || where=(-n "$namespace")
  kube get "$kind" "$name" "${where[@]}" -o json | sed -E 's/^(        "resourceVersion": )"[0-9]+"/\1""/'
}

# portable_yaml ARGUMENT…: prints an object as YAML without status and without metadata that the API server sets.
portable_yaml() {
  kube "$@" -o yaml --show-managed-fields=false | awk '
    /^[^ ]/ { skipped = /^status:/ }
    skipped || /^  (uid|resourceVersion|generation|creationTimestamp|selfLink):/ { next }
    { print }'
}

# mark_cluster: writes id and folder of the backup to a ConfigMap before the first change.
mark_cluster() {
  local id
  read_cluster get configmap "$marker" -n multinic-system --ignore-not-found -o 'jsonpath={.data.id}'
  id=$answer
  if [[ -n $id && $id != "$(<"$backup/id")" ]]; then
    $dry_run || rm -f "$backup/complete"
    die "another run has started the migration of this cluster meanwhile" "run this script again: the error then names the backup"
  fi
  [[ -z $id ]] || return 0
  exists namespace multinic-system || change kube create namespace multinic-system
  change kube -n multinic-system create configmap "$marker" \
    "--from-literal=id=$($dry_run || cat "$backup/id")" "--from-literal=directory=$(hostname):$(readlink -m "$backup")"
}

# backup_rows ACTION: prints saved objects with this action (remove or leave); without a backup, found objects.
backup_rows() {
  local key uid action
  if [[ -e $backup/objects ]]; then
    grep "$sep$1$sep" "$backup/objects" || true
    return
  fi
  for key in "${!legacy_objects[@]}"; do
    IFS=$sep read -r uid action <<<"${legacy_objects[$key]}"
    [[ $action != "$1" ]] || printf '%s\n' "$key$sep$uid$sep$action$sep"
  done
}

# removal_order, creation_order: sort rows by dependency: dependents are removed first and created last.
removal_order() {
  awk -F"$sep" '{ print ($1 ~ /^Deployment/ ? 1 : $1 ~ /Binding/ ? 2 : $1 ~ /^(Secret|ConfigMap)/ ? 4 : 3) FS $0 }' | sort | cut -d"$sep" -f2-
}

creation_order() {
  awk -F"$sep" '{ print ($1 ~ /^(Secret|ConfigMap|ServiceAccount|PersistentVolume)/ ? 1 : $1 ~ /^(Cluster)?Role\./ ? 2 : $1 ~ /Binding/ ? 3 : $1 ~ /^Deployment/ ? 5 : 4) FS $0 }' | sort | cut -d"$sep" -f2-
}

# remove_legacy_objects: deletes saved objects with action remove. A new object with the same name but a different uid stays.
remove_legacy_objects() {
  local kind namespace name uid action file where rest
  rest=$(backup_rows remove | removal_order)
  while IFS=$sep read -r kind namespace name uid action file; do
    [[ -n $name ]] || continue
    where=()
    [[ $namespace == - ]] || where=(-n "$namespace")
    read_cluster get "$kind" "$name" "${where[@]}" --ignore-not-found -o 'jsonpath={.metadata.uid}'
    [[ $answer == "$uid" ]] || continue
    change kube delete "$kind" "$name" "${where[@]}" --ignore-not-found
  done <<<"$rest"
}

# restore_legacy_objects: creates missing objects again, and restores the saved spec of scaled-down Deployments.
restore_legacy_objects() {
  local kind namespace name uid action file where rest path
  read_cluster api-resources --no-headers
  served=$answer
  rest=$(creation_order <"$backup/objects")
  while IFS=$sep read -r kind namespace name uid action file; do
    [[ -n $name ]] || continue
    where=()
    [[ $namespace == - ]] || where=(-n "$namespace")
    read_cluster get "$kind" "$name" "${where[@]}" --ignore-not-found -o "go-template={{.metadata.uid}}$sep$ours"
    # A dry run did not uninstall MultiNIC's release: ignore objects of this release.
    if [[ $answer == *"${sep}multinic" ]] && $dry_run; then answer=''; fi
    [[ $answer != *"${sep}multinic" ]] || die "$kind $name exists and belongs to MultiNIC" "find the release: kubectl get $kind $name ${where[*]} -o yaml; helm uninstall this release, then run this script again"
    path_of "$kind" "$namespace"
    if [[ -z $answer ]]; then
      create_raw "$path" "$file"
    elif [[ $answer == "$uid$sep" && $kind == Deployment.* ]]; then
      change kube replace --raw "$path/$name" -f "$backup/$file" >/dev/null
    fi
  done <<<"$rest"
}

# path_of KIND.VERSION.GROUP NAMESPACE: sets $path to the collection's path at the API server.
path_of() {
  local version=${1#*.} plural api
  api=${version%%.*}
  [[ -z ${version#*.} ]] || api=${version#*.}/$api
  plural=$(awk -v kind="${1%%.*}" -v api="$api" '$NF == kind && $(NF - 2) == api && !found { print $1; found = 1 }' <<<"$served")
  [[ -n $plural ]] || die "this cluster no longer serves the kind $1" "install the CRD of $1, then run this script again"
  path=/apis/$api
  [[ $api == */* ]] || path=/api/$api
  [[ $2 == - ]] || path+=/namespaces/$2
  path+=/$plural
}

# create_raw PATH FILE: creates the saved object. If a Service's clusterIP is taken by now, the API server allocates a new address.
create_raw() {
  say "+ kube create --raw $1 -f $backup/$2"
  if $dry_run || kube create --raw "$1" -f "$backup/$2" >/dev/null 2>"$scratch/refused"; then return; fi
  [[ $1 == */services ]] || die "$(<"$scratch/refused")" "correct this error, then run this script again"
  awk '/"clusterIP": / { next } /"clusterIPs": \[/ { skipped = 1 } !skipped { print } /\]/ { skipped = 0 }' "$backup/$2" >"$scratch/service"
  change kube create --raw "$1" -f "$scratch/service" >/dev/null
}
