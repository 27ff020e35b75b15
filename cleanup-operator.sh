#!/usr/bin/env bash
# Removes MultiNIC from a management cluster. NICs stay on their hosts, and OpenstackConfigs in the cluster, unless told otherwise.
#
#   ./cleanup-operator.sh [--nics keep|remove] [--purge] [--crds] [--timeout SECONDS] [--context NAME] [--yes] [--dry-run]
#
# An installation by lifecycle (deploy-operator.sh --lifecycle) is found by itself: its protection ends first, and the operator
# and MariaDB go with the MultiNicOperators.
#
#   --nics keep      (default) the operator is stopped and its finalizers are taken off, so that objects can be deleted later;
#                    no host is touched
#   --nics remove    every OpenstackConfig is deleted first, while the operator runs. Removals that the operator or a controller
#                    holds (RemovalHeld) get your consent, and the script waits until all NICs are off all hosts
#   --purge          delete what a later installation would take up again, too: the Secrets that the operator and deploy-operator.sh
#                    made (CA, certificates, tokens, passwords, key of Contrabass), and the volume claims with the inventory's
#                    history and its backups
#   --crds           delete the CustomResourceDefinitions too, and with them every OpenstackConfig and MultiNicOperator that is left
#   --timeout S      how long to wait for NICs to go, and for the objects of the definition (default 1800)
#   --context NAME   kubectl context; default: the current one
#   --yes            do not ask;  --dry-run: say what would be done, change nothing
#
# The Secrets that register business clusters (namespace multinic-clusters) stay; what remains is said at the end.

# shellcheck source=scripts/common.sh
source "$(dirname "$(readlink -f "$0")")/scripts/common.sh"

namespace=multinic-operator-system
operator=deployment/multinic-operator-controller-manager
installed=$operator
lifecycle=false
managers=multinicoperators.multinic.example.com
kind=openstackconfigs.multinic.example.com
finalizers=(multinic.example.com/cleanup multinic.example.com/finalizer multinic.example.com/operator-finalizer)
nics=keep
purge=false
secrets=(multinic-ca viola-api-tls viola-api-tokens multinic-operator-viola-token multinic-operator-contrabass)
claims=(multinic-operator-inventory)
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
  remove_with_consent "$kind" multinic.io/allow-removals "OpenstackConfigs whose NICs are being taken off" "$timeout" && return
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
  change kube -n "$namespace" delete persistentvolumeclaim "${claims[@]}" --ignore-not-found --wait=false
}

# One line for each thing that is still there.
say_what_stays() {
  local kept=() secret claim
  for secret in "${secrets[@]}"; do
    if exists -n "$namespace" secret "$secret"; then kept+=("$secret"); fi
  done
  say "done. Left: namespaces $namespace, multinic-system and multinic-clusters (registrations of business clusters) with what is in them"
  if exists -n "$namespace" "$operator"; then
    say "  $operator in $namespace, scaled to 0: helm did not install it; remove it where it comes from"
  fi
  if ((${#kept[@]} > 0)); then say "  Secrets ${kept[*]} in $namespace (--purge removes them)"; fi
  for claim in "${claims[@]}"; do
    ! exists -n "$namespace" persistentvolumeclaim "$claim" ||
      say "  the history of the inventory, volume claim $claim in $namespace (--purge removes it)"
  done
  if exists crd "$kind"; then say "  the CustomResourceDefinition $kind (--crds removes it)"; fi
  if exists crd "$managers"; then say "  the CustomResourceDefinition $managers (--crds removes it)"; fi
}

# find_lifecycle: where lifecycle installs, all is in its namespace. `helm uninstall` leaves the operator and the webhook, a run
# before this one volumes and Secrets.
find_lifecycle() {
  local part
  part=$(kube -n multinic-system get deployment multinic-operator --ignore-not-found \
    -o 'jsonpath={.metadata.labels.app\.kubernetes\.io/part-of}') ||
    die "kubectl cannot read deployment/multinic-operator" "see what it says above, then run this again"
  if [[ $part != multinic ]]; then
    ! exists -n "$namespace" "$operator" || return 0
    exists validatingwebhookconfiguration multinic-protection ||
      exists -n multinic-system deployments -l app.kubernetes.io/managed-by=multinic-lifecycle ||
      exists -n multinic-system secrets,persistentvolumeclaims -l multinic.example.com/managed-by-operator || return 0
  fi
  lifecycle=true
  namespace=multinic-system
  operator=deployment/multinic-controller
  installed=deployment/multinic-operator
  secrets+=(mariadb-credentials multinic-webhook-ca multinic-webhook-tls)
  claims+=(mysql-storage-mariadb-0 mariadb-backup)
}

# stop_lifecycle: lifecycle would restore the webhook and the replicas of the operator. The webhook would refuse to scale it.
stop_lifecycle() {
  ! exists -n "$namespace" "$installed" || change kube -n "$namespace" scale "$installed" --replicas=0
  wait_for 120 "lifecycle to end" pods_ended -n "$namespace" -l app.kubernetes.io/name=multinic-operator,app.kubernetes.io/component=lifecycle ||
    die "lifecycle does not end" "see kubectl -n $namespace get pods"
  change kube delete validatingwebhookconfiguration multinic-protection --ignore-not-found
}

# remove_managed: owner references take what lifecycle made along with the MultiNicOperators; Secret and claims have none.
remove_managed() {
  stop_lifecycle
  if exists crd "$managers"; then
    without_finalizers "$managers" multinic.example.com/operator-finalizer
    change_all "$managers" delete --wait=false
    wait_for 120 "MultiNicOperators to go" none_left "$managers" ||
      die "MultiNicOperators do not go" "see their finalizers: kubectl get $managers -A -o yaml"
    wait_for 300 "what lifecycle made to go" managed_gone || die "what lifecycle made does not go" "see kubectl -n $namespace get all"
  fi
}

managed_gone() {
  local found
  found=$(kube -n "$namespace" get deployments,statefulsets,cronjobs -l multinic.example.com/protected=true -o name 2>/dev/null) && [[ -z $found ]]
}

need kubectl helm
reach_cluster
find_lifecycle
served=false
! exists crd "$kind" || served=true
if $served; then configs=$(count_of "$kind"); else configs=0; fi
release=$(release_of "$namespace" "$installed" multinic-operator)
say "found: $configs OpenstackConfigs; NICs on hosts will be: ${nics/keep/kept}"
[[ $nics == keep ]] || confirm "take all NICs of $configs OpenstackConfigs off their hosts and remove MultiNIC"
[[ $nics == remove ]] || confirm "remove MultiNIC and keep all NICs"
if $lifecycle && [[ $nics == keep ]]; then stop_lifecycle; fi
if $served; then "${nics}_nics"; fi
if $lifecycle; then remove_managed; fi
if [[ -n $release ]]; then uninstall_release "$release" "$namespace"; fi
remove_test_pod multinic-operator-test
if $purge; then remove_what_is_kept; fi
if $crds && $served; then
  confirm "delete the CustomResourceDefinition $kind with all its objects"
  delete_kind "$kind" "$timeout"
fi
if $crds && exists crd "$managers"; then delete_kind "$managers" "$timeout"; fi
say_what_stays
