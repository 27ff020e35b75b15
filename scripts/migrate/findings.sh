# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: collects and prints the findings of `check`, checks rights, and detects GitOps tools.

findings=()
notices=()
obstacles=()
acceptable=()

# finding, notice TEXT: adds an object of the cluster; adds a fact without required action.
finding() {
  findings+=("$1")
}

notice() {
  notices+=("$1")
}

# Codes that --accept does not cover.
final=' nothing rights kind '

# block CODE WHY NEXT: adds an obstacle. The user must resolve or accept every obstacle before the script changes the cluster.
block() {
  if [[ $accepted == *" $1 "* && $final != *" $1 "* ]]; then
    notice "accepted, [$1]: $2"
    return
  fi
  [[ $final == *" $1 "* ]] || acceptable+=("$1")
  obstacles+=("[$1] $2"$'\n'"      Next: $3")
}

# block_all CODE WHY NEXT ITEM…: adds a single obstacle for all items and prints the first ten; without items no obstacle.
block_all() {
  local code=$1 why=$2 next=$3 shown
  shift 3
  (($#)) || return 0
  printf -v shown '\n      %s' "${@:1:10}"
  (($# <= 10)) || shown+=$'\n'"      … and $(($# - 10)) more"
  block "$code" "$why:$shown" "$next"
}

# print_findings STEP…: prints findings, planned steps, notices and obstacles.
print_findings() {
  section 'found' "${findings[@]}"
  section 'planned steps' "$@"
  print_obstacles
}

print_obstacles() {
  section 'notices' "${notices[@]}"
  section 'obstacles' "${obstacles[@]}"
}

section() {
  local title=$1 item
  shift
  (($#)) || return 0
  say "$title:"
  for item; do say "  - $item"; done
}

# require_no_obstacle: ends the script while an obstacle exists.
require_no_obstacle() {
  ((${#obstacles[@]} == 0)) && return
  local codes
  codes=$(IFS=,; echo "${acceptable[*]}")
  die "obstacles to the migration: ${#obstacles[@]} (above)" "resolve each obstacle${codes:+, or accept the obstacles after a review: --accept $codes}"
}

# Rights for both halves and both directions, in every namespace or cluster-wide: VERB/RESOURCE[.GROUP][/SUBRESOURCE]. `back` restores
# roles, and RBAC lets a user create only roles with rights that the user has, or with escalate.
rights=(
  list/deployments.apps list/pods
  {create,patch}/namespaces
  {create,update,patch}/customresourcedefinitions.apiextensions.k8s.io patch/customresourcedefinitions.apiextensions.k8s.io/status
  {create,patch,delete}/{clusterroles,clusterrolebindings,roles,rolebindings}.rbac.authorization.k8s.io
  {escalate,bind}/clusterroles.rbac.authorization.k8s.io
  {create,patch,delete}/{serviceaccounts,services,configmaps}
  {create,update,delete}/secrets
  {create,update,patch,delete}/deployments.apps patch/deployments.apps/scale
  {create,patch,delete}/networkpolicies.networking.k8s.io
)

# may_all RIGHT…: ends the script with a list of missing rights, because findings would be incomplete. A single request creates all
# SelfSubjectAccessReviews; the API server stores none.
may_all() {
  local right verb resource group part allowed reviews='' missing=''
  for right; do
    IFS=/ read -r verb resource part <<<"$right"
    group=''
    [[ $resource != *.* ]] || group=${resource#*.}
    reviews+="{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {resourceAttributes: {verb: $verb, resource: ${resource%%.*}, group: \"$group\", subresource: \"$part\"}}}"$'\n---\n'
  done
  read_cluster create --validate=false -f - -o "go-template={{with .spec.resourceAttributes}}{{.verb}}$sep{{.resource}}$sep{{with .subresource}}{{.}}{{end}}{{end}}$sep{{.status.allowed}}{{\"\\n\"}}" <<<"$reviews"
  while IFS=$sep read -r verb resource part allowed; do
    [[ -z $verb || $allowed == true ]] || missing+=$'\n'"      $verb $resource${part:+/$part}"
  done <<<"$answer"
  [[ -n $missing ]] || return 0
  block rights "these rights are missing:$missing" "use a kubeconfig of an administrator of this cluster"
  print_obstacles
  require_no_obstacle
}

# check_deployments NAMESPACE/NAME…: obstacles and notices for Deployments that the script stops.
check_deployments() {
  local object
  for object; do
    read_cluster get deployment "${object#*/}" -n "${object%/*}" -o 'jsonpath={.spec.replicas}'
    [[ $answer != 0 ]] || notice "Deployment $object has 0 replicas, and gets 0 replicas again after back"
  done
  block_gitops "$@"
}

# block_gitops NAMESPACE/NAME…: Argo CD or Flux would restore the Deployment during the migration. Argo CD may track objects by a label
# that helm also sets: then only managedFields name Argo CD.
block_gitops() {
  local object by managed=()
  for object; do
    read_cluster get deployment "${object#*/}" -n "${object%/*}" -o "go-template=$(label argocd.argoproj.io/instance)$(annotation argocd.argoproj.io/tracking-id)$(label kustomize.toolkit.fluxcd.io/name)$(label helm.toolkit.fluxcd.io/name)"
    by=$answer
    if [[ -z $by ]]; then
      read_cluster get deployment "${object#*/}" -n "${object%/*}" --show-managed-fields -o 'go-template={{range .metadata.managedFields}}{{.manager}}{{"\n"}}{{end}}'
      by=$(grep -Em1 '^(argocd-.*|kustomize-controller|helm-controller)$' <<<"$answer") || true
    fi
    [[ -z $by ]] || managed+=("Deployment $object by $by")
  done
  block_all gitops "Argo CD or Flux applies the legacy system and would restore these Deployments" \
    "remove the legacy system from this tool, or pause the tool, until the migration ends" "${managed[@]}"
}
