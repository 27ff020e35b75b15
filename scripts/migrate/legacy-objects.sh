# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: finds the objects of the legacy system. These functions only read.

# Field separator of rows: no name contains this character, and `read` keeps empty fields between two separators.
sep=$'\x1f'

# read_cluster ARGUMENT…: sets $answer to kubectl's output. A failed read ends the script: absence is proved only by a successful read.
read_cluster() {
  answer=$(kube "$@") || die "kubectl cannot read the cluster: kubectl $*" "correct the error above, then run this script again"
}

# rows TEMPLATE ARGUMENT…: sets $answer to a row per object of `kubectl get`, for lists and single objects.
rows() {
  local template=$1
  shift
  read_cluster get "$@" -o "go-template={{if .items}}{{range .items}}$template{{\"\\n\"}}{{end}}{{else}}{{if .metadata.name}}$template{{\"\\n\"}}{{end}}{{end}}"
}

# row_of BEGINNING [FILE]: prints the first row with this beginning. No regular expression: names may contain dots.
row_of() {
  BEGINNING=$1 awk 'index($0, ENVIRON["BEGINNING"]) == 1 && !found { print; found = 1 }' "${2:--}"
}

# label NAME: prints a template for the value of a label ('' without the label).
label() {
  printf '{{with .metadata.labels}}{{with index . "%s"}}{{.}}{{end}}{{end}}' "$1"
}

# annotation NAME: prints a template for the value of an annotation ('' without the annotation).
annotation() {
  printf '{{with .metadata.annotations}}{{with index . "%s"}}{{.}}{{end}}{{end}}' "$1"
}

ours=$(label app.kubernetes.io/part-of)

# Templates to identify the legacy programs: commands, images, and settings that only legacy programs have.
containers='{{range .spec.template.spec.containers}}{{range .command}}{{.}} {{end}}{{range .args}}{{.}} {{end}}{{end}}'
images='{{range .spec.template.spec.containers}}{{.image}} {{end}}'
settings='{{range .spec.template.spec.containers}}{{range .env}}{{.name}} {{end}}{{end}}'

# is_controller, is_operator, is_viola NAME WORDS IMAGES SETTINGS
is_controller() {
  [[ " $2 " =~ [\ /]multinic-controller\  ]]
}

is_operator() {
  [[ $3 =~ multi(nic|-network-interface)-operator[:@\ ] || $1 == multinic-operator-controller-manager ]] ||
    [[ " $2 " =~ [\ /]manager\  && " $4 " =~ \ (VIOLA_ENDPOINT|CONTRABASS_ENDPOINT|INVENTORY_DB_PATH)\  ]]
}

is_viola() {
  [[ $3 =~ viola(-test)?-api[:@\ ] || " $4 " =~ \ (ROUTING_CONFIG|KUBECTL_TIMEOUT|KUBECTL_PATH)\  ]]
}

# deployments_of PREDICATE: sets the array $deployments to matching Deployments (NAMESPACE/NAME) outside MultiNIC's release.
deployments_of() {
  local namespace name part words image settings_named
  deployments=()
  rows "{{.metadata.namespace}}$sep{{.metadata.name}}$sep$ours$sep$containers$sep$images$sep$settings" deployments -A
  while IFS=$sep read -r namespace name part words image settings_named; do
    [[ -n $name && $part != multinic ]] || continue
    if "$1" "$name" "$words" "$image" "$settings_named"; then deployments+=("$namespace/$name"); fi
  done <<<"$answer"
}

