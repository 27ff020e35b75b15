#!/usr/bin/env bash
# Installs or upgrades MultiNIC in a management cluster: the operator with the inventory, and Viola. A second run changes only
# differences. OpenstackConfigs and node configs stay unchanged.
#
#   ./deploy-operator.sh [--lifecycle] [--type dev|staging|production] [--image REF | --img REF] [--build] [--context NAME] [--dry-run] [-- HELM-ARGUMENT…]
#
#   --lifecycle      install lifecycle and Viola in namespace multinic-system; a MultiNicOperator in this namespace installs the
#                    operator and MariaDB. Default: the chart installs the operator in namespace multinic-operator-system
#   --type TYPE      use charts/multinic-operator/values-TYPE.yaml
#   --image REF      image for operator, Viola and lifecycle, such as registry.example.com/multinic-controllers:1.2.3
#   --img REF        argument of `make docker-build IMG=REF`; the script uses the image NAME-controllers
#   --build          build the images first (make image); docs/guides/air-gap.md brings images to nodes
#   --context NAME   kubectl context (default: the current context)
#   --dry-run        print the changes and validate them at the API server without making any
#
# The script reads CONTRABASS_ENDPOINT and CONTRABASS_ENCRYPT_KEY from the environment, and stores the key in the Secret
# multinic-operator-contrabass. An unset variable keeps the value from the previous run. Values that you pass win.
# The script passes arguments after -- to helm, such as --values FILE or --set operator.settings.logLevel=debug.

# shellcheck source=scripts/common.sh
source "$(dirname "$(readlink -f "$0")")/scripts/common.sh"

chart_namespace=multinic-operator-system
lifecycle_namespace=multinic-system
namespace=$chart_namespace
lifecycle=false
secret=multinic-operator-contrabass
arguments=()
build=false

