# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: what the settings of the deployed system come to as values of our charts, a text that grows in $values.

values=''
# The encrypt key of Contrabass, when it is in no Secret that our operator can be given.
own_key=''

# env_of NAMESPACE/NAME: NAME=VALUE of all that its containers are set, and NAME@SECRET/KEY of what is in a Secret; in $answer.
env_of() {
  local namespace=${1%/*} name=${1#*/} from key value map out=''
  ask get deployment "$name" -n "$namespace" -o 'go-template={{range .spec.template.spec.containers}}{{range .envFrom}}{{with .configMapRef}}map {{.name}}{{"\n"}}{{end}}{{with .secretRef}}secret {{.name}}{{"\n"}}{{end}}{{end}}{{range .env}}{{$name := .name}}{{with .valueFrom}}{{with .configMapKeyRef}}key {{$name}} {{.name}} {{.key}}{{"\n"}}{{end}}{{with .secretKeyRef}}ref {{$name}} {{.name}} {{.key}}{{"\n"}}{{end}}{{else}}env {{$name}} {{with .value}}{{.}}{{end}}{{"\n"}}{{end}}{{end}}{{end}}'
  map=$answer
  while read -r from key value; do
    case $from in
      map)
        ask get configmap "$key" -n "$namespace" --ignore-not-found -o 'go-template={{range $k, $v := .data}}{{$k}}={{$v}}{{"\n"}}{{end}}'
        out+=$answer$'\n' ;;
      secret)
        ask get secret "$key" -n "$namespace" --ignore-not-found -o "go-template={{range \$k, \$v := .data}}{{\$k}}@$key/{{\$k}}{{\"\\n\"}}{{end}}"
        out+=$answer$'\n' ;;
      key)
        ask get configmap "${value%% *}" -n "$namespace" --ignore-not-found -o "go-template={{with .data}}{{with index . \"${value#* }\"}}{{.}}{{end}}{{end}}"
        out+=$key=$answer$'\n' ;;
      ref) out+=$key@${value% *}/${value#* }$'\n' ;;
      env) out+=$key=$value$'\n' ;;
    esac
  done <<<"$map"
  answer=$out
}

# Setting of a chart, its form and what the deployed system calls it. What is not here has no counterpart: docs/guides/migrate.md
# says where each went.
agent_settings='
jobTtlSeconds    ttl       CONTROLLER_JOB_TTL'
operator_settings='
contrabassEndpoint            url      CONTRABASS_ENDPOINT
contrabassTimeout             duration CONTRABASS_TIMEOUT
contrabassInsecureTls         boolean  CONTRABASS_INSECURE_TLS
violaTimeout                  duration VIOLA_TIMEOUT
openstackTimeout              duration OPENSTACK_TIMEOUT
openstackInsecureTls          boolean  OPENSTACK_INSECURE_TLS
openstackNeutronEndpoint      url      OPENSTACK_NEUTRON_ENDPOINT
openstackNovaEndpoint         url      OPENSTACK_NOVA_ENDPOINT
openstackEndpointInterface    word     OPENSTACK_ENDPOINT_INTERFACE
openstackEndpointRegion       word     OPENSTACK_ENDPOINT_REGION
openstackNodeNameMetadataKey  word     OPENSTACK_NODE_NAME_METADATA_KEY
openstackPortAllowedStatuses  list     OPENSTACK_PORT_ALLOWED_STATUSES
downPortFastRetryMax          count    DOWN_PORT_FAST_RETRY_MAX
pollFastInterval              duration POLL_FAST_INTERVAL
pollSlowInterval              duration POLL_SLOW_INTERVAL
pollErrorInterval             duration POLL_ERROR_INTERVAL
pollFastWindow                window   POLL_FAST_WINDOW'

# settings_of PART TABLE ENV: the settings that have a value which our parts take; others are minded.
settings_of() {
  local part=$1 key form name line
  while read -r key form name; do
    [[ -n $key ]] || continue
    line=$(grep -E "^${name}[=@]." <<<"$3" | tail -n 1) || continue
    if [[ $line == "$name@"* ]]; then
      mind "$name is in Secret ${line#*@}, and $part.settings.$key is none: give it yourself, behind -- or in a values file"
    elif in_form "$form" "${line#*=}"; then
      setting_of "$part" "$key: $answer"
    else
      mind "$line has no value that ours can take: left out, the default of $part.settings.$key holds"
    fi
  done <<<"$2"
}

# in_form FORM VALUE: the value as YAML, in $answer; fails when our parts refuse it.
in_form() {
  local unit='([0-9]+(\.[0-9]+)?(h|m|s|ms))+' word
  answer="\"$2\""
  case $1 in
    url) [[ $2 =~ ^https?://[^\ \"]+$ ]] ;;
    word) [[ $2 =~ ^[A-Za-z0-9._:/-]+$ ]] ;;
    # Without a limit a call that hangs would hold everything up.
    duration) [[ $2 =~ ^$unit$ && ! $2 =~ ^0+[a-z]+$ ]] ;;
    window) [[ $2 =~ ^$unit$ ]] ;;
    boolean)
      answer=true
      [[ ! ${2,,} =~ ^(false|0|f)$ ]] || answer=false
      [[ ${2,,} =~ ^(true|1|t|false|0|f)$ ]] ;;
    count)
      answer=$2
      [[ $2 =~ ^[1-9][0-9]{0,2}$ ]] ;;
    ttl)
      answer=$2
      [[ $2 =~ ^[1-9][0-9]{2,5}$ ]] && (($2 >= 360 && $2 <= 604800)) ;;
    list)
      answer='["*"]'
      [[ $2 != *'*'* ]] || return 0
      answer=''
      for word in ${2//,/ }; do answer+="${answer:+, }\"${word^^}\""; done
      answer="[$answer]"
      [[ $2 =~ ^[A-Za-z,\ ]+$ ]] ;;
  esac
}

# placement_of PART NAMESPACE/NAME: where its Pods may run.
placement_of() {
  local field
  for field in nodeSelector tolerations affinity priorityClassName; do
    ask get deployment "${2#*/}" -n "${2%/*}" -o "jsonpath={.spec.template.spec.$field}"
    [[ -z $answer || $answer == '{}' ]] || of_part "$1" "  $field: $answer"
  done
}

# pull_secrets_of NAMESPACE/NAME: the Secrets with which its images are pulled.
pull_secrets_of() {
  ask get deployment "${1#*/}" -n "${1%/*}" -o 'jsonpath={.spec.template.spec.imagePullSecrets}'
  [[ -z $answer ]] || of_part global "  imagePullSecrets: $answer"
}

# of_part PART LINE: one more line of a part; setting_of PART LINE: one more of its settings. In any order.
declare -A lines_of=() settings_in=()

of_part() {
  lines_of[$1]+=$2$'\n'
}

setting_of() {
  settings_in[$1]+="    $2"$'\n'
}

# write_values: all of it, in $values.
write_values() {
  local part
  values=''
  for part in global namespaces operator viola controller; do
    [[ -n ${lines_of[$part]:-}${settings_in[$part]:-} ]] || continue
    values+="$part:"$'\n'${settings_in[$part]:+"  settings:"$'\n'${settings_in[$part]}}${lines_of[$part]:-}
  done
}