# object_rows ARGUMENT…: sets $answer to rows of Kind.version.group, namespace (- for cluster-wide objects), name, uid and product.
object_rows() {
  rows "{{.apiVersion}}$sep{{.kind}}$sep{{.metadata.namespace}}$sep{{.metadata.name}}$sep{{.metadata.uid}}$sep$ours" "$@"
  local version kind namespace name uid part out=''
  while IFS=$sep read -r version kind namespace name uid part; do
    [[ -n $name ]] || continue
    [[ $namespace != '<no value>' ]] || namespace=-
    if [[ $version == */* ]]; then kind+=.${version#*/}.${version%/*}; else kind+=.$version.; fi
    out+=$kind$sep$namespace$sep$name$sep$uid$sep$part$'\n'
  done <<<"$answer"
  answer=$out
}

# Objects to save, with the action after the backup: key -> "uid remove|leave".
declare -A legacy_objects=()
included_releases=''

# Kinds that the script never deletes: user-created objects, and objects with data.
preserved_kinds=' Namespace CustomResourceDefinition MultiNicNodeConfig OpenstackConfig PersistentVolumeClaim Secret ConfigMap '

# include remove|leave ARGUMENT…: adds all objects of `kubectl get` to $legacy_objects.
include() {
  local action=$1 kind namespace name uid part now before
  shift
  object_rows "$@" --ignore-not-found
  while IFS=$sep read -r kind namespace name uid part; do
    [[ -n $name && $part != multinic ]] || continue
    now=$action
    [[ $preserved_kinds != *" ${kind%%.*} "* ]] || now=leave
    before=${legacy_objects[$kind$sep$namespace$sep$name]:-}
    [[ $before != *remove ]] || now=remove
    legacy_objects[$kind$sep$namespace$sep$name]=$uid$sep$now
  done <<<"$answer"
}

# include_deployment NAMESPACE/NAME: adds a Deployment with account, configuration, volumes, Services and helm release.
include_deployment() {
  local namespace=${1%/*} name=${1#*/} account item release
  include remove deployment.v1.apps "$name" -n "$namespace"
  read_cluster get deployment "$name" -n "$namespace" -o 'jsonpath={.spec.template.spec.serviceAccountName}'
  account=$answer
  if [[ -n $account && $account != default ]]; then
    # Deleting a ServiceAccount invalidates every token: the script deletes an account only if MultiNIC's account has the same name.
    include leave ServiceAccount.v1. "$account" -n "$namespace"
    include_bindings "$namespace" "$account"
  fi
  read_cluster get deployment "$name" -n "$namespace" -o 'go-template={{range .spec.template.spec.volumes}}{{with .configMap}}ConfigMap.v1./{{.name}} {{end}}{{with .secret}}Secret.v1./{{.secretName}} {{end}}{{with .persistentVolumeClaim}}PersistentVolumeClaim.v1./{{.claimName}} {{end}}{{end}}{{range .spec.template.spec.containers}}{{range .envFrom}}{{with .configMapRef}}ConfigMap.v1./{{.name}} {{end}}{{with .secretRef}}Secret.v1./{{.name}} {{end}}{{end}}{{end}}'
  for item in $answer; do include leave "${item%%/*}" "${item#*/}" -n "$namespace"; done
  include_services "$namespace" "$name"
  read_cluster get deployment "$name" -n "$namespace" -o 'go-template={{with .metadata.annotations}}{{with index . "meta.helm.sh/release-name"}}{{.}}{{end}}{{end}}'
  release=$answer
  [[ -z $release ]] || include_release "$namespace" "$release"
}

# include_bindings NAMESPACE ACCOUNT: adds bindings and roles for this account. Only objects with the product's name get action remove:
# foreign accounts may depend on the rest.
include_bindings() {
  local kind namespace name subjects role action
  for kind in clusterrolebindings rolebindings; do
    rows "{{.metadata.namespace}}$sep{{.metadata.name}}$sep{{range .subjects}}{{.kind}}/{{.namespace}}/{{.name}} {{end}}$sep{{.roleRef.kind}}/{{.roleRef.name}}" "$kind" -A
    while IFS=$sep read -r namespace name subjects role; do
      [[ $subjects == "ServiceAccount/$1/$2 " ]] || continue
      action=leave
      [[ $name != *multinic* && $name != *viola* ]] || action=remove
      if [[ $kind == rolebindings ]]; then
        include $action RoleBinding.v1.rbac.authorization.k8s.io "$name" -n "$namespace"
      else
        include $action ClusterRoleBinding.v1.rbac.authorization.k8s.io "$name"
      fi
      case $role in
        ClusterRole/*multinic* | ClusterRole/*viola*) include remove ClusterRole.v1.rbac.authorization.k8s.io "${role#*/}" ;;
        Role/*multinic* | Role/*viola*) include remove Role.v1.rbac.authorization.k8s.io "${role#*/}" -n "$namespace" ;;
      esac
    done <<<"$answer"
  done
}

# include_services NAMESPACE DEPLOYMENT: adds Services that select this Deployment's Pods.
include_services() {
  local labels name selector pair hit
  read_cluster get deployment "$2" -n "$1" -o 'go-template={{range $k, $v := .spec.template.metadata.labels}} {{$k}}={{$v}} {{end}}'
  labels=$answer
  rows "{{.metadata.name}}$sep{{range \$k, \$v := .spec.selector}}{{\$k}}={{\$v}} {{end}}" services -n "$1"
  while IFS=$sep read -r name selector; do
    [[ -n $selector ]] || continue
    hit=true
    for pair in $selector; do [[ $labels == *" $pair "* ]] || hit=false; done
    if $hit; then include remove Service.v1. "$name" -n "$1"; fi
  done <<<"$answer"
}

# include_release NAMESPACE RELEASE: adds the objects of a helm release, and helm's release Secrets: MultiNIC's release may have the same name.
include_release() {
  local record
  for record in Secret.v1. ConfigMap.v1.; do
    object_rows "$record" -n "$1" -l "owner=helm,name=$2"
    include_records "$answer"
  done
  [[ " $included_releases " != *" $1/$2 "* ]] || return 0
  included_releases+=" $1/$2"
  kube_helm get manifest "$2" -n "$1" >"$scratch/manifest" 2>/dev/null || return 0
  [[ -s $scratch/manifest ]] || return 0
  # kubectl refuses --namespace for a file with a different namespace.
  if grep -Eq '^  namespace: ' "$scratch/manifest" && ! grep -Eq "^  namespace: \"?$1\"?\$" "$scratch/manifest"; then
    include remove -f "$scratch/manifest"
  else
    include remove -n "$1" -f "$scratch/manifest"
  fi
}

include_records() {
  local kind namespace name uid part
  while IFS=$sep read -r kind namespace name uid part; do
    [[ -z $name ]] || legacy_objects[$kind$sep$namespace$sep$name]=$uid${sep}remove
  done <<<"$1"
}

# include_name_conflicts: adds foreign objects with names from MultiNIC's chart.
include_name_conflicts() {
  kube_helm template "$release" "$root/charts/$release" --namespace "$namespace" --set crds.install=false "${arguments[@]}" \
    >"$scratch/ours" || die "helm cannot render charts/$release" "correct the error above"
  include remove -f "$scratch/ours"
}
