# shellcheck shell=bash
# Shared functions of the scripts that install and remove MultiNIC: messages, preconditions, dry run, waits and Helm releases.
set -euo pipefail
# The C locale gives every user the same sort order, letter case and messages: in Turkish "active" is not "ACTIVE" in lower case.
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

dry_run=false
yes=false
context=()

say() {
  printf '%s\n' "$*" >&2
}

# die WHY NEXT
die() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  [[ -z ${2:-} ]] || printf 'Next: %s\n' "$2" >&2
  exit 1
}

bad_usage() {
  printf '%s: %s; see %s --help\n' "${0##*/}" "$*" "${0##*/}" >&2
  exit 2
}

# help: prints the comment at the head of the script.
help() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
  exit 0
}

# change COMMAND…: prints the command and runs it, but not in a dry run. Every change goes through this function.
change() {
  printf '+ %s\n' "$*" >&2
  $dry_run || "$@"
}

kube() {
  kubectl "${context[@]}" "$@"
}

kube_helm() {
  helm "${context[@]/--context/--kube-context}" "$@"
}

need() {
  local tool
  for tool; do
    command -v "$tool" >/dev/null || die "$tool is not on this machine" "install $tool and put it on PATH"
  done
}

# reach_cluster: checks the API server and its version, and prints the cluster before any change.
reach_cluster() {
  local server version minor
  # The context is fixed here: a user may switch the current context while the script runs.
  ((${#context[@]})) || context=(--context "$(kube config current-context 2>/dev/null)") ||
    die "kubectl has no current context" "set KUBECONFIG, or pass --context NAME"
  server=$(kube config view --minify -o 'jsonpath={.clusters[0].cluster.server}' 2>/dev/null) ||
    die "kubectl has no context ${context[1]}" "see kubectl config get-contexts"
  # kubectl has no timeout for a server that accepts the connection and never answers.
  version=$(kube get --raw /version --request-timeout=20s 2>/dev/null | sed -nE 's/.*"gitVersion": *"v([0-9]+\.[0-9]+).*/\1/p') || true
  [[ -n $version ]] || die "the API server $server does not answer" "check that kubectl get nodes works, then run this script again"
  minor=${version#*.}
  ((${version%%.*} > 1 || minor >= 20)) || die "$server is Kubernetes $version" "MultiNIC needs 1.20 or later"
  say "cluster: $server (Kubernetes $version)"
}

# may VERB RESOURCE [NAMESPACE]
may() {
  local where=()
  [[ -z ${3:-} ]] || where=(--namespace "$3")
  kube auth can-i "$1" "$2" "${where[@]}" >/dev/null 2>&1 ||
    die "you may not $1 $2${3:+ in namespace $3}" "use a kubeconfig of an administrator of this cluster"
}

# exists RESOURCE…: ends the script if the read fails, because a failed read does not prove that the object is absent.
exists() {
  local found
  found=$(kube get "$@" --ignore-not-found -o name) || die "kubectl cannot read $*" "correct the error above, then run this script again"
  [[ -n $found ]]
}

# counted NUMBER NOUN: prints "1 object", "2 objects".
counted() {
  if (($1 == 1)); then echo "$1 $2"; else echo "$1 $2s"; fi
}

# value_after OPTION VALUE…: refuses an option without value, such as an option before an empty variable.
value_after() {
  [[ -n ${2:-} ]] || bad_usage "$1 needs a value"
}

# confirm WHAT: asks the user; ends the script unless the answer is yes.
confirm() {
  $dry_run && return
  $yes && return
  [[ -t 0 ]] || die "standard input is not a terminal: the script cannot ask whether to $1" "pass --yes, or --dry-run to see the changes"
  local answer
  read -r -p "$1? (yes/no) " answer
  [[ $answer == yes ]] || die "nothing was done" "answer yes to continue"
}

# wait_for SECONDS WHAT COMMAND…: waits until the command succeeds; prints WHAT every ten seconds.
wait_for() {
  local end=$((SECONDS + $1)) what=$2 printed=$SECONDS
  shift 2
  $dry_run && return
  until "$@"; do
    ((SECONDS < end)) || return 1
    if ((SECONDS >= printed + 10)); then
      say "waiting for $what"
      printed=$SECONDS
    fi
    sleep 1
  done
}

# restricted_namespace NAME: creates the namespace with Pod Security level restricted, for all parts but the agents.
restricted_namespace() {
  local phase
  phase=$(kube get namespace "$1" --ignore-not-found -o 'jsonpath={.status.phase}')
  [[ $phase != Terminating ]] || die "namespace $1 is being deleted" "run this script again when the namespace is gone; kubectl get namespace $1 -o yaml shows the remaining finalizers"
  [[ -n $phase ]] || change kube create namespace "$1"
  change kube label namespace "$1" --overwrite \
    pod-security.kubernetes.io/enforce=restricted pod-security.kubernetes.io/warn=restricted
}

# without_finalizers KIND FINALIZER…: removes these finalizers from every object of the kind; foreign finalizers stay.
without_finalizers() {
  local kind=$1 objects namespace name version present finalizer remaining
  shift
  objects=$(kube get "$kind" -A -o 'jsonpath={range .items[?(@.metadata.finalizers)]}{.metadata.namespace} {.metadata.name} {.metadata.resourceVersion} {.metadata.finalizers}{"\n"}{end}') ||
    gone "$kind" -A || die "kubectl cannot list $kind, to remove their finalizers" "correct the error above, then run this script again"
  while read -r namespace name version present; do
    [[ -n $name ]] || continue
    remaining=''
    for finalizer in ${present//[\[\]\",]/ }; do
      [[ " $* " == *" $finalizer "* ]] || remaining+="${remaining:+,}\"$finalizer\""
    done
    change kube -n "$namespace" patch "$kind" "$name" --type=merge \
      -p "{\"metadata\":{\"resourceVersion\":\"$version\",\"finalizers\":[$remaining]}}" ||
      gone "$kind" -n "$namespace" "$name" ||
      die "kubectl cannot remove the finalizers of $kind $namespace/$name" "correct the error above, then run this script again"
  done <<<"$objects"
}

# remove_test_pod NAME: Helm does not delete the Pod of `helm test` with its release. --wait=false: on a node that is down the Pod never ends.
remove_test_pod() {
  ! exists -n "$namespace" "pod/$1" || change kube -n "$namespace" delete pod "$1" --ignore-not-found --wait=false
}

# delete_kind CRD SECONDS: deletes the CRD with all objects. Finalizers of foreign programs may delay the end.
delete_kind() {
  change kube delete crd "$1" --ignore-not-found --wait=false
  wait_for "$2" "the deletion of all $1" kind_gone "$1" && return
  kube get "$1" -A -o 'custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,FINALIZERS:.metadata.finalizers' >&2 || true
  die "after $2 s objects of $1 still exist (above)" "let the owners of these finalizers finish: the API server deletes the CRD after the last object"
}

kind_gone() {
  local found
  found=$(kube get crd "$1" --ignore-not-found -o name 2>/dev/null) && [[ -z $found ]]
}

# gone KIND ARGUMENT…: whether these objects are absent, with or without their CRD. Fails when one exists or the cluster does not answer.
# A failed read is repeated: the CRD may disappear between both reads.
gone() {
  local kind=$1 found
  shift
  for _ in {1..5}; do
    if kind_gone "$kind"; then return; fi
    if found=$(kube get "$kind" "$@" --ignore-not-found -o name 2>/dev/null); then
      [[ -z $found ]]
      return
    fi
    sleep 1
  done
  return 1
}

# count_of KIND: prints the number of objects. Fails when the cluster does not answer.
count_of() {
  local names
  names=$(kube get "$1" -A -o name) || { echo 0; return 1; }
  grep -c . <<<"$names" || true
}

# change_all KIND VERB ARGUMENT…: changes every object of the kind; another user may delete the last one meanwhile.
change_all() {
  local kind=$1 verb=$2
  shift 2
  change kube "$verb" "$kind" --all -A "$@" || gone "$kind" -A ||
    die "kubectl cannot $verb all $kind" "correct the error above, then run this script again"
}

# remove_with_consent KIND ANNOTATION WHAT SECONDS: deletes all objects of the kind and waits until none is left. Objects with a held
# removal get a consent: the operator and the controller accept a consent only after they have reported the hold.
remove_with_consent() {
  local kind=$1 annotation=$2 what=$3
  change_all "$kind" delete --wait=false
  ! $dry_run || say "+ kubectl annotate $kind … --overwrite $annotation=TIME, for each object with a held removal"
  wait_for "$4" "$what" gone_with_consent "$kind" "$annotation"
}

gone_with_consent() {
  if gone "$1" -A; then return; fi
  consent_to_held "$1" "$2"
  return 1
}

# Objects with a consent of this round, each as " NAMESPACE/NAME ". A hold that outlasts a round is a new hold and gets a new consent.
consented=' '
round_ends=0
round_seconds=60

# consent_to_held KIND ANNOTATION: annotates deleted objects with the reason RemovalHeld. A condition from before the deletion is about
# an edit and does not count: operator and controller observe the generation of the deletion first, and only a live OpenstackConfig has
# the condition Delivered.
consent_to_held() {
  local kind=$1 annotation=$2 objects namespace name generation observed reason delivered previous='' names=()
  if ((SECONDS >= round_ends)); then
    consented=' '
    round_ends=$((SECONDS + round_seconds))
  fi
  objects=$(kube get "$kind" -A -o 'jsonpath={range .items[?(@.metadata.deletionTimestamp)]}{.metadata.namespace}|{.metadata.name}|{.metadata.generation}|{.status.observedGeneration}|{.status.conditions[?(@.type=="Ready")].reason}|{.status.conditions[?(@.type=="Delivered")].type}{"\n"}{end}' 2>/dev/null) || return 0
  while IFS='|' read -r namespace name generation observed reason delivered; do
    [[ $reason == RemovalHeld && $observed == "$generation" && -z $delivered ]] || continue
    [[ $consented != *" $namespace/$name "* ]] || continue
    consented+="$namespace/$name "
    if ((${#names[@]} == 100)) || [[ $namespace != "$previous" && ${#names[@]} -gt 0 ]]; then
      consent_in "$previous" "$kind" "$annotation" "${names[@]}"
      names=()
    fi
    previous=$namespace
    names+=("$name")
  done <<<"$objects"
  ((${#names[@]} == 0)) || consent_in "$previous" "$kind" "$annotation" "${names[@]}"
}

# consent_in NAMESPACE KIND ANNOTATION NAME…: a missing object is no error, and the next round repeats a failed consent.
consent_in() {
  local in_namespace=$1 kind=$2 annotation=$3
  shift 3
  say "removals held (RemovalHeld) for $# $kind in $in_namespace: consenting"
  change kube -n "$in_namespace" annotate "$kind" "$@" --overwrite "$annotation=$(date -u +%FT%TZ)" >/dev/null || true
}

# pods_ended SELECTOR…: fails while Pods exist or the cluster does not answer.
pods_ended() {
  local pods
  pods=$(kube get pods "$@" -o name 2>/dev/null) && [[ -z $pods ]]
}

# Labels of agent Jobs and Pods. Charts from foreign products name a component "agent" as well.
agents=app.kubernetes.io/name=multinic-agent,app.kubernetes.io/component=agent,app.kubernetes.io/managed-by=multinic

# agent_namespaces NAMESPACE: prints multinic-agents and the agent namespace of the controller; without a controller every namespace of MultiNIC.
agent_namespaces() {
  local found path='{.spec.template.spec.containers[*].env[?(@.name=="AGENT_NAMESPACE")].value}'
  found=$(kube -n "$1" get deployment multinic-agent-controller --ignore-not-found -o "jsonpath=$path") ||
    die "kubectl cannot read deployment/multinic-agent-controller" "correct the error above, then run this script again"
  [[ -n $found ]] || found=$(kube get namespaces -l app.kubernetes.io/part-of=multinic -o 'jsonpath={.items[*].metadata.name}') ||
    die "kubectl cannot list namespaces" "correct the error above, then run this script again"
  [[ " $found " == *' multinic-agents '* ]] || found+=" multinic-agents"
  echo "$found"
}

# agents_ended NAMESPACE…: fails while an agent runs. Only running agents count: a pending agent has changed no NIC.
agents_ended() {
  local where
  for where; do
    pods_ended -n "$where" -l "$agents" --field-selector status.phase=Running || return 1
  done
}

# release_of NAMESPACE DEPLOYMENT NAME: prints the Helm release of the Deployment: NAME if it is gone, nothing if Helm did not create it.
release_of() {
  local found
  found=$(kube -n "$1" get "$2" --ignore-not-found -o 'jsonpath={.kind}/{.metadata.annotations.meta\.helm\.sh/release-name}') ||
    die "kubectl cannot read $2" "correct the error above, then run this script again"
  if [[ -z $found ]]; then echo "$3"; else echo "${found#*/}"; fi
}

# uninstall_release RELEASE NAMESPACE: uninstalls the release if it exists.
uninstall_release() {
  local output
  if output=$(kube_helm -n "$2" status "$1" 2>&1); then
    change kube_helm -n "$2" uninstall "$1" --wait --timeout 5m
  elif [[ $output != *'not found'* ]]; then
    say "$output"
    die "helm cannot read the status of release $1" "correct the error above, then run this script again"
  fi
}

# explain NAMESPACE: prints Pods and warnings after Helm's timeout.
explain() {
  say "--- pods of $1"
  kube -n "$1" get pods >&2 || true
  say "--- warnings of $1"
  kube -n "$1" get events --field-selector type=Warning --sort-by=.lastTimestamp 2>/dev/null | tail -n 15 >&2 || true
}

# build_images OPTION: refuses in an unpacked release, which has images but no sources.
build_images() {
  [[ -e $root/Makefile ]] || die "this folder has no sources to build images from" "load the images from images/ (docs/guides/air-gap.md) and $1"
  change make -C "$root" image
}

# refuse_interrupted RELEASE NAMESPACE: a killed helm leaves a release Secret with a pending status, and later helm calls fail. Only the
# newest revision counts.
refuse_interrupted() {
  local revisions newest
  revisions=$(kube -n "$2" get secrets -l "owner=helm,name=$1" -o 'jsonpath={range .items[*]}{.metadata.labels.version} {.metadata.labels.status} {.metadata.name}{"\n"}{end}')
  newest=$(sort -n <<<"$revisions" | tail -n 1)
  [[ ! $newest =~ ^[0-9]+\ uninstalling ]] ||
    die "a helm is removing $1, or was interrupted" "if no user is removing $1 now: helm -n $2 uninstall $1; then run this script again"
  [[ ! $newest =~ ^[0-9]+\ pending- ]] ||
    die "a helm is at work on $1, or was interrupted" "if no user is installing $1 now: kubectl -n $2 delete secret/${newest##* }; then run this script again"
}

# Whether helm waits until all Pods are ready.
helm_wait=(--wait)

# Chart for helm, and version for chart and images. Charts in a release contain both.
chart_path=''
chart_version=''

# prepare_chart CHART: committed charts have a placeholder, so helm packages a copy with the version from build/version.
prepare_chart() {
  local folder
  chart_path=$root/charts/$1
  if [[ -e $root/build/version ]]; then
    chart_version=$("$root/build/version" "$root") || die "the version of $root is unknown" "correct the error above, then run this script again"
    mkdir -p "$root/dist/charts"
    folder=$(mktemp -d "$root/dist/charts/run-XXXXXX")
    # shellcheck disable=SC2064
    trap "$(printf 'rm -rf %q' "$folder")" EXIT
    helm package "$chart_path" --version "$chart_version" --app-version "$chart_version" --destination "$folder" >/dev/null ||
      die "helm cannot package charts/$1" "correct the error above, then run this script again"
    chart_path=$folder/$1-$chart_version.tgz
  else
    chart_version=$(sed -n 's/^version: //p' "$chart_path/Chart.yaml")
  fi
}

# deployments_of RELEASE NAMESPACE: prints "NAME VERSION GENERATION" for each Deployment.
deployments_of() {
  local found
  found=$(kube -n "$2" get deployments -l app.kubernetes.io/part-of=multinic -o 'jsonpath={range .items[*]}{.metadata.annotations.meta\.helm\.sh/release-name} {.metadata.name} {.metadata.labels.app\.kubernetes\.io/version} {.metadata.generation}{"\n"}{end}') ||
    die "kubectl cannot read Deployments in namespace $2" "correct the error above, then run this script again"
  sed -n "s/^$1 //p" <<<"$found"
}

# versions_in DEPLOYMENTS: prints each version once.
versions_in() {
  cut -d ' ' -f 2 <<<"$1" | sort -u | paste -sd ' '
}

# report_versions FORMER: prints both versions before helm starts.
report_versions() {
  local former
  former=$(versions_in "$1")
  case $former in
    '') say "version: $chart_version" ;;
    "$chart_version") say "version: $chart_version is installed already; only changed values have an effect" ;;
    *) say "version: $former -> $chart_version" ;;
  esac
}

# install_release RELEASE CHART NAMESPACE HELM-ARGUMENT…
install_release() {
  local release=$1 chart=$2 namespace=$3 former
  shift 3
  refuse_interrupted "$release" "$namespace"
  prepare_chart "$chart"
  former=$(deployments_of "$release" "$namespace")
  report_versions "$former"
  if $dry_run; then
    say "+ helm upgrade --install $release $chart --namespace $namespace $*"
    kube_helm upgrade --install "$release" "$chart_path" --namespace "$namespace" --dry-run=server --hide-notes "$@" >/dev/null ||
      die "helm cannot render $chart for this cluster" "correct the error above, then run this script again"
    return
  fi
  say "+ helm upgrade --install $release ${chart_path#"$root/"} --namespace $namespace ${helm_wait[*]}${helm_wait[*]:+ }--timeout 5m $*"
  kube_helm upgrade --install "$release" "$chart_path" --namespace "$namespace" "${helm_wait[@]}" --timeout 5m "$@" || {
    explain "$namespace"
    die "helm could not install $release" "see docs/guides/install.md, section 'When it does not start'"
  }
  if [[ -n $former && $(deployments_of "$release" "$namespace") == "$former" ]]; then
    say "no change: the Deployments of version $chart_version have these values already"
  fi
}

# values_of CHART TYPE: the file of an environment.
values_of() {
  local file=$root/charts/$1/values-$2.yaml
  [[ -e $file ]] || bad_usage "--type '$2' must be dev, staging or production"
  echo "$file"
}
