#!/usr/bin/env bash
# Removes MultiNIC from a business cluster: the controller and the agents' namespace. By default NICs stay on their hosts, and
# MultiNicNodeConfigs in the cluster.
#
#   scripts/cleanup-agent.sh [--nics keep|remove] [--crds] [--timeout SECONDS] [--context NAME] [--yes] [--dry-run]
#
#   --nics keep      (default) stop the controller, wait for running agents, and remove finalizers; hosts stay unchanged
#   --nics remove    delete every MultiNicNodeConfig while the controller runs. The script consents to held removals (RemovalHeld)
#                    and waits until the agents have removed all NICs from all hosts
#   --crds           delete the CustomResourceDefinitions too, with every remaining MultiNicBizConfig and MultiNicNodeConfig
#   --timeout S      seconds to wait (default 1800)
#   --context NAME   kubectl context (default: the current context)
#   --yes            skip the confirmation;  --dry-run: print the changes without making any
#
# While this cluster is registered in the management cluster, the operator creates the objects again: clean up the management cluster first.

# shellcheck source=scripts/common.sh
source "$(dirname "$(readlink -f "$0")")/common.sh"

namespace=multinic-system
controller=deployment/multinic-agent-controller
kind=multinicnodeconfigs.multinic.io
sources=(multinicbizconfigs.multinic.io multinicbizconfigs.multinic.okestro.io)
nics=keep
crds=false
timeout=1800
while (($#)); do
  case $1 in
    --nics) value_after "$@"; nics=$2; shift ;;
    --crds) crds=true ;;
    --timeout) value_after "$@"; timeout=$2; shift ;;
    --context) value_after "$@"; context=(--context "$2"); shift ;;
    --yes) yes=true ;;
    --dry-run) dry_run=true ;;
    --help | -h) help ;;
    *) bad_usage "unknown option $1" ;;
  esac
  shift
done
[[ $nics == keep || $nics == remove ]] || bad_usage "--nics '$nics' must be keep or remove"
[[ $timeout =~ ^(0|[1-9][0-9]{0,8})$ ]] || bad_usage "--timeout '$timeout' must be a number of seconds"

remove_nics() {
  kube -n "$namespace" wait "$controller" --for=condition=Available --timeout=10s >/dev/null 2>&1 ||
    die "the controller does not run and cannot remove NICs" "find the cause: kubectl -n $namespace get pods; or keep the NICs: --nics keep"
  # The controller creates the objects of a MultiNicBizConfig again. Deleting the MultiNicBizConfig leaves the objects.
  local each
  for each in "${sources[@]}"; do
    ! exists crd "$each" || change_all "$each" delete
  done
  remove_with_consent "$kind" multinic.io/delete-consent "the removal of NICs from nodes" "$timeout" && return
  kube get "$kind" -A >&2 || true
  die "after $timeout s node configs still exist (above, with reasons); the script removed no other object" \
    "resolve these reasons and run this script again, or leave the NICs on their hosts: --nics keep"
}

keep_nics() {
  if exists -n "$namespace" "$controller"; then
    change kube -n "$namespace" scale "$controller" --replicas=0
    wait_for 120 "the controller to end" controller_ended || die "the controller does not end" "see kubectl -n $namespace get pods"
  fi
  wait_for "$timeout" "running agents" agents_ended "${namespaces[@]}" ||
    die "agents are still running" "see kubectl -n ${namespaces[0]} get pods -l $agents"
  without_finalizers "$kind" multinic.io/cleanup
}

controller_ended() {
  pods_ended -n "$namespace" -l app.kubernetes.io/name=multinic-agent,app.kubernetes.io/component=controller
}

need kubectl helm
reach_cluster
served=false
! exists crd "$kind" || served=true
if $served; then configs=$(count_of "$kind"); else configs=0; fi
namespaces=$(agent_namespaces "$namespace")
read -ra namespaces <<<"$namespaces"
release=$(release_of "$namespace" "$controller" multinic-agent)
say "found: $(counted "$configs" MultiNicNodeConfig); NICs on hosts will be ${nics/keep/kept}"
[[ $nics == keep ]] || confirm "remove all NICs from $(counted "$configs" node), and MultiNIC"
[[ $nics == remove ]] || confirm "remove MultiNIC and keep all NICs"
if $served; then "${nics}_nics"; fi
if [[ -n $release ]]; then uninstall_release "$release" "$namespace"; fi
remove_test_pod multinic-agent-test
if $crds && $served; then
  confirm "delete the CustomResourceDefinitions $kind and multinicbizconfigs with all objects"
  for each in "${sources[@]}" "$kind"; do
    ! exists crd "$each" || delete_kind "$each" "$timeout"
  done
fi
say "done. Left: namespaces $namespace and ${namespaces[0]} with their objects"
if exists -n "$namespace" "$controller"; then
  say "  $controller in $namespace, scaled to 0: helm did not install this Deployment; remove the Deployment with the tool behind it"
fi
if exists crd "$kind"; then say "  the CustomResourceDefinition $kind (--crds removes it)"; fi
