{{- /* What rbac.yaml, which is generated, asks of this chart. Words that mean yes or no are "true" or empty. */ -}}

{{- define "multinic-operator.rights.labels" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
app.kubernetes.io/name: {{ ternary "viola-api" "multinic-operator" (eq $component "viola") }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ $component }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/part-of: multinic
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* The only namespace in which OpenstackConfigs are watched; empty: all are. */ -}}
{{- define "multinic-operator.rights.watchNamespace" -}}
{{- default (dig "settings" "watchNamespace" "" .Values.operator) (dig "watchNamespace" "" .Values.operator) -}}
{{- end }}

{{- /* Namespaces in which Secrets of OpenstackConfigs may be read, as JSON. */ -}}
{{- define "multinic-operator.rights.secretNamespaces" -}}
{{- $watched := include "multinic-operator.rights.watchNamespace" . -}}
{{- $usual := list (default "multinic-system" $watched) -}}
{{- $set := default (dig "secretNamespaces" list .Values.operator) (dig "settings" "secretNamespaces" list .Values.operator) -}}
{{- default $usual $set | toJson -}}
{{- end }}

{{- define "multinic-operator.rights.registrationsNamespace" -}}
{{- default "multinic-clusters" (dig "settings" "registrationsNamespace" "" .Values.viola) -}}
{{- end }}

{{- /* Whether the operator keeps the token by which it calls Viola. */ -}}
{{- define "multinic-operator.rights.managedTokens" -}}
{{- if eq (default "managed" (dig "settings" "violaAccess" "" .Values.operator)) "managed" }}true{{ end -}}
{{- end }}

{{- /* Whether the operator keeps the certificate of Viola, and the CA that signs it. */ -}}
{{- define "multinic-operator.rights.managedCertificates" -}}
{{- if eq (default "managed" (dig "settings" "violaTls" "" .Values.operator)) "managed" }}true{{ end -}}
{{- end }}
