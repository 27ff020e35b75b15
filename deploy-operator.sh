#!/usr/bin/env bash
# Installs or upgrades MultiNIC in a management cluster: the operator with its inventory, and Viola. Run again, it changes only
# what differs. No OpenstackConfig and no node config is touched.
#
#   ./deploy-operator.sh [--lifecycle] [--type dev|staging|production] [--image REF | --img REF] [--build] [--context NAME] [--dry-run] [-- HELM-ARGUMENT…]
#
#   --lifecycle      install lifecycle and Viola in namespace multinic-system; a MultiNicOperator there installs the operator and
#                    MariaDB. Default: the chart installs the operator in namespace multinic-operator-system
#   --type TYPE      take charts/multinic-operator/values-TYPE.yaml
#   --image REF      image of the operator, Viola and lifecycle, such as registry.example.com/multinic-controllers:0.1.0
#   --img REF        the name that `make docker-build IMG=REF` was given: the image NAME-controllers of it
#   --build          build the images first (make image); how nodes get them: docs/guides/air-gap.md
#   --context NAME   kubectl context; default: the current one
#   --dry-run        say what would be done and let the API server check it; change nothing
#
# CONTRABASS_ENDPOINT and CONTRABASS_ENCRYPT_KEY of the environment are taken: the key goes into the Secret
# multinic-operator-contrabass. Without them those of the run before hold, unless values say something else. What comes after -- goes to helm, such as --values FILE or --set operator.settings.logLevel=debug.

# shellcheck source=scripts/common.sh
source "$(dirname "$(readlink -f "$0")")/scripts/common.sh"

plain=multinic-operator-system
managed=multinic-system
namespace=$plain
lifecycle=false
secret=multinic-operator-contrabass
arguments=()
build=false

# image_arguments REF [SUFFIX-OF-NAME]: registry/repository:tag or registry/repository@digest; without a registry it is what kubelets take.
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
    --lifecycle) lifecycle=true; namespace=$managed ;;
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

# The deployed Go operator has the same names; helm would refuse, with words that do not say what to do.
refuse_deployed() {
  local by
  by=$(kube -n "$plain" get deployment multinic-operator-controller-manager --ignore-not-found \
    -o 'jsonpath={.metadata.name} {.metadata.labels.app\.kubernetes\.io/part-of}')
  [[ -z $by || $by == *' multinic' ]] ||
    die "the deployed Go operator is in namespace $plain" "follow docs/guides/migrate.md: both at once would work against each other"
}

# installed_in NAMESPACE DEPLOYMENT: whether it is a Deployment of this product.
installed_in() {
  local part
  part=$(kube -n "$1" get deployment "$2" --ignore-not-found -o 'jsonpath={.metadata.labels.app\.kubernetes\.io/part-of}') ||
    die "kubectl cannot read deployment/$2 in namespace $1" "correct the error above, then run this script again"
  [[ $part == multinic ]]
}

# Two operators in two namespaces would both send node configs.
refuse_other_way() {
  if $lifecycle; then
    ! installed_in "$plain" multinic-operator-controller-manager ||
      die "MultiNIC is installed without lifecycle in namespace $plain, and two operators would work against each other" \
        "remove that one, its NICs stay: ./cleanup-operator.sh --nics keep; then run this again with --lifecycle"
    ! exists -n "$managed" deployment multinic-operator || installed_in "$managed" multinic-operator ||
      die "the legacy Deployment multinic-operator is in namespace $managed, under the name of lifecycle" \
        "delete it, its MultiNicOperator and MariaDB stay: kubectl -n $managed delete deployment multinic-operator; then: $0 --lifecycle -- --take-ownership"
  else
    ! installed_in "$managed" multinic-operator ||
      die "lifecycle installs MultiNIC in namespace $managed, and two operators would work against each other" \
        "upgrade it: ./deploy-operator.sh --lifecycle; or remove it first, its NICs stay: ./cleanup-operator.sh --nics keep"
  fi
}

