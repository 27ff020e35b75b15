#!/usr/bin/env bash
# Removes MultiNIC from a business cluster: the controller and the namespace of its agents. NICs stay on their hosts, and
# MultiNicNodeConfigs in the cluster, unless told otherwise.
#
#   scripts/cleanup-agent.sh [--nics keep|remove] [--crds] [--timeout SECONDS] [--context NAME] [--yes] [--dry-run]
#
#   --nics keep      (default) the controller is stopped, agents at work are waited for, finalizers are taken off; no host is touched
#   --nics remove    every MultiNicNodeConfig is deleted while the controller runs. Removals that it holds (RemovalHeld) get your
#                    consent, and the script waits until the agents have taken all NICs off all hosts
#   --crds           delete the CustomResourceDefinitions too, and with them every MultiNicBizConfig and MultiNicNodeConfig that is left
#   --timeout S      how long to wait (default 1800)
#   --context NAME   kubectl context; default: the current one
#   --yes            do not ask;  --dry-run: say what would be done, change nothing
#
# As long as the management cluster registers this one, its operator makes the objects anew: clean up there first.

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
    die "the controller does not run: nobody would take the NICs off" "see why: kubectl -n $namespace get pods; or keep the NICs: --nics keep"
  # A MultiNicBizConfig makes its objects again; they stay when it is deleted.
  local each
  for each in "${sources[@]}"; do
    ! exists crd "$each" || change_all "$each" delete
  done
  remove_with_consent "$kind" multinic.io/delete-consent "nodes whose NICs are being taken off" "$timeout" && return
  kube get "$kind" -A >&2 || true
  die "after $timeout s there are node configs left (above, with reasons); nothing else was removed" \
    "correct what they say and run this again, or give up those NICs: --nics keep"
}

keep_nics() {
  if exists -n "$namespace" "$controller"; then
    change kube -n "$namespace" scale "$controller" --replicas=0
    wait_for 120 "the controller to end" controller_ended || die "the controller does not end" "see kubectl -n $namespace get pods"
  fi
  wait_for "$timeout" "agents at work" agents_ended "${places[@]}" ||
    die "agents are still at work" "see kubectl -n ${places[0]} get pods -l $agents"
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
places=$(agent_namespaces "$namespace")
read -ra places <<<"$places"
release=$(release_of "$namespace" "$controller" multinic-agent)
say "found: $configs MultiNicNodeConfigs; NICs on hosts will be: ${nics/keep/kept}"
[[ $nics == keep ]] || confirm "take all NICs of $configs nodes off and remove MultiNIC"
[[ $nics == remove ]] || confirm "remove MultiNIC and keep all NICs"
if $served; then "${nics}_nics"; fi
if [[ -n $release ]]; then uninstall_release "$release" "$namespace"; fi
remove_test_pod multinic-agent-test
if $crds && $served; then
  confirm "delete the CustomResourceDefinitions $kind and multinicbizconfigs with all their objects"
  for each in "${sources[@]}" "$kind"; do
    ! exists crd "$each" || delete_kind "$each" "$timeout"
  done
fi
say "done. Left: namespaces $namespace and ${places[0]} with what is in them"
if exists -n "$namespace" "$controller"; then
  say "  $controller in $namespace, scaled to 0: helm did not install it; remove it where it comes from"
fi
if exists crd "$kind"; then say "  the CustomResourceDefinition $kind (--crds removes it)"; fi
