# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: what of the deployed system is in a cluster. Everything here reads, nothing changes.

# Between fields of a row: no name holds it, and `read` keeps empty fields that it separates.
sep=$'\x1f'

# ask ARGUMENT…: what kubectl prints, in $answer. Who cannot read must never conclude that nothing is there.
ask() {
  answer=$(kube "$@") || die "the cluster cannot be read: kubectl $*" "correct what kubectl says above, then run this again"
}

# there ARGUMENT…: whether `kubectl get` finds it.
there() {
  ask get "$@" --ignore-not-found -o name
  [[ -n $answer ]]
}

# rows TEMPLATE ARGUMENT…: a row for each object that `kubectl get` finds, also when it finds one and prints no list; in $answer.
rows() {
  local template=$1
  shift
  ask get "$@" -o "go-template={{if .items}}{{range .items}}$template{{\"\\n\"}}{{end}}{{else}}{{if .metadata.name}}$template{{\"\\n\"}}{{end}}{{end}}"
}

# row_of BEGINNING [FILE]: the first row that begins so; a name is no pattern.
row_of() {
  BEGINNING=$1 awk 'index($0, ENVIRON["BEGINNING"]) == 1 && !found { print; found = 1 }' "${2:--}"
}

# label NAME: in a template, the value of a label, or nothing.
label() {
  printf '{{with .metadata.labels}}{{with index . "%s"}}{{.}}{{end}}{{end}}' "$1"
}

# annotation NAME: in a template, the value of an annotation, or nothing.
annotation() {
  printf '{{with .metadata.annotations}}{{with index . "%s"}}{{.}}{{end}}{{end}}' "$1"
}

ours=$(label app.kubernetes.io/part-of)

# What tells the deployed programs apart: what their containers run, their images, and the settings that only they have.
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

# deployments_of IS: the Deployments of which IS holds, but ours, as NAMESPACE/NAME; in the array $deployments.
deployments_of() {
  local namespace name part words image settings_named
  deployments=()
  rows "{{.metadata.namespace}}$sep{{.metadata.name}}$sep$ours$sep$containers$sep$images$sep$settings" deployments -A
  while IFS=$sep read -r namespace name part words image settings_named; do
    [[ -n $name && $part != multinic ]] || continue
    if "$1" "$name" "$words" "$image" "$settings_named"; then deployments+=("$namespace/$name"); fi
  done <<<"$answer"
}

# object_rows ARGUMENT…: Kind.version.group, namespace (- for none), name, uid and whose each object is; in $answer.
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

# What is saved, and what of it is taken away: key -> "uid remove|leave". Filled by the functions below.
declare -A theirs=()
noted_releases=''

# What people made, or what would take data along, is never taken away.
kept_kinds=' Namespace CustomResourceDefinition MultiNicNodeConfig OpenstackConfig PersistentVolumeClaim Secret ConfigMap '

# note remove|leave ARGUMENT…: objects that `kubectl get` finds become part of what is saved.
note() {
  local fate=$1 kind namespace name uid part now before
  shift
  object_rows "$@" --ignore-not-found
  while IFS=$sep read -r kind namespace name uid part; do
    [[ -n $name && $part != multinic ]] || continue
    now=$fate
    [[ $kept_kinds != *" ${kind%%.*} "* ]] || now=leave
    before=${theirs[$kind$sep$namespace$sep$name]:-}
    [[ $before != *remove ]] || now=remove
    theirs[$kind$sep$namespace$sep$name]=$uid$sep$now
  done <<<"$answer"
}

# note_deployment NAMESPACE/NAME: it, what it runs as, what it reads, and who reaches it.
note_deployment() {
  local namespace=${1%/*} name=${1#*/} account item release
  note remove deployment.v1.apps "$name" -n "$namespace"
  ask get deployment "$name" -n "$namespace" -o 'jsonpath={.spec.template.spec.serviceAccountName}'
  account=$answer
  if [[ -n $account && $account != default ]]; then
    # With an account its tokens end, wherever they are used; it is taken away only if ours has its name.
    note leave ServiceAccount.v1. "$account" -n "$namespace"
    note_bindings "$namespace" "$account"
  fi
  ask get deployment "$name" -n "$namespace" -o 'go-template={{range .spec.template.spec.volumes}}{{with .configMap}}ConfigMap.v1./{{.name}} {{end}}{{with .secret}}Secret.v1./{{.secretName}} {{end}}{{with .persistentVolumeClaim}}PersistentVolumeClaim.v1./{{.claimName}} {{end}}{{end}}{{range .spec.template.spec.containers}}{{range .envFrom}}{{with .configMapRef}}ConfigMap.v1./{{.name}} {{end}}{{with .secretRef}}Secret.v1./{{.name}} {{end}}{{end}}{{end}}'
  for item in $answer; do note leave "${item%%/*}" "${item#*/}" -n "$namespace"; done
  note_services "$namespace" "$name"
  ask get deployment "$name" -n "$namespace" -o 'go-template={{with .metadata.annotations}}{{with index . "meta.helm.sh/release-name"}}{{.}}{{end}}{{end}}'
  release=$answer
  [[ -z $release ]] || note_release "$namespace" "$release"
}

