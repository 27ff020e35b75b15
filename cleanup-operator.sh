#!/usr/bin/env bash
# Removes MultiNIC from a management cluster. By default NICs stay on their hosts, and OpenstackConfigs in the cluster.
#
#   ./cleanup-operator.sh [--nics keep|remove] [--purge] [--crds] [--timeout SECONDS] [--context NAME] [--yes] [--dry-run]
#
# The script detects lifecycle (deploy-operator.sh --lifecycle): it stops the protection first, and deletes the MultiNicOperators with
# the operator and MariaDB.
#
#   --nics keep      (default) stop the operator and remove the finalizers, to allow later deletions; hosts stay unchanged
#   --nics remove    delete every OpenstackConfig while the operator runs. The script consents to held removals (RemovalHeld) and
#                    waits until all NICs are removed from all hosts
#   --purge          delete data for a later installation too: Secrets from the operator and deploy-operator.sh (CA, certificates,
#                    tokens, passwords, Contrabass key), and the volume claims with the inventory's history and backups
#   --crds           delete the CustomResourceDefinitions too, with every remaining OpenstackConfig and MultiNicOperator
#   --timeout S      seconds to wait for the removal of NICs, and for the deletion of objects (default 1800)
#   --context NAME   kubectl context (default: the current context)
#   --yes            skip the confirmation;  --dry-run: print the changes without making any
#
# Secrets that register business clusters (namespace multinic-clusters) stay; at the end the script prints all leftovers.

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
    die "the operator does not run and cannot remove NICs" "find the cause: kubectl -n $namespace get pods; or keep the NICs: --nics keep"
  remove_with_consent "$kind" multinic.io/allow-removals "the removal of NICs of OpenstackConfigs" "$timeout" && return
  kube get "$kind" -A >&2 || true
  die "after $timeout s OpenstackConfigs still exist (above, with reasons); the script removed no other object" \
    "resolve these reasons and run this script again, or leave the NICs on their hosts: --nics keep"
}

# A running operator would add the finalizer again, or remove NICs when an object is deleted.
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

purge_data() {
  confirm "delete the Secrets of operator and Viola, and the inventory's history"
  change kube -n "$namespace" delete secret "${secrets[@]}" --ignore-not-found
  change kube -n "$namespace" delete persistentvolumeclaim "${claims[@]}" --ignore-not-found --wait=false
}

# Prints a line per leftover.
report_leftovers() {
  local remaining=() secret claim
  for secret in "${secrets[@]}"; do
    if exists -n "$namespace" secret "$secret"; then remaining+=("$secret"); fi
  done
  say "done. Left: namespaces $namespace, multinic-system and multinic-clusters (registrations of business clusters) with their objects"
  if exists -n "$namespace" "$operator"; then
    say "  $operator in $namespace, scaled to 0: helm did not install this Deployment; remove the Deployment with the tool behind it"
  fi
  if ((${#remaining[@]} > 0)); then say "  Secrets ${remaining[*]} in $namespace (--purge removes them)"; fi
  for claim in "${claims[@]}"; do
    ! exists -n "$namespace" persistentvolumeclaim "$claim" ||
      say "  the inventory's history, volume claim $claim in $namespace (--purge removes the claim)"
  done
  if exists crd "$kind"; then say "  the CustomResourceDefinition $kind (--crds removes the CRD)"; fi
  if exists crd "$managers"; then say "  the CustomResourceDefinition $managers (--crds removes the CRD)"; fi
}

# find_lifecycle: lifecycle installs every part in multinic-system. `helm uninstall` leaves the operator and the webhook, a previous
# run of this script leaves volumes and Secrets.
find_lifecycle() {
  local part
  part=$(kube -n multinic-system get deployment multinic-operator --ignore-not-found \
    -o 'jsonpath={.metadata.labels.app\.kubernetes\.io/part-of}') ||
    die "kubectl cannot read deployment/multinic-operator" "correct the error above, then run this again"
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

# stop_lifecycle: lifecycle would restore the webhook and the operator's replicas. The webhook would refuse to scale the operator.
stop_lifecycle() {
  ! exists -n "$namespace" "$installed" || change kube -n "$namespace" scale "$installed" --replicas=0
  wait_for 120 "lifecycle to end" pods_ended -n "$namespace" -l app.kubernetes.io/name=multinic-operator,app.kubernetes.io/component=lifecycle ||
    die "lifecycle does not end" "see kubectl -n $namespace get pods"
  change kube delete validatingwebhookconfiguration multinic-protection --ignore-not-found
}

# remove_managed: Kubernetes deletes dependents with their MultiNicOperator; Secret and claims have no owner reference.
remove_managed() {
  stop_lifecycle
  if exists crd "$managers"; then
    without_finalizers "$managers" multinic.example.com/operator-finalizer
    change_all "$managers" delete --wait=false
    wait_for 120 "the deletion of MultiNicOperators" gone "$managers" -A ||
      die "MultiNicOperators still exist after 120 s" "read their finalizers: kubectl get $managers -A -o yaml"
    wait_for 300 "the deletion of lifecycle's objects" managed_gone || die "lifecycle's objects still exist after 300 s" "see kubectl -n $namespace get all"
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
say "found: $(counted "$configs" OpenstackConfig); NICs on hosts will be ${nics/keep/kept}"
[[ $nics == keep ]] || confirm "remove all NICs of $(counted "$configs" OpenstackConfig) from their hosts, and MultiNIC"
[[ $nics == remove ]] || confirm "remove MultiNIC and keep all NICs"
if $lifecycle && [[ $nics == keep ]]; then stop_lifecycle; fi
if $served; then "${nics}_nics"; fi
if $lifecycle; then remove_managed; fi
if [[ -n $release ]]; then uninstall_release "$release" "$namespace"; fi
remove_test_pod multinic-operator-test
if $purge; then purge_data; fi
if $crds && $served; then
  confirm "delete the CustomResourceDefinition $kind with all objects"
  delete_kind "$kind" "$timeout"
fi
if $crds && exists crd "$managers"; then delete_kind "$managers" "$timeout"; fi
report_leftovers
