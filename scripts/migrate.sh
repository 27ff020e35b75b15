#!/usr/bin/env bash
# Migrates a cluster from the legacy Go system (operator, Viola test API, controller, agent) to MultiNIC, and back. In both directions
# NICs keep their names and addresses, and no data of either system is lost. Guide: docs/guides/migrate.md.
# `multinic migrate biz-config` is a separate command: it migrates a MultiNicBizConfig to MultiNicNodeConfigs.
#
#   scripts/migrate.sh check   --half agent|operator [--accept CODE,…] >values.yaml
#   scripts/migrate.sh forward --half agent|operator --backup DIR [--step viola|operator] [--accept CODE,…] [-- HELM-ARGUMENT…]
#   scripts/migrate.sh back    --half agent|operator --backup DIR [--crds] [--accept CODE,…]
#
#   check            prints findings, planned steps, obstacles, and chart values with the legacy settings; changes nothing
#   forward          saves the legacy system in DIR, stops it, installs MultiNIC and waits until MultiNIC manages every object
#   back             stops MultiNIC, leaves every NIC unchanged, and restores the legacy system from DIR
#   --half agent     a business cluster: controller and agents. Migrate these first, one cluster after the other
#   --half operator  the management cluster: Viola, then the operator
#   --step viola     (operator half) Viola only: the legacy operator sends to MultiNIC's Viola until you run --step operator
#   --legacy-from C  (step viola) Pod networks, such as 10.244.0.0/16; default: spec.podCIDRs of the nodes
#   --backup DIR     folder for one cluster and half; keep the folder as long as you may want to go back
#   --accept CODES   continue despite obstacles with these codes (comma-separated); check prints the codes
#   --crds           (back) restore the legacy CRD as well; the API server then drops fields that only MultiNIC's CRD has
#   --timeout S      seconds to wait for agents, and for the takeover (default 1800)
#   --context NAME   kubectl context (default: the current context)
#   --yes            skip the confirmation;  --dry-run: print the changes without making any
#
# After an interruption, run the same command again, or `back` to undo.

# shellcheck source=scripts/common.sh
source "$(dirname "$(readlink -f "$0")")/common.sh"
# shellcheck source=scripts/migrate/legacy-objects.sh
source "$root/scripts/migrate/legacy-objects.sh"
# shellcheck source=scripts/migrate/findings.sh
source "$root/scripts/migrate/findings.sh"
# shellcheck source=scripts/migrate/values.sh
source "$root/scripts/migrate/values.sh"
# shellcheck source=scripts/migrate/backup.sh
source "$root/scripts/migrate/backup.sh"
# shellcheck source=scripts/migrate/release.sh
source "$root/scripts/migrate/release.sh"
# shellcheck source=scripts/migrate/steps.sh
source "$root/scripts/migrate/steps.sh"

half=''
step=''
backup=''
accepted=' '
legacy_from=''
crds=false
timeout=1800
arguments=()
verb=${1:-}
case $verb in
  check | forward | back) shift ;;
  --help | -h | '') help ;;
  *) bad_usage "unknown verb '$verb'" ;;
esac
while (($#)); do
  case $1 in
    --half) value_after "$@"; half=$2; shift ;;
    --step) value_after "$@"; step=$2; shift ;;
    --backup) value_after "$@"; backup=$2; shift ;;
    --accept) value_after "$@"; accepted+="${2//,/ } "; shift ;;
    --legacy-from) value_after "$@"; legacy_from=$2; shift ;;
    --crds) crds=true ;;
    --timeout) value_after "$@"; timeout=$2; shift ;;
    --context) value_after "$@"; context=(--context "$2"); shift ;;
    --yes) yes=true ;;
    --dry-run) dry_run=true ;;
    --help | -h) help ;;
    --) shift; arguments=("$@"); break ;;
    *) bad_usage "unknown option $1" ;;
  esac
  shift
done
[[ $half == agent || $half == operator ]] || bad_usage "--half '$half' must be agent or operator"
[[ $step =~ ^(|viola|operator)$ ]] || bad_usage "--step '$step' must be viola or operator"
[[ -z $step || $half/$verb == operator/forward ]] || bad_usage "--step is for forward --half operator"
[[ $verb == check || -n $backup ]] || bad_usage "--backup DIR is missing: $verb needs the folder with the saved legacy system"
# helm splits the value of --values at commas.
[[ $backup != *,* ]] || bad_usage "--backup '$backup' must have no comma"
[[ $timeout =~ ^[0-9]+$ ]] || bad_usage "--timeout '$timeout' must be a number of seconds"

case $half in
  agent)
    # shellcheck source=scripts/migrate/agent.sh
    source "$root/scripts/migrate/agent.sh"
    # shellcheck source=scripts/migrate/check-agent.sh
    source "$root/scripts/migrate/check-agent.sh" ;;
  operator)
    # shellcheck source=scripts/migrate/operator.sh
    source "$root/scripts/migrate/operator.sh"
    # shellcheck source=scripts/migrate/check-operator.sh
    source "$root/scripts/migrate/check-operator.sh" ;;
esac

check() {
  inspect
  print_findings "${steps[@]}"
  printf '%s' "$values"
  require_no_obstacle
  say "no obstacle found. Next: $0 forward --half $half --backup DIR"
}

need kubectl helm flock
reach_cluster
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$verb"
