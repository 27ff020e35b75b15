{{- /* Named templates for the generated rbac.yaml. Conditions are "true" or empty. */ -}}

{{- define "multinic-operator.rights.labels" -}}
{{- $root := index . 0 -}}
{{- $part := include (printf "%s.part" (index . 1)) $root | fromYaml -}}
{{- include "multinic.labels" (merge $part (dict "root" $root)) -}}
{{- end }}

{{- /* The only namespace with watched OpenstackConfigs; empty: all namespaces. */ -}}
{{- define "multinic-operator.rights.watchNamespace" -}}
{{- .Values.operator.settings.watchNamespace | default "" -}}
{{- end }}

{{- /* Namespaces with readable Secrets of OpenstackConfigs, as JSON. */ -}}
{{- define "multinic-operator.rights.secretNamespaces" -}}
{{- include "operator.setting" (list . "secretNamespaces") | splitList "," | toJson -}}
{{- end }}

{{- define "multinic-operator.rights.registrationsNamespace" -}}
{{- include "viola.setting" (list . "registrationsNamespace") -}}
{{- end }}

{{- /* True if the operator manages the token for Viola. */ -}}
{{- define "multinic-operator.rights.managedTokens" -}}
{{- if eq (include "operator.setting" (list . "violaAccess")) "managed" }}true{{ end -}}
{{- end }}

{{- /* True if the operator manages Viola's certificate and the CA. */ -}}
{{- define "multinic-operator.rights.managedCertificates" -}}
{{- if eq (include "operator.setting" (list . "violaTls")) "managed" }}true{{ end -}}
{{- end }}

{{- /* True if the operator writes the message queue of each OpenstackConfig into a Secret in the same namespace. */ -}}
{{- define "multinic-operator.rights.rabbitmqSecrets" -}}
{{- if eq (include "operator.setting" (list . "rabbitmqSecrets")) "true" }}true{{ end -}}
{{- end }}

{{- /* ServiceAccount of the operator. */ -}}
{{- define "multinic-operator.rights.operatorAccount" -}}
{{- (include "operator.part" . | fromYaml).account -}}
{{- end }}