# image_arguments REF [NAME-SUFFIX]: registry/repository:tag or registry/repository@digest; kubelets read a name without registry as docker.io.
image_arguments() {
  local reference=$1 part name rest registry=docker.io
  [[ $reference =~ ^[A-Za-z0-9][A-Za-z0-9._/:@-]*$ ]] || bad_usage "--image '$reference' must be REGISTRY/REPOSITORY:TAG"
  rest=$reference
  if [[ ${reference%%/*} == *[.:]* || ${reference%%/*} == localhost ]] && [[ $reference == */* ]]; then
    registry=${reference%%/*}
    rest=${reference#*/}
  fi
  name=${rest%%[:@]*}${2:-}
  [[ $registry != docker.io || $name == */* ]] || name=library/$name
  for part in operator viola lifecycle; do
    arguments+=(--set "$part.image.registry=$registry" --set "$part.image.repository=$name")
    case $rest in
      *@*) arguments+=(--set "$part.image.digest=${rest#*@}") ;;
      *:*) arguments+=(--set-string "$part.image.tag=${rest#*:}") ;;
    esac
  done
}

while (($#)); do
  case $1 in
    --lifecycle) lifecycle=true; namespace=$lifecycle_namespace ;;
    --type) value_after "$@"; arguments+=(--values "$(values_of multinic-operator "$2")"); shift ;;
    --image) value_after "$@"; image_arguments "$2"; shift ;;
    --img) value_after "$@"; image_arguments "$2" -controllers; shift ;;
    --build) build=true ;;
    --context) value_after "$@"; context=(--context "$2"); shift ;;
    --dry-run) dry_run=true ;;
    --help | -h) help ;;
    --) shift; arguments+=("$@"); break ;;
    *) bad_usage "unknown option $1" ;;
  esac
  shift
done

# The legacy Go operator has the same object names; helm's own error names no remedy.
refuse_legacy() {
  local by
  by=$(kube -n "$chart_namespace" get deployment multinic-operator-controller-manager --ignore-not-found \
    -o 'jsonpath={.metadata.name} {.metadata.labels.app\.kubernetes\.io/part-of}')
  [[ -z $by || $by == *' multinic' ]] ||
    die "the legacy Go operator is in namespace $chart_namespace" "follow docs/guides/migrate.md: two operators would overwrite each other's node configs"
}

# installed_in NAMESPACE DEPLOYMENT: true for a Deployment from a MultiNIC chart.
installed_in() {
  local part
  part=$(kube -n "$1" get deployment "$2" --ignore-not-found -o 'jsonpath={.metadata.labels.app\.kubernetes\.io/part-of}') ||
    die "kubectl cannot read deployment/$2 in namespace $1" "correct the error above, then run this script again"
  [[ $part == multinic ]]
}

# Operators in two namespaces would both send node configs.
refuse_second_operator() {
  if $lifecycle; then
    ! installed_in "$chart_namespace" multinic-operator-controller-manager ||
      die "MultiNIC is installed without lifecycle in namespace $chart_namespace, and two operators would overwrite each other's node configs" \
        "remove the installed operator (NICs stay): ./cleanup-operator.sh --nics keep; then run this script again with --lifecycle"
    ! exists -n "$lifecycle_namespace" deployment multinic-operator || installed_in "$lifecycle_namespace" multinic-operator ||
      die "the legacy Deployment multinic-operator is in namespace $lifecycle_namespace and has the name that lifecycle needs" \
        "delete this Deployment (MultiNicOperator and MariaDB stay): kubectl -n $lifecycle_namespace delete deployment multinic-operator; then: $0 --lifecycle -- --take-ownership"
  else
    ! installed_in "$lifecycle_namespace" multinic-operator ||
      die "lifecycle installs MultiNIC in namespace $lifecycle_namespace, and two operators would overwrite each other's node configs" \
        "upgrade lifecycle: ./deploy-operator.sh --lifecycle; or remove lifecycle first (NICs stay): ./cleanup-operator.sh --nics keep"
  fi
}

# The key stays off command lines: every user of this machine can read them.
contrabass_secret() {
  [[ -n ${CONTRABASS_ENCRYPT_KEY:-} ]] || return 0
  say "+ Secret $namespace/$secret from CONTRABASS_ENCRYPT_KEY"
  $dry_run || printf %s "$CONTRABASS_ENCRYPT_KEY" |
    kube -n "$namespace" create secret generic "$secret" --from-file=encrypt-key=/dev/stdin --dry-run=client -o yaml |
    kube apply --server-side --force-conflicts -f - >/dev/null
}

# CONTRABASS_ENDPOINT from the previous run; lifecycle stores the value in the operator's base ConfigMap.
previous_endpoint() {
  if $lifecycle; then
    kube -n "$namespace" get configmap multinic-controller-base --ignore-not-found -o 'jsonpath={.data.deployment\.yaml}' |
      sed -nE "/^ *- name: CONTRABASS_ENDPOINT$/{n;s/^ *value: [\"']?([^\"']*)[\"']?$/\1/p}"
  else
    kube -n "$namespace" get deployment multinic-operator-controller-manager --ignore-not-found \
      -o 'jsonpath={.spec.template.spec.containers[0].env[?(@.name=="CONTRABASS_ENDPOINT")].value}'
  fi
}

# Values that a previous run read from the environment. Values files and flags override them.
previous_values() {
  local endpoint
  endpoint=$(previous_endpoint) ||
    die "kubectl cannot read CONTRABASS_ENDPOINT of the previous run" "correct the error above, then run this script again"
  if [[ -n $endpoint || -n $key_version ]]; then echo 'operator:'; fi
  if [[ -n $endpoint ]]; then echo "  settings: {contrabassEndpoint: '${endpoint//\'/\'\'}'}"; fi
  if [[ -n $key_version ]]; then echo "  secretSettings: {contrabassEncryptKey: {name: $secret, key: encrypt-key}}"; fi
}

# helm splits the value of --set at commas.
environment_values() {
  local endpoint=${CONTRABASS_ENDPOINT:-} key=operator.secretSettings.contrabassEncryptKey
  if [[ -n $endpoint ]]; then arguments=(--set "operator.settings.contrabassEndpoint=${endpoint//,/\\,}" "${arguments[@]}"); fi
  if [[ -n ${CONTRABASS_ENCRYPT_KEY:-} ]]; then arguments=(--set "$key.name=$secret" --set "$key.key=encrypt-key" "${arguments[@]}"); fi
  # A Pod reads the Secret at start: the annotation replaces the Pod when the key changes.
  if [[ -n $key_version ]]; then
    arguments+=(--set-string "operator.podAnnotations.multinic\.io/contrabass-key=$key_version")
  fi
}

need kubectl helm
reach_cluster
may create customresourcedefinitions
may create clusterroles
may create namespaces
may create deployments "$namespace"
refuse_legacy
refuse_second_operator
if $build; then build_images "omit --build"; fi
restricted_namespace "$namespace"
contrabass_secret
key_version=$(kube -n "$namespace" get secret "$secret" --ignore-not-found -o 'jsonpath={.metadata.resourceVersion}')
previous=$(previous_values)
environment_values
if [[ -n $previous ]]; then
  say "kept from the previous run: $(sed -nE 's/^ +[a-zA-Z]+: \{(.*)\}$/\1/p' <<<"$previous" | paste -sd' ')"
  # A file descriptor instead of a file: a killed run would leave the file behind.
  exec 3<<<"$previous"
  arguments=(--values /dev/fd/3 "${arguments[@]}")
fi
if $lifecycle; then
  arguments+=(--set lifecycle.enabled=true)
  # Viola waits for the operator's Secrets, and the operator starts with the first MultiNicOperator.
  helm_wait=()
fi
install_release multinic-operator multinic-operator "$namespace" "${arguments[@]}"
$dry_run && exit
if $lifecycle; then
  kube -n "$namespace" rollout status deployment/multinic-operator --timeout=5m >&2 || {
    explain "$namespace"
    die "lifecycle does not start" "see docs/guides/install.md, section 'When it does not start'"
  }
  if exists -n "$namespace" multinicoperators.multinic.example.com; then
    say "installed. Next: kubectl -n $namespace get multinicoperators,pods"
  else
    say "installed. Next: create a MultiNicOperator in namespace $namespace to install the operator and MariaDB; then: kubectl -n $namespace get multinicoperators,pods"
  fi
else
  say "installed. Next: kubectl -n $namespace get pods; then register a business cluster: docs/guides/register-cluster.md"
fi
