{{- /* Parts of this chart, for the templates shared by both charts. */ -}}

{{- define "operator.part" -}}
{{- if .Values.lifecycle.enabled -}}
{part: operator, name: multinic-operator, component: operator, account: multinic-controller, deployment: multinic-controller}
{{- else -}}
{part: operator, name: multinic-operator, component: operator, account: multinic-operator, deployment: multinic-operator-controller-manager}
{{- end -}}
{{- end }}

{{- define "lifecycle.part" -}}
{part: lifecycle, name: multinic-operator, component: lifecycle, account: multinic-operator, deployment: multinic-operator}
{{- end }}

{{- define "viola.part" -}}
{part: viola, name: viola-api, component: viola, account: viola-api, deployment: viola-api}
{{- end }}

{{- define "operator.disruptionBudget" -}}
{{- /* With lifecycle a MultiNicOperator sets the replicas: objects for several replicas always exist. */ -}}
{{- $values := .Values.lifecycle.enabled | ternary (set (deepCopy .Values.operator) "replicas" 2) .Values.operator -}}
{{- include "multinic.disruptionBudget" (merge (fromYaml (include "operator.part" .)) (dict "root" . "values" $values)) }}
{{- end }}

{{- /* Effective value of a part's setting; arguments: context and key. */ -}}
{{- define "operator.setting" -}}
{{- $root := index . 0 -}}
{{- include "multinic.setting" (dict "root" $root "part" "operator" "values" $root.Values.operator "key" (index . 1)) -}}
{{- end }}

{{- define "lifecycle.setting" -}}
{{- $root := index . 0 -}}
{{- include "multinic.setting" (dict "root" $root "part" "lifecycle" "values" $root.Values.lifecycle "key" (index . 1)) -}}
{{- end }}

{{- define "viola.setting" -}}
{{- $root := index . 0 -}}
{{- include "multinic.setting" (dict "root" $root "part" "viola" "values" $root.Values.viola "key" (index . 1)) -}}
{{- end }}

{{- /* "true" when Viola has a certificate, else "". */ -}}
{{- define "viola.hasTls" -}}
{{- if ne .Values.viola.tls.mode "plain" }}true{{ end -}}
{{- end }}

{{- define "viola.host" -}}
viola-api.{{ .Release.Namespace }}.svc
{{- end }}

{{- define "viola.url" -}}
{{- if include "viola.hasTls" . }}https://{{ include "viola.host" . }}{{ else }}http://{{ include "viola.host" . }}:8080{{ end -}}
{{- end }}

{{- /* Secret with Viola's certificate and key. */ -}}
{{- define "viola.certificate" -}}
{{- $tls := .Values.viola.tls -}}
{{- if eq $tls.mode "managed" }}viola-api-tls{{ else if eq $tls.mode "certManager" }}viola-api-certificate{{ else }}{{ $tls.secretName }}{{ end -}}
{{- end }}

{{- /* Volume with the CA for Viola's certificate as ca.crt. */ -}}
{{- define "viola.caVolume" -}}
{{- $ca := .Values.viola.tls.ca -}}
name: viola-ca
{{- if $ca.configMap }}
configMap:
  name: {{ $ca.configMap | quote }}
{{- else }}
secret:
  secretName: {{ $ca.secret | default (include "viola.certificate" .) | quote }}
{{- end }}
  items:
    - {key: {{ $ca.key | quote }}, path: ca.crt}
{{- end }}

{{- /* Volume with the operator's token for Viola as token. */ -}}
{{- define "viola.tokenVolume" -}}
{{- $tokens := .Values.viola.tokens -}}
{{- $managed := eq $tokens.mode "managed" -}}
name: viola-token
secret:
  secretName: {{ $managed | ternary "multinic-operator-viola-token" $tokens.operatorToken.secretName | quote }}
  items:
    - {key: {{ $managed | ternary "token" $tokens.operatorToken.key | quote }}, path: token}
{{- end }}

{{- /* "true" while the inventory is a file, else "". */ -}}
{{- define "operator.usesSqlite" -}}
{{- if not .Values.operator.settings.dbHost }}true{{ end -}}
{{- end }}

{{- /* "true" with a configured CA for clouds, else "". */ -}}
{{- define "operator.hasCaBundle" -}}
{{- if or .Values.operator.caBundle.configMap .Values.operator.caBundle.secret }}true{{ end -}}
{{- end }}