# note_bindings NAMESPACE ACCOUNT: what gives it rights. Only what bears the name of the product is taken away: rights of others
# may hang on the rest.
note_bindings() {
  local kind namespace name subjects role fate
  for kind in clusterrolebindings rolebindings; do
    rows "{{.metadata.namespace}}$sep{{.metadata.name}}$sep{{range .subjects}}{{.kind}}/{{.namespace}}/{{.name}} {{end}}$sep{{.roleRef.kind}}/{{.roleRef.name}}" "$kind" -A
    while IFS=$sep read -r namespace name subjects role; do
      [[ $subjects == "ServiceAccount/$1/$2 " ]] || continue
      fate=leave
      [[ $name != *multinic* && $name != *viola* ]] || fate=remove
      if [[ $kind == rolebindings ]]; then
        note $fate RoleBinding.v1.rbac.authorization.k8s.io "$name" -n "$namespace"
      else
        note $fate ClusterRoleBinding.v1.rbac.authorization.k8s.io "$name"
      fi
      case $role in
        ClusterRole/*multinic* | ClusterRole/*viola*) note remove ClusterRole.v1.rbac.authorization.k8s.io "${role#*/}" ;;
        Role/*multinic* | Role/*viola*) note remove Role.v1.rbac.authorization.k8s.io "${role#*/}" -n "$namespace" ;;
      esac
    done <<<"$answer"
  done
}

# note_services NAMESPACE DEPLOYMENT: Services whose selector its Pods answer to.
note_services() {
  local labels name selector pair hit
  ask get deployment "$2" -n "$1" -o 'go-template={{range $k, $v := .spec.template.metadata.labels}} {{$k}}={{$v}} {{end}}'
  labels=$answer
  rows "{{.metadata.name}}$sep{{range \$k, \$v := .spec.selector}}{{\$k}}={{\$v}} {{end}}" services -n "$1"
  while IFS=$sep read -r name selector; do
    [[ -n $selector ]] || continue
    hit=true
    for pair in $selector; do [[ $labels == *" $pair "* ]] || hit=false; done
    if $hit; then note remove Service.v1. "$name" -n "$1"; fi
  done <<<"$answer"
}

# note_release NAMESPACE RELEASE: what helm installed with it, and helm's own record of it: a release of ours may have its name.
note_release() {
  local record
  for record in Secret.v1. ConfigMap.v1.; do
    object_rows "$record" -n "$1" -l "owner=helm,name=$2"
    note_records "$answer"
  done
  [[ " $noted_releases " != *" $1/$2 "* ]] || return 0
  noted_releases+=" $1/$2"
  kube_helm get manifest "$2" -n "$1" >"$scratch/manifest" 2>/dev/null || return 0
  [[ -s $scratch/manifest ]] || return 0
  # kubectl takes no namespace for a file that names others itself.
  if grep -Eq '^  namespace: ' "$scratch/manifest" && ! grep -Eq "^  namespace: \"?$1\"?\$" "$scratch/manifest"; then
    note remove -f "$scratch/manifest"
  else
    note remove -n "$1" -f "$scratch/manifest"
  fi
}

note_records() {
  local kind namespace name uid part
  while IFS=$sep read -r kind namespace name uid part; do
    [[ -z $name ]] || theirs[$kind$sep$namespace$sep$name]=$uid${sep}remove
  done <<<"$1"
}

# note_in_the_way: what has a name that our chart needs, and is not ours.
note_in_the_way() {
  kube_helm template "$release" "$root/charts/$release" --namespace "$namespace" --set crds.install=false "${arguments[@]}" \
    >"$scratch/ours" || die "helm cannot render charts/$release" "correct what it says above"
  note remove -f "$scratch/ours"
}