# The key never comes to a command line, where every user of this machine could read it.
contrabass_secret() {
  [[ -n ${CONTRABASS_ENCRYPT_KEY:-} ]] || return 0
  say "+ Secret $namespace/$secret from CONTRABASS_ENCRYPT_KEY"
  $dry_run || printf %s "$CONTRABASS_ENCRYPT_KEY" |
    kube -n "$namespace" create secret generic "$secret" --from-file=encrypt-key=/dev/stdin --dry-run=client -o yaml |
    kube apply --server-side --force-conflicts -f - >/dev/null
}

# CONTRABASS_ENDPOINT of the run before; with lifecycle it is in the base of the operator.
kept_endpoint() {
  if $lifecycle; then
    kube -n "$namespace" get configmap multinic-controller-base --ignore-not-found -o 'jsonpath={.data.deployment\.yaml}' |
      sed -nE "/^ *- name: CONTRABASS_ENDPOINT$/{n;s/^ *value: [\"']?([^\"']*)[\"']?$/\1/p}"
  else
    kube -n "$namespace" get deployment multinic-operator-controller-manager --ignore-not-found \
      -o 'jsonpath={.spec.template.spec.containers[0].env[?(@.name=="CONTRABASS_ENDPOINT")].value}'
  fi
}

# What a run before was told by the environment, as values that all others win over.
kept_values() {
  local endpoint
  endpoint=$(kept_endpoint) ||
    die "kubectl cannot read what the run before was told" "correct the error above, then run this script again"
  if [[ -n $endpoint || -n $key_version ]]; then echo 'operator:'; fi
  if [[ -n $endpoint ]]; then echo "  settings: {contrabassEndpoint: '${endpoint//\'/\'\'}'}"; fi
  if [[ -n $key_version ]]; then echo "  secretSettings: {contrabassEncryptKey: {name: $secret, key: encrypt-key}}"; fi
}

# Commas would end a value of --set.
given_values() {
  local endpoint=${CONTRABASS_ENDPOINT:-} key=operator.secretSettings.contrabassEncryptKey
  if [[ -n $endpoint ]]; then arguments=(--set "operator.settings.contrabassEndpoint=${endpoint//,/\\,}" "${arguments[@]}"); fi
  if [[ -n ${CONTRABASS_ENCRYPT_KEY:-} ]]; then arguments=(--set "$key.name=$secret" --set "$key.key=encrypt-key" "${arguments[@]}"); fi
  # A Pod reads a Secret when it starts: with another key there is to be another Pod.
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
refuse_deployed
refuse_other_way
if $build; then build_images "leave --build out"; fi
restricted_namespace "$namespace"
contrabass_secret
key_version=$(kube -n "$namespace" get secret "$secret" --ignore-not-found -o 'jsonpath={.metadata.resourceVersion}')
kept=$(kept_values)
given_values
if [[ -n $kept ]]; then
  say "kept from the run before: $(sed -nE 's/^ +[a-zA-Z]+: \{(.*)\}$/\1/p' <<<"$kept" | paste -sd' ')"
  # No file that a run which is killed would leave behind.
  exec 3<<<"$kept"
  arguments=(--values /dev/fd/3 "${arguments[@]}")
fi
if $lifecycle; then
  arguments+=(--set lifecycle.enabled=true)
  # Viola waits for Secrets of the operator, which starts with the first MultiNicOperator.
  helm_wait=()
fi
install_release multinic-operator multinic-operator "$namespace" "${arguments[@]}"
$dry_run && exit
if $lifecycle; then
  kube -n "$namespace" rollout status deployment/multinic-operator --timeout=5m >&2 || {
    explain "$namespace"
    die "lifecycle does not start" "docs/guides/install.md, section 'When it does not start', says what these mean"
  }
  if exists -n "$namespace" multinicoperators.multinic.example.com; then
    say "installed. Next: kubectl -n $namespace get multinicoperators,pods"
  else
    say "installed. Next: create a MultiNicOperator in namespace $namespace, which installs the operator and MariaDB; then: kubectl -n $namespace get multinicoperators,pods"
  fi
else
  say "installed. Next: kubectl -n $namespace get pods; then register a business cluster: docs/guides/register-cluster.md"
fi
