# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: what `check` finds, told in one piece; nothing here looks at a cluster.

found=()
minded=()
blocks=()
blocked=()

# found, mind TEXT: what is there; what nobody has to change and somebody may want to know.
found() {
  found+=("$1")
}

mind() {
  minded+=("$1")
}

# Without these there is no way forward, whoever accepts it.
final=' nothing rights kind '

# block CODE WHY NEXT: what has to be dealt with, or accepted, before anything may be changed.
block() {
  if [[ $accepted == *" $1 "* && $final != *" $1 "* ]]; then
    mind "accepted, [$1]: $2"
    return
  fi
  [[ $final == *" $1 "* ]] || blocked+=("$1")
  blocks+=("[$1] $2"$'\n'"      Next: $3")
}

# block_all CODE WHY NEXT ITEM…: one finding for all items, if there are any; ten of them are told.
block_all() {
  local code=$1 why=$2 next=$3 shown
  shift 3
  (($#)) || return 0
  printf -v shown '\n      %s' "${@:1:10}"
  (($# <= 10)) || shown+=$'\n'"      … and $(($# - 10)) more"
  block "$code" "$why:$shown" "$next"
}

# tell STEP…: all that was found, and what would be done.
tell() {
  section 'found' "${found[@]}"
  section 'would happen' "$@"
  tell_blocks
}

tell_blocks() {
  section 'to know' "${minded[@]}"
  section 'in the way' "${blocks[@]}"
}

section() {
  local title=$1 item
  shift
  (($#)) || return 0
  say "$title:"
  for item; do say "  - $item"; done
}

# unblocked: ends everything while something is in the way.
unblocked() {
  ((${#blocks[@]} == 0)) && return
  local codes
  codes=$(IFS=,; echo "${blocked[*]}")
  die "this cluster is not fit: ${#blocks[@]} in the way, see above" "deal with each${codes:+, or accept what you have looked at: --accept $codes}"
}

# What either half needs on both ways, in any namespace or none: VERB/RESOURCE[.GROUP][/SUBRESOURCE]. Who puts roles back grants
# what these say.
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

# may_all RIGHT…: rights that are missing are one finding, and the end: without them not even a look says all. One request for
# all of them; who is asked changes nothing.
may_all() {
  local right verb resource group part allowed reviews='' missing=''
  for right; do
    IFS=/ read -r verb resource part <<<"$right"
    group=''
    [[ $resource != *.* ]] || group=${resource#*.}
    reviews+="{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {resourceAttributes: {verb: $verb, resource: ${resource%%.*}, group: \"$group\", subresource: \"$part\"}}}"$'\n---\n'
  done
  ask create --validate=false -f - -o "go-template={{with .spec.resourceAttributes}}{{.verb}}$sep{{.resource}}$sep{{with .subresource}}{{.}}{{end}}{{end}}$sep{{.status.allowed}}{{\"\\n\"}}" <<<"$reviews"
  while IFS=$sep read -r verb resource part allowed; do
    [[ -z $verb || $allowed == true ]] || missing+=$'\n'"      $verb $resource${part:+/$part}"
  done <<<"$answer"
  [[ -n $missing ]] || return 0
  block rights "these rights are missing:$missing" "use a kubeconfig of an administrator of this cluster"
  tell_blocks
  unblocked
}

# check_deployments NAMESPACE/NAME…: what either half asks of what it stops.
check_deployments() {
  local it
  for it; do
    ask get deployment "${it#*/}" -n "${it%/*}" -o 'jsonpath={.spec.replicas}'
    [[ $answer != 0 ]] || mind "Deployment $it has no replicas: it will have none again after going back"
  done
  block_gitops "$@"
}

# block_gitops NAMESPACE/NAME…: what somebody else applies again and again would come back while it is being replaced. Argo CD may
# keep track by a label that is helm's too: then only what it has written tells.
block_gitops() {
  local it by held=()
  for it; do
    ask get deployment "${it#*/}" -n "${it%/*}" -o "go-template=$(label argocd.argoproj.io/instance)$(annotation argocd.argoproj.io/tracking-id)$(label kustomize.toolkit.fluxcd.io/name)$(label helm.toolkit.fluxcd.io/name)"
    by=$answer
    if [[ -z $by ]]; then
      ask get deployment "${it#*/}" -n "${it%/*}" --show-managed-fields -o 'go-template={{range .metadata.managedFields}}{{.manager}}{{"\n"}}{{end}}'
      by=$(grep -Em1 '^(argocd-.*|kustomize-controller|helm-controller)$' <<<"$answer") || true
    fi
    [[ -z $by ]] || held+=("Deployment $it by $by")
  done
  block_all gitops "Argo CD or Flux applies the deployed system, and would bring it back" \
    "take it out of there, or pause it there, until the migration is over" "${held[@]}"
}
