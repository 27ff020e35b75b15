# shellcheck shell=bash
# Sourced by the scripts that install and remove MultiNIC: how they speak, what they check first, and how a dry run changes nothing.
set -euo pipefail
# Letters, their order and messages of programs are the same for everybody: in Turkish "active" is not "ACTIVE" in lower case.
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

# The comment at the head of the script is its help.
help() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
  exit 0
}

# The only way in which these scripts change anything.
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

# The cluster that everything is about, said before anything happens.
reach_cluster() {
  local server version minor
  # The one that is current now, whatever somebody switches to while this runs.
  ((${#context[@]})) || context=(--context "$(kube config current-context 2>/dev/null)") ||
    die "kubectl has no current context" "set KUBECONFIG, or give --context NAME"
  server=$(kube config view --minify -o 'jsonpath={.clusters[0].cluster.server}' 2>/dev/null) ||
    die "kubectl has no context ${context[1]}" "see kubectl config get-contexts"
  # Something may take the connection and never answer; kubectl by itself would wait for ever.
  version=$(kube get --raw /version --request-timeout=20s 2>/dev/null | sed -nE 's/.*"gitVersion": *"v([0-9]+\.[0-9]+).*/\1/p') || true
  [[ -n $version ]] || die "the API server $server does not answer" "see whether kubectl get nodes works, then try again"
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

# A cluster that does not answer, or may not be asked, has not said that nothing is there.
exists() {
  local found
  found=$(kube get "$@" --ignore-not-found -o name) || die "kubectl cannot read $*" "see what it says above, then run this again"
  [[ -n $found ]]
}

# value_after OPTION VALUE…: an option that is the last word, or has an empty variable behind it, is a mistake.
value_after() {
  [[ -n ${2:-} ]] || bad_usage "$1 wants a value"
}

# confirm WHAT: a person has to say yes.
confirm() {
  $dry_run && return
  $yes && return
  [[ -t 0 ]] || die "nobody can be asked here whether to $1" "give --yes, or --dry-run to see what would be done"
  local answer
  read -r -p "$1? (yes/no) " answer
  [[ $answer == yes ]] || die "nothing was done" "answer yes to go on"
}

# wait_for SECONDS WHAT COMMAND…: until the command succeeds; says every ten seconds what is waited for.
wait_for() {
  local end=$((SECONDS + $1)) what=$2 told=$SECONDS
  shift 2
  $dry_run && return
  until "$@"; do
    ((SECONDS < end)) || return 1
    if ((SECONDS >= told + 10)); then
      say "waiting for $what"
      told=$SECONDS
    fi
    sleep 1
  done
}

# A namespace with the Pod Security level that everything of ours but the agents is made for.
restricted_namespace() {
  local phase
  phase=$(kube get namespace "$1" --ignore-not-found -o 'jsonpath={.status.phase}')
  [[ $phase != Terminating ]] || die "namespace $1 is being deleted" "when it is gone, run this again; kubectl get namespace $1 -o yaml says what holds it"
  [[ -n $phase ]] || change kube create namespace "$1"
  change kube label namespace "$1" --overwrite \
    pod-security.kubernetes.io/enforce=restricted pod-security.kubernetes.io/warn=restricted
}

# without_finalizers KIND FINALIZER…: takes ours off every object of the kind, whatever others have put there stays.
without_finalizers() {
  local kind=$1 objects namespace name version held finalizer kept
  shift
  objects=$(kube get "$kind" -A -o 'jsonpath={range .items[?(@.metadata.finalizers)]}{.metadata.namespace} {.metadata.name} {.metadata.resourceVersion} {.metadata.finalizers}{"\n"}{end}') ||
    die "kubectl cannot list $kind, and finalizers are on some" "see what it says above, then run this again"
  while read -r namespace name version held; do
    [[ -n $name ]] || continue
    kept=''
    for finalizer in ${held//[\[\]\",]/ }; do
      [[ " $* " == *" $finalizer "* ]] || kept+="${kept:+,}\"$finalizer\""
    done
    change kube -n "$namespace" patch "$kind" "$name" --type=merge \
      -p "{\"metadata\":{\"resourceVersion\":\"$version\",\"finalizers\":[$kept]}}" ||
      kind_gone "$kind" || ! exists -n "$namespace" "$kind" "$name" ||
      die "kubectl cannot take the finalizers off $kind $namespace/$name" "see what it says above, then run this again"
  done <<<"$objects"
}

# Helm leaves the Pod of `helm test` where it is when its release goes. On a node that is down it would not end.
remove_test_pod() {
  ! exists -n "$namespace" "pod/$1" || change kube -n "$namespace" delete pod "$1" --ignore-not-found --wait=false
}

# delete_kind CRD SECONDS: with all objects of it. Other programs may hold some with finalizers of their own.
delete_kind() {
  change kube delete crd "$1" --ignore-not-found --wait=false
  wait_for "$2" "the objects of $1 to go" kind_gone "$1" && return
  kube get "$1" -A -o 'custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,FINALIZERS:.metadata.finalizers' >&2 || true
  die "after $2 s something still holds objects of $1 (above)" "have it let go of them: the kind goes with the last one"
}

kind_gone() {
  local found
  found=$(kube get crd "$1" --ignore-not-found -o name 2>/dev/null) && [[ -z $found ]]
}

# Fails when the cluster does not answer.
count_of() {
  local names
  names=$(kube get "$1" -A -o name) || { echo 0; return 1; }
  grep -c . <<<"$names" || true
}

# Whoever waits for this asks again when the cluster does not answer. A kind that was deleted before goes with its last object.
none_left() {
  local count
  if kind_gone "$1"; then return; fi
  count=$(count_of "$1" 2>/dev/null) && [[ $count == 0 ]]
}

# change_all KIND VERB ARGUMENT…: every object of the kind, unless the last one goes meanwhile.
change_all() {
  local kind=$1 verb=$2
  shift 2
  change kube "$verb" "$kind" --all -A "$@" || none_left "$kind" ||
    die "kubectl cannot $verb all $kind" "see what it says above, then run this again"
}

# pods_ended SELECTOR…: as above.
pods_ended() {
  local pods
  pods=$(kube get pods "$@" -o name 2>/dev/null) && [[ -z $pods ]]
}

# Labels of agent Jobs and Pods. Charts of other products name a component "agent" as well.
agents=app.kubernetes.io/name=multinic-agent,app.kubernetes.io/component=agent,app.kubernetes.io/managed-by=multinic

# agent_namespaces NAMESPACE: the default one, and that of the controller there; without a controller every namespace of ours.
agent_namespaces() {
  local found path='{.spec.template.spec.containers[*].env[?(@.name=="AGENT_NAMESPACE")].value}'
  found=$(kube -n "$1" get deployment multinic-agent-controller --ignore-not-found -o "jsonpath=$path") ||
    die "kubectl cannot read deployment/multinic-agent-controller" "see what it says above, then run this again"
  [[ -n $found ]] || found=$(kube get namespaces -l app.kubernetes.io/part-of=multinic -o 'jsonpath={.items[*].metadata.name}') ||
    die "kubectl cannot list namespaces" "see what it says above, then run this again"
  [[ " $found " == *' multinic-agents '* ]] || found+=" multinic-agents"
  echo "$found"
}

# agents_ended NAMESPACE…: an agent finishes or undoes the NIC that it is at; one that never began does nothing.
agents_ended() {
  local where
  for where; do
    pods_ended -n "$where" -l "$agents" --field-selector status.phase=Running || return 1
  done
}

# release_of NAMESPACE DEPLOYMENT NAME: the helm release that it is of; NAME when it is gone already, nothing when no helm made it.
release_of() {
  local found
  found=$(kube -n "$1" get "$2" --ignore-not-found -o 'jsonpath={.kind}/{.metadata.annotations.meta\.helm\.sh/release-name}') ||
    die "kubectl cannot read $2" "see what it says above, then run this again"
  if [[ -z $found ]]; then echo "$3"; else echo "${found#*/}"; fi
}

# uninstall_release RELEASE NAMESPACE, if it is there.
uninstall_release() {
  local said
  if said=$(kube_helm -n "$2" status "$1" 2>&1); then
    change kube_helm -n "$2" uninstall "$1" --wait --timeout 5m
  elif [[ $said != *'not found'* ]]; then
    say "$said"
    die "helm cannot say whether the release $1 is there" "see what it says above, then run this again"
  fi
}

# What a person needs when helm gives up waiting.
explain() {
  say "--- pods of $1"
  kube -n "$1" get pods >&2 || true
  say "--- warnings of $1"
  kube -n "$1" get events --field-selector type=Warning --sort-by=.lastTimestamp 2>/dev/null | tail -n 15 >&2 || true
}

# A release holds images, and nothing to build them from.
build_images() {
  [[ -e $root/Makefile ]] || die "there is nothing here to build images from" "load those of images/ (docs/guides/air-gap.md) and $1"
  change make -C "$root" image
}

# refuse_interrupted RELEASE NAMESPACE: a helm that was killed leaves a note that it is at work, and the next one believes it. A
# note that something came after, such as a rollback, says nothing more.
refuse_interrupted() {
  local notes newest
  notes=$(kube -n "$2" get secrets -l "owner=helm,name=$1" -o 'jsonpath={range .items[*]}{.metadata.labels.version} {.metadata.labels.status} {.metadata.name}{"\n"}{end}')
  newest=$(sort -n <<<"$notes" | tail -n 1)
  [[ ! $newest =~ ^[0-9]+\ uninstalling ]] ||
    die "a helm is removing $1, or was interrupted" "when nobody else removes it: helm -n $2 uninstall $1; then run this again"
  [[ ! $newest =~ ^[0-9]+\ pending- ]] ||
    die "a helm is at work on $1, or was interrupted" "when nobody else installs it: kubectl -n $2 delete secret/${newest##* }; then run this again"
}

# Whether helm waits until all Pods are ready.
helm_wait=(--wait)

# install_release RELEASE CHART NAMESPACE HELM-ARGUMENT…
install_release() {
  local release=$1 chart=$2 namespace=$3
  shift 3
  refuse_interrupted "$release" "$namespace"
  if $dry_run; then
    say "+ helm upgrade --install $release $chart --namespace $namespace $*"
    kube_helm upgrade --install "$release" "$root/charts/$chart" --namespace "$namespace" --dry-run=server --hide-notes "$@" >/dev/null ||
      die "helm cannot render $chart for this cluster" "correct what it says above"
    return
  fi
  say "+ helm upgrade --install $release charts/$chart --namespace $namespace ${helm_wait[*]}${helm_wait[*]:+ }--timeout 5m $*"
  kube_helm upgrade --install "$release" "$root/charts/$chart" --namespace "$namespace" "${helm_wait[@]}" --timeout 5m "$@" || {
    explain "$namespace"
    die "helm could not install $release" "docs/guides/install.md, section 'When it does not start', says what these mean"
  }
}

# values_of CHART TYPE: the file of an environment.
values_of() {
  local file=$root/charts/$1/values-$2.yaml
  [[ -e $file ]] || bad_usage "--type '$2' must be dev, staging or production"
  echo "$file"
}
