# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: our release, which takes the place of the deployed system, and what it shares with it.

# place_release HELM-ARGUMENT…: installs or upgrades ours with the values of the backup (or of $settled), then those of the command
# line, then these.
place_release() {
  local files=() of=${settled:-$backup/values.yaml}
  [[ ! -s $of ]] || files=(--values "$of")
  # A dry run at the server would meet what is only removed by then.
  if $dry_run; then
    say "+ helm upgrade --install $release $release --namespace $namespace ${files[*]} ${arguments[*]} $*"
    kube_helm template "$release" "$root/charts/$release" --namespace "$namespace" "${files[@]}" "${arguments[@]}" "$@" >/dev/null ||
      die "helm cannot render $release" "correct what it says above"
    return
  fi
  end_pending
  install_release "$release" "$release" "$namespace" "${files[@]}" "${arguments[@]}" "$@"
}

# A helm that was killed leaves a release that no helm goes on with.
end_pending() {
  local state
  state=$(kube_helm list -n "$namespace" --filter "^$release\$" --pending -q) || die "helm cannot read its releases" "correct what it says above"
  [[ -n $state ]] || return 0
  state=$(kube_helm status "$release" -n "$namespace" 2>/dev/null | sed -n 's/^STATUS: //p')
  say "an earlier run of helm was interrupted ($state)"
  case $state in
    pending-install) change kube_helm uninstall "$release" -n "$namespace" --no-hooks ;;
    *) change kube_helm rollback "$release" -n "$namespace" --no-hooks ;;
  esac
}

# is_released: whether helm has our chart there under this name, and not a chart of the deployed system.
is_released() {
  ask get secret -n "$namespace" -l "owner=helm,name=$release" -o name
  [[ -n $answer ]] && ! theirs_by_name
}

# theirs_by_name: whether the release of our name in our namespace is the deployed system's.
theirs_by_name() {
  local manifest
  manifest=$(kube_helm get manifest "$release" -n "$namespace" 2>/dev/null) || return 1
  [[ $manifest != *'app.kubernetes.io/part-of: multinic'* ]]
}

# adopt ARGUMENT…: makes what is there, such as the kind and its objects, part of our release; helm takes nothing else over.
adopt() {
  change kube annotate "$@" --overwrite "meta.helm.sh/release-name=$release" "meta.helm.sh/release-namespace=$namespace"
  change kube label "$@" --overwrite app.kubernetes.io/managed-by=Helm
}

# place_kind: our definition of the kind in place of theirs; objects stay, and are served as before. It is applied as helm does,
# which would find fields of somebody else otherwise.
place_kind() {
  change kube apply --server-side --force-conflicts --field-manager=helm -f "$root/deploy/crds/${kind#*.}_${kind%%.*}.yaml"
  wait_for 60 "the kind $kind" established || die "the API server does not serve $kind" "see kubectl describe crd $kind"
  adopt crd "$kind"
}

established() {
  kube wait --for=condition=Established "crd/$kind" --timeout=5s >/dev/null 2>&1
}

# uninstall_release
uninstall_release() {
  ! is_released || change kube_helm uninstall "$release" -n "$namespace" --wait --timeout 5m
}

# copy_pull_secrets NAMESPACE: the Secrets with which images are pulled, from where Deployments of the backup have them.
copy_pull_secrets() {
  local name names from sources
  names=$(grep '^  imagePullSecrets: ' "$backup/values.yaml" 2>/dev/null | grep -o '"name":"[^"]*"' | cut -d'"' -f4) || true
  sources=$(saved remove | awk -F"$sep" '/^Deployment/ { print $2 }' | sort -u)
  while read -r name; do
    [[ -n $name ]] || continue
    for from in $sources; do
      if there secret "$name" -n "$1" || ! there secret "$name" -n "$from"; then continue; fi
      plain get secret "$name" -n "$from" | sed "s/^  namespace: .*/  namespace: $1/" >"$scratch/pull-secret"
      change kube create -f "$scratch/pull-secret"
    done
  done <<<"$names"
}

# restrict_namespace: the level that everything of ours is made for, unless something else there needs more.
restrict_namespace() {
  local said
  there namespace "$namespace" || { restricted_namespace "$namespace"; return; }
  said=$(kube label namespace "$namespace" --overwrite --dry-run=server pod-security.kubernetes.io/enforce=restricted 2>&1 >/dev/null) ||
    die "namespace $namespace cannot be labelled" "$said"
  if [[ $said == *'existing pods in namespace'* ]]; then
    say "namespace $namespace keeps its Pod Security level: Pods that are not ours need more there"
    return
  fi
  restricted_namespace "$namespace"
}

# restore_labels NAMESPACE: the Pod Security level that it was saved with; the deployed agents need more than ours.
restore_labels() {
  local name enforce warn
  there namespace "$1" || return 0
  IFS=$sep read -r name enforce warn < <(row_of "$1$sep" "$backup/namespaces") || return 0
  ask get namespace "$1" -o "go-template=$enforced"
  [[ $answer != "$enforce$sep$warn" ]] || return 0
  change kube label namespace "$1" --overwrite "pod-security.kubernetes.io/enforce${enforce:+=}${enforce:--}" \
    "pod-security.kubernetes.io/warn${warn:+=}${warn:--}"
}

# restore_kind: theirs as it was saved, which knows one version: everything is stored in that one first.
restore_kind() {
  local position
  there crd "$kind" || return 0
  ask get crd "$kind" -o 'jsonpath={range .spec.versions[*]}{.name} {end}'
  [[ " $answer " == *' v1 '* ]] || return 0
  position=$([[ $answer == v1\ * ]] && echo '0 1' || echo '1 0')
  change kube patch crd "$kind" --type=json -p "[
    {\"op\": \"replace\", \"path\": \"/spec/versions/${position% *}/storage\", \"value\": false},
    {\"op\": \"replace\", \"path\": \"/spec/versions/${position#* }/storage\", \"value\": true}]"
  wait_for 60 "the kind $kind" stored_anew || die "not all objects of $kind are stored in the version of before" "run this again"
  change kube patch crd "$kind" --subresource=status --type=merge -p '{"status":{"storedVersions":["v1alpha1"]}}'
  change kube replace -f "$backup/definition.yaml"
}

# An object is stored in the version of its last write; one that somebody writes meanwhile is a conflict, and tried again.
stored_anew() {
  local objects
  objects=$(kube get "$kind" -A -o json) && [[ -n $objects ]] || return 1
  [[ $objects != *'"items": []'* ]] || return 0
  kube replace -f - <<<"$objects" >/dev/null
}
