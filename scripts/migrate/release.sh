# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: MultiNIC's helm release, and the objects that the release shares with the legacy system: CRD, namespaces, pull Secrets.

# upgrade_release HELM-ARGUMENT…: installs or upgrades MultiNIC with values from the backup (or $values_file), then from the command
# line, then from these arguments.
upgrade_release() {
  local files=() of=${values_file:-$backup/values.yaml}
  [[ ! -s $of ]] || files=(--values "$of")
  # No server-side dry run: legacy objects with the same names still exist.
  if $dry_run; then
    say "+ helm upgrade --install $release $release --namespace $namespace ${files[*]} ${arguments[*]} $*"
    kube_helm template "$release" "$root/charts/$release" --namespace "$namespace" "${files[@]}" "${arguments[@]}" "$@" >/dev/null ||
      die "helm cannot render $release" "correct the error above"
    return
  fi
  recover_interrupted_release
  install_release "$release" "$release" "$namespace" "${files[@]}" "${arguments[@]}" "$@"
}

# A killed helm leaves a pending release, and later helm calls refuse to upgrade a pending release.
recover_interrupted_release() {
  local state
  state=$(kube_helm list -n "$namespace" --filter "^$release\$" --pending -q) || die "helm cannot list releases" "correct the error above"
  [[ -n $state ]] || return 0
  state=$(kube_helm status "$release" -n "$namespace" 2>/dev/null | sed -n 's/^STATUS: //p')
  say "an earlier helm run was interrupted ($state)"
  case $state in
    pending-install) change kube_helm uninstall "$release" -n "$namespace" --no-hooks ;;
    *) change kube_helm rollback "$release" -n "$namespace" --no-hooks ;;
  esac
}

# is_released: true if the helm release with this name is MultiNIC's, not the legacy system's.
is_released() {
  read_cluster get secret -n "$namespace" -l "owner=helm,name=$release" -o name
  [[ -n $answer ]] && ! is_legacy_release
}

# is_legacy_release: true if the helm release with this name is the legacy system's.
is_legacy_release() {
  local manifest
  manifest=$(kube_helm get manifest "$release" -n "$namespace" 2>/dev/null) || return 1
  [[ $manifest != *'app.kubernetes.io/part-of: multinic'* ]]
}

# adopt ARGUMENT…: marks existing objects as part of the release; helm refuses to take over unmarked objects.
adopt() {
  change kube annotate "$@" --overwrite "meta.helm.sh/release-name=$release" "meta.helm.sh/release-namespace=$namespace"
  change kube label "$@" --overwrite app.kubernetes.io/managed-by=Helm
}

# install_crd: replaces the legacy CRD by MultiNIC's; objects stay, and the API server serves all former versions. The field manager is
# helm: with a different manager a later helm upgrade would meet field conflicts.
install_crd() {
  change kube apply --server-side --force-conflicts --field-manager=helm -f "$root/deploy/crds/${kind#*.}_${kind%%.*}.yaml"
  wait_for 60 "the CRD $kind" established || die "the API server does not serve $kind" "see kubectl describe crd $kind"
  adopt crd "$kind"
}

established() {
  kube wait --for=condition=Established "crd/$kind" --timeout=5s >/dev/null 2>&1
}

uninstall_multinic() {
  ! is_released || change kube_helm uninstall "$release" -n "$namespace" --wait --timeout 5m
}

# copy_pull_secrets NAMESPACE: copies imagePullSecrets from the namespaces of the saved Deployments.
copy_pull_secrets() {
  local name names from sources
  names=$(grep '^  imagePullSecrets: ' "$backup/values.yaml" 2>/dev/null | grep -o '"name":"[^"]*"' | cut -d'"' -f4) || true
  sources=$(backup_rows remove | awk -F"$sep" '/^Deployment/ { print $2 }' | sort -u)
  while read -r name; do
    [[ -n $name ]] || continue
    for from in $sources; do
      if exists secret "$name" -n "$1" || ! exists secret "$name" -n "$from"; then continue; fi
      portable_yaml get secret "$name" -n "$from" | sed "s/^  namespace: .*/  namespace: $1/" >"$scratch/pull-secret"
      change kube create -f "$scratch/pull-secret"
    done
  done <<<"$names"
}

# restrict_namespace: sets Pod Security level restricted, unless foreign Pods in the namespace need more rights.
restrict_namespace() {
  local warnings
  exists namespace "$namespace" || { restricted_namespace "$namespace"; return; }
  warnings=$(kube label namespace "$namespace" --overwrite --dry-run=server pod-security.kubernetes.io/enforce=restricted 2>&1 >/dev/null) ||
    die "kubectl cannot label namespace $namespace" "$warnings"
  if [[ $warnings == *'existing pods in namespace'* ]]; then
    say "the Pod Security level of namespace $namespace stays: foreign Pods in this namespace need more rights"
    return
  fi
  restricted_namespace "$namespace"
}

# restore_labels NAMESPACE: restores the saved Pod Security level: legacy agents need more rights than MultiNIC's.
restore_labels() {
  local name enforce warn
  exists namespace "$1" || return 0
  IFS=$sep read -r name enforce warn < <(row_of "$1$sep" "$backup/namespaces") || return 0
  read_cluster get namespace "$1" -o "go-template=$pod_security_template"
  [[ $answer != "$enforce$sep$warn" ]] || return 0
  change kube label namespace "$1" --overwrite "pod-security.kubernetes.io/enforce${enforce:+=}${enforce:--}" \
    "pod-security.kubernetes.io/warn${warn:+=}${warn:--}"
}

# restore_crd: restores the legacy CRD. This CRD has only v1alpha1, so every object is first stored as v1alpha1.
restore_crd() {
  local position
  exists crd "$kind" || return 0
  read_cluster get crd "$kind" -o 'jsonpath={range .spec.versions[*]}{.name} {end}'
  [[ " $answer " == *' v1 '* ]] || return 0
  position=$([[ $answer == v1\ * ]] && echo '0 1' || echo '1 0')
  change kube patch crd "$kind" --type=json -p "[
    {\"op\": \"replace\", \"path\": \"/spec/versions/${position% *}/storage\", \"value\": false},
    {\"op\": \"replace\", \"path\": \"/spec/versions/${position#* }/storage\", \"value\": true}]"
  wait_for 60 "the CRD $kind" objects_rewritten || die "not all objects of $kind are stored as v1alpha1" "run this script again"
  change kube patch crd "$kind" --subresource=status --type=merge -p '{"status":{"storedVersions":["v1alpha1"]}}'
  change kube replace -f "$backup/definition.yaml"
}

# The API server stores an object in the version of the last write. A concurrent write is a conflict, and wait_for calls again.
objects_rewritten() {
  local objects
  objects=$(kube get "$kind" -A -o json) && [[ -n $objects ]] || return 1
  [[ $objects != *'"items": []'* ]] || return 0
  kube replace -f - <<<"$objects" >/dev/null
}
