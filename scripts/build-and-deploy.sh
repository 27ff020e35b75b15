#!/usr/bin/env bash
# Builds the images and installs or upgrades MultiNIC in a business cluster: the controller and the agents' namespace.
#
#   scripts/build-and-deploy.sh --type dev|staging|production [--skip-build] [--context NAME] [--dry-run] [-- HELM-ARGUMENT…]
#
#   --type TYPE      use charts/multinic-agent/values-TYPE.yaml
#   --skip-build     do not build: the nodes, or their registry, have the images already (docs/guides/air-gap.md)
#   --context NAME   kubectl context (default: the current context)
#   --dry-run        print the changes and validate them at the API server without making any
#
# The script passes arguments after -- to helm, such as --values FILE or --set controller.replicas=2.

# shellcheck source=scripts/common.sh
source "$(dirname "$(readlink -f "$0")")/common.sh"

namespace=multinic-system
arguments=()
build=true
type=''
while (($#)); do
  case $1 in
    --type) value_after "$@"; type=$2; shift ;;
    --skip-build) build=false ;;
    --context) value_after "$@"; context=(--context "$2"); shift ;;
    --dry-run) dry_run=true ;;
    --help | -h) help ;;
    --) shift; arguments+=("$@"); break ;;
    *) bad_usage "unknown option $1" ;;
  esac
  shift
done
[[ -n $type ]] || bad_usage "--type is missing: dev, staging or production"
arguments=(--values "$(values_of multinic-agent "$type")" "${arguments[@]}")

# While the legacy controller runs, MultiNIC's controller yields to the legacy controller and configures no NIC.
refuse_legacy() {
  local by
  by=$(kube -n "$namespace" get deployment multinic-agent-controller --ignore-not-found \
    -o 'jsonpath={.metadata.name} {.metadata.labels.app\.kubernetes\.io/part-of}')
  [[ -z $by || $by == *' multinic' ]] ||
    die "the legacy Go controller is in namespace $namespace" "follow docs/guides/migrate.md"
}

need kubectl helm
reach_cluster
may create customresourcedefinitions
may create clusterroles
may create namespaces
may create deployments "$namespace"
refuse_legacy
if $build; then build_images "pass --skip-build"; fi
restricted_namespace "$namespace"
install_release multinic-agent multinic-agent "$namespace" "${arguments[@]}"
$dry_run || say "installed. Next: kubectl -n $namespace get pods; then register this cluster with the management cluster: docs/guides/register-cluster.md"
