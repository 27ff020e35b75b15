#!/usr/bin/env bash
# Removes MultiNIC from a management cluster. NICs stay on their hosts, and OpenstackConfigs in the cluster, unless told otherwise.
#
#   ./cleanup-operator.sh [--nics keep|remove] [--purge] [--crds] [--timeout SECONDS] [--context NAME] [--yes] [--dry-run]
#
#   --nics keep      (default) the operator is stopped and its finalizers are taken off, so that objects can be deleted later;
#                    no host is touched
#   --nics remove    every OpenstackConfig is deleted first, with consent to the removal of its NICs, while the operator runs: it
#                    takes all NICs off all hosts, and that is waited for
#   --purge          delete what a later installation would take up again, too: the Secrets that the operator and deploy-operator.sh
#                    made (CA, certificate, tokens, key of Contrabass), and the volume claim with the inventory's history
#   --crds           delete the CustomResourceDefinition too, and with it every OpenstackConfig that is left
#   --timeout S      how long to wait for NICs to go, and for the objects of the definition (default 1800)
#   --context NAME   kubectl context; default: the current one
#   --yes            do not ask;  --dry-run: say what would be done, change nothing
#
# The Secrets that register business clusters (namespace multinic-clusters) stay; what remains is said at the end.

# shellcheck source=scripts/common.sh
source "$(dirname "$(readlink -f "$0")")/scripts/common.sh"

namespace=multinic-operator-system
operator=deployment/multinic-operator-controller-manager
kind=openstackconfigs.multinic.example.com
finalizers=(multinic.example.com/cleanup multinic.example.com/finalizer multinic.example.com/operator-finalizer)
nics=keep
purge=false
secrets=(multinic-ca viola-api-tls viola-api-tokens multinic-operator-viola-token multinic-operator-contrabass)
claim=multinic-operator-inventory
crds=false
timeout=1800
while (($#)); do
  case $1 in
    --nics) value_after "$@"; nics=$2; shift ;;
    --purge) purge=true ;;
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
  kube -n "$namespace" wait "$operator" --for=condition=Available --timeout=10s >/dev/null 2>&1 ||
    die "the operator does not run: nobody would take the NICs off" "see why: kubectl -n $namespace get pods; or keep the NICs: --nics keep"
  # Many deletions at once are held until somebody agrees, and a look at a live object would use the consent up: so it is paused.
  ((configs == 0)) || change_all "$kind" annotate --overwrite multinic.io/paused=true "multinic.io/allow-removals=$(date -u +%FT%TZ)"
  change_all "$kind" delete --wait=false
  wait_for "$timeout" "OpenstackConfigs whose NICs are being taken off" none_left "$kind" && return
  kube get "$kind" -A >&2 || true
  die "after $timeout s there are OpenstackConfigs left (above, with reasons); nothing else was removed" \
    "correct what they say and run this again, or give up those NICs: --nics keep"
}

# An operator that still ran would put its finalizer back, or clean up what is deleted meanwhile.
keep_nics() {
  if exists -n "$namespace" "$operator"; then
    change kube -n "$namespace" scale "$operator" --replicas=0
    wait_for 120 "the operator to end" operator_ended || die "the operator does not end" "see kubectl -n $namespace get pods"
  fi
  without_finalizers "$kind" "${finalizers[@]}"
}

operator_ended() {
  pods_ended -n "$namespace" -l app.kubernetes.io/name=multinic-operator,app.kubernetes.io/component=operator
}

remove_what_is_kept() {
  confirm "delete the Secrets of operator and Viola, and the history of the inventory"
  change kube -n "$namespace" delete secret "${secrets[@]}" --ignore-not-found
  change kube -n "$namespace" delete persistentvolumeclaim "$claim" --ignore-not-found --wait=false
}

# One line for each thing that is still there.
say_what_stays() {
  local kept=() secret
  for secret in "${secrets[@]}"; do
    if exists -n "$namespace" secret "$secret"; then kept+=("$secret"); fi
  done
  say "done. Left: namespaces $namespace, multinic-system and multinic-clusters (registrations of business clusters) with what is in them"
  if exists -n "$namespace" "$operator"; then
    say "  $operator in $namespace, scaled to 0: helm did not install it; remove it where it comes from"
  fi
  if ((${#kept[@]} > 0)); then say "  Secrets ${kept[*]} in $namespace (--purge removes them)"; fi
  if exists -n "$namespace" persistentvolumeclaim "$claim"; then
    say "  the history of the inventory, volume claim $claim in $namespace (--purge removes it)"
  fi
  if exists crd "$kind"; then say "  the CustomResourceDefinition $kind (--crds removes it)"; fi
}

need kubectl helm
reach_cluster
served=false
! exists crd "$kind" || served=true
if $served; then configs=$(count_of "$kind"); else configs=0; fi
release=$(release_of "$namespace" "$operator" multinic-operator)
say "found: $configs OpenstackConfigs; NICs on hosts will be: ${nics/keep/kept}"
[[ $nics == keep ]] || confirm "take all NICs of $configs OpenstackConfigs off their hosts and remove MultiNIC"
[[ $nics == remove ]] || confirm "remove MultiNIC and keep all NICs"
if $served; then "${nics}_nics"; fi
if [[ -n $release ]]; then uninstall_release "$release" "$namespace"; fi
remove_test_pod multinic-operator-test
if $purge; then remove_what_is_kept; fi
if $crds && $served; then
  confirm "delete the CustomResourceDefinition $kind with all its objects"
  delete_kind "$kind" "$timeout"
fi
say_what_stays
