{{- /* What rbac.yaml, which is generated, asks of this chart. Words that mean yes or no are "true" or empty. */ -}}

{{- define "multinic-operator.rights.labels" -}}
{{- $root := index . 0 -}}
{{- $part := include (printf "%s.part" (index . 1)) $root | fromYaml -}}
{{- include "multinic.labels" (merge $part (dict "root" $root)) -}}
{{- end }}

{{- /* The only namespace in which OpenstackConfigs are watched; empty: all are. */ -}}
{{- define "multinic-operator.rights.watchNamespace" -}}
{{- .Values.operator.settings.watchNamespace | default "" -}}
{{- end }}

{{- /* Namespaces in which Secrets of OpenstackConfigs may be read, as JSON. */ -}}
{{- define "multinic-operator.rights.secretNamespaces" -}}
{{- include "operator.setting" (list . "secretNamespaces") | splitList "," | toJson -}}
{{- end }}

{{- define "multinic-operator.rights.registrationsNamespace" -}}
{{- include "viola.setting" (list . "registrationsNamespace") -}}
{{- end }}

{{- /* Whether the operator keeps the token by which it calls Viola. */ -}}
{{- define "multinic-operator.rights.managedTokens" -}}
{{- if eq (include "operator.setting" (list . "violaAccess")) "managed" }}true{{ end -}}
{{- end }}

{{- /* Whether the operator keeps the certificate of Viola, and the CA that signs it. */ -}}
{{- define "multinic-operator.rights.managedCertificates" -}}
{{- if eq (include "operator.setting" (list . "violaTls")) "managed" }}true{{ end -}}
{{- end }}

{{- /* Whether the operator writes the message queue of each OpenstackConfig into a Secret beside it. */ -}}
{{- define "multinic-operator.rights.rabbitmqSecrets" -}}
{{- if eq (include "operator.setting" (list . "rabbitmqSecrets")) "true" }}true{{ end -}}
{{- end }}

{{- /* ServiceAccount of the operator. */ -}}
{{- define "multinic-operator.rights.operatorAccount" -}}
{{- (include "operator.part" . | fromYaml).account -}}
{{- end }}
