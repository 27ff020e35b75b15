#!/usr/bin/env bash
# Moves a cluster from the deployed Go system (operator, Viola test API, controller, agent) to MultiNIC, and back. Both ways all
# NICs keep their names and addresses, and nothing of either system is lost. docs/guides/migrate.md has the whole way.
#
#   scripts/migrate.sh check   --half agent|operator [--accept CODE,…] >values.yaml
#   scripts/migrate.sh forward --half agent|operator --backup DIR [--step viola|operator] [--accept CODE,…] [-- HELM-ARGUMENT…]
#   scripts/migrate.sh back    --half agent|operator --backup DIR [--crds] [--accept CODE,…]
#
#   check            says what is there, what would happen and what is in the way; prints the values that the settings of the
#                    deployed system come to; changes nothing
#   forward          saves all of the deployed system in DIR, stops it, installs ours and waits until it has taken over
#   back             stops ours, keeps every NIC, and puts the deployed system back as it was saved in DIR
#   --half agent     a business cluster: controller and agents. These go first, one cluster after the other
#   --half operator  the management cluster: Viola, then the operator
#   --step viola     (operator half) Viola only: the deployed operator sends to ours, until the step operator
#   --legacy-from C  (step viola) addresses of the Pods of this cluster, such as 10.244.0.0/16; default: as its nodes have them
#   --backup DIR     a folder of its own for each cluster and half, kept until nobody wants to go back
#   --accept CODES   go on although these are in the way; check says the code of each
#   --crds           (back) put the deployed definition of the kind back as well, which drops fields that it does not know
#   --timeout S      how long to wait for agents and for what is taken over (default 1800)
#   --context NAME   kubectl context; default: the current one
#   --yes            do not ask;  --dry-run: say what would be done, change nothing
#
# Whatever ends it in the middle: the same command goes on from there, and back goes back from there.

# shellcheck source=scripts/common.sh
source "$(dirname "$(readlink -f "$0")")/common.sh"
# shellcheck source=scripts/migrate/found.sh
source "$root/scripts/migrate/found.sh"
# shellcheck source=scripts/migrate/findings.sh
source "$root/scripts/migrate/findings.sh"
# shellcheck source=scripts/migrate/values.sh
source "$root/scripts/migrate/values.sh"
# shellcheck source=scripts/migrate/backup.sh
source "$root/scripts/migrate/backup.sh"
# shellcheck source=scripts/migrate/release.sh
source "$root/scripts/migrate/release.sh"
# shellcheck source=scripts/migrate/way.sh
source "$root/scripts/migrate/way.sh"

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
[[ $verb == check || -n $backup ]] || bad_usage "--backup is missing: the folder that $verb keeps the deployed system in"
# helm takes a comma for the end of a file's name.
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
  look
  tell "${steps[@]}"
  printf '%s' "$values"
  unblocked
  say "nothing is in the way. Next: $0 forward --half $half --backup DIR"
}

need kubectl helm flock
reach_cluster
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$verb"
