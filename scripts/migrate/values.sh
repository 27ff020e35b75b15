# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of the script that sources it
# Sourced: maps settings of the legacy system to values of MultiNIC's charts, in $values.

values=''
# Contrabass encrypt key; '' if a Secret in the operator's namespace has the key.
contrabass_key=''

# env_of NAMESPACE/NAME: sets $answer to the containers' environment: NAME=VALUE, or NAME@SECRET/KEY for a value from a Secret.
env_of() {
  local namespace=${1%/*} name=${1#*/} from key value map out=''
  read_cluster get deployment "$name" -n "$namespace" -o 'go-template={{range .spec.template.spec.containers}}{{range .envFrom}}{{with .configMapRef}}map {{.name}}{{"\n"}}{{end}}{{with .secretRef}}secret {{.name}}{{"\n"}}{{end}}{{end}}{{range .env}}{{$name := .name}}{{with .valueFrom}}{{with .configMapKeyRef}}key {{$name}} {{.name}} {{.key}}{{"\n"}}{{end}}{{with .secretKeyRef}}ref {{$name}} {{.name}} {{.key}}{{"\n"}}{{end}}{{else}}env {{$name}} {{with .value}}{{.}}{{end}}{{"\n"}}{{end}}{{end}}{{end}}'
  map=$answer
  while read -r from key value; do
    case $from in
      map)
        read_cluster get configmap "$key" -n "$namespace" --ignore-not-found -o 'go-template={{range $k, $v := .data}}{{$k}}={{$v}}{{"\n"}}{{end}}'
        out+=$answer$'\n' ;;
      secret)
        read_cluster get secret "$key" -n "$namespace" --ignore-not-found -o "go-template={{range \$k, \$v := .data}}{{\$k}}@$key/{{\$k}}{{\"\\n\"}}{{end}}"
        out+=$answer$'\n' ;;
      key)
        read_cluster get configmap "${value%% *}" -n "$namespace" --ignore-not-found -o "go-template={{with .data}}{{with index . \"${value#* }\"}}{{.}}{{end}}{{end}}"
        out+=$key=$answer$'\n' ;;
      ref) out+=$key@${value% *}/${value#* }$'\n' ;;
      env) out+=$key=$value$'\n' ;;
    esac
  done <<<"$map"
  answer=$out
}

# Chart setting, form of the value, legacy variable. docs/guides/migrate.md lists legacy variables without a chart setting.
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

# settings_of PART TABLE ENV: adds a setting for each valid legacy value, and a notice for each invalid value.
settings_of() {
  local part=$1 key form name line
  while read -r key form name; do
    [[ -n $key ]] || continue
    line=$(grep -E "^${name}[=@]." <<<"$3" | tail -n 1) || continue
    if [[ $line == "$name@"* ]]; then
      notice "$name is in Secret ${line#*@}, but $part.settings.$key reads no Secret: set the value after -- or in a values file"
    elif yaml_value "$form" "${line#*=}"; then
      add_setting "$part" "$key: $answer"
    else
      notice "$line is no valid value for $part.settings.$key: the script omits the setting, and the default applies"
    fi
  done <<<"$2"
}

# yaml_value FORM VALUE: sets $answer to the value as YAML; fails for a value that MultiNIC refuses.
yaml_value() {
  local unit='([0-9]+(\.[0-9]+)?(h|m|s|ms))+' word
  answer="\"$2\""
  case $1 in
    url) [[ $2 =~ ^https?://[^\ \"]+$ ]] ;;
    word) [[ $2 =~ ^[A-Za-z0-9._:/-]+$ ]] ;;
    # MultiNIC refuses a timeout of 0: a hanging call would delay all syncs.
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

# placement_of PART NAMESPACE/NAME: copies scheduling fields to the part's values.
placement_of() {
  local field
  for field in nodeSelector tolerations affinity priorityClassName; do
    read_cluster get deployment "${2#*/}" -n "${2%/*}" -o "jsonpath={.spec.template.spec.$field}"
    [[ -z $answer || $answer == '{}' ]] || add_part_line "$1" "  $field: $answer"
  done
}

# pull_secrets_of NAMESPACE/NAME: copies imagePullSecrets to the values.
pull_secrets_of() {
  read_cluster get deployment "${1#*/}" -n "${1%/*}" -o 'jsonpath={.spec.template.spec.imagePullSecrets}'
  [[ -z $answer ]] || add_part_line global "  imagePullSecrets: $answer"
}

# add_part_line PART LINE, add_setting PART LINE: add a line to the part's values, or to the part's settings. The order is free.
declare -A lines_of=() settings_in=()

add_part_line() {
  lines_of[$1]+=$2$'\n'
}

add_setting() {
  settings_in[$1]+="    $2"$'\n'
}

# write_values: sets $values to the YAML text with all lines.
write_values() {
  local part
  values=''
  for part in global namespaces operator viola controller; do
    [[ -n ${lines_of[$part]:-}${settings_in[$part]:-} ]] || continue
    values+="$part:"$'\n'${settings_in[$part]:+"  settings:"$'\n'${settings_in[$part]}}${lines_of[$part]:-}
  done
}