{{- /* "true" when the operator reads Viola's CA from a file, else "". */ -}}
{{- define "operator.hasViolaCa" -}}
{{- if has .Values.viola.tls.mode (list "certManager" "secret") }}true{{ end -}}
{{- end }}

{{- /* "true" when the operator accepts sync requests, else "". */ -}}
{{- define "operator.takesTriggers" -}}
{{- if or (include "operator.setting" (list . "apiTokensFile")) (include "operator.setting" (list . "triggerTokensFile")) (include "operator.setting" (list . "triggerHmacKeyFile")) }}true{{ end -}}
{{- end }}

{{- /* "true" when plain HTTP for triggers leaves all further addresses on TLS, else "". */ -}}
{{- define "operator.inventoryMayBePlain" -}}
{{- $settings := .Values.operator.settings -}}
{{- if or $settings.inventoryPlainHttp $settings.inventoryTlsCert (regexMatch "^(127\\.|localhost|\\[::1\\])" ($settings.inventoryListen | default "127.0.0.1:18081")) }}true{{ end -}}
{{- end }}

{{- /* Operator settings from the chart; operator.settings wins. */ -}}
{{- define "multinic.decided.operator" -}}
listen: ":8082"
inventoryListen: 127.0.0.1:18081
triggerListen: ":18082"
inventoryDbPath: /var/lib/multinic-operator/inventory.db
secretNamespaces: [{{ .Values.operator.settings.watchNamespace | default .Values.namespaces.system | quote }}]
violaEndpoint: {{ include "viola.url" . }}
violaAccess: {{ eq .Values.viola.tokens.mode "managed" | ternary "managed" "given" }}
violaTls: {{ eq .Values.viola.tls.mode "managed" | ternary "managed" "given" }}
{{- if eq .Values.viola.tokens.mode "secret" }}
violaTokenFile: /etc/multinic/viola-token/token
{{- end }}
{{- if include "operator.hasViolaCa" . }}
violaCaFile: /etc/multinic/viola-ca/ca.crt
{{- end }}
{{- if include "operator.hasCaBundle" . }}
contrabassCaFile: /etc/multinic/ca/ca.crt
openstackCaFile: /etc/multinic/ca/ca.crt
{{- if .Values.operator.settings.dbTls }}
dbCaFile: /etc/multinic/ca/ca.crt
{{- end }}
{{- end }}
{{- with .Values.operator.trigger.endpoint }}
{{- if .tokensSecret }}
apiTokensFile: /etc/multinic/trigger-tokens
{{- end }}
{{- if .keysSecret }}
triggerHmacKeyFile: /etc/multinic/trigger-keys/keys
{{- end }}
{{- if .tlsSecret }}
apiTlsCert: /etc/multinic/trigger-tls/tls.crt
apiTlsKey: /etc/multinic/trigger-tls/tls.key
{{- else if and (or .tokensSecret .keysSecret) (include "operator.inventoryMayBePlain" $) }}
apiPlainHttp: true
{{- end }}
{{- end }}
{{- end }}

{{- /* Viola settings from the chart; viola.settings wins. */ -}}
{{- define "multinic.decided.viola" -}}
listen: ":8080"
registrationsNamespace: {{ .Values.namespaces.clusters | quote }}
tokenFile: /etc/multinic/tokens
{{- if include "viola.hasTls" . }}
tlsCert: /etc/multinic/tls/tls.crt
tlsKey: /etc/multinic/tls/tls.key
{{- else }}
plainHttp: true
{{- end }}
{{- end }}

{{- /* Lifecycle settings from the chart; lifecycle.settings wins. */ -}}
{{- define "multinic.decided.lifecycle" -}}
listen: ":8082"
webhookListen: ":9443"
serviceAccount: multinic-operator
{{- end }}

{{- /* Labels of MariaDB's Pod, created by lifecycle. */ -}}
{{- define "lifecycle.databaseLabels" -}}
app: mariadb
multinic.example.com/protected: "true"
{{- end }}

{{- /* Selects Pods for backups and restores, created by lifecycle. */ -}}
{{- define "lifecycle.backupSelector" -}}
matchLabels:
  app: mariadb-backup
matchExpressions:
  - {key: multinic.example.com/managed-by-operator, operator: Exists}
{{- end }}
