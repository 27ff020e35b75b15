{{- /* Named templates for the generated rbac.yaml and viola-access.yaml. */ -}}
{{- define "multinic-agent.rights.labels" -}}
{{- include "multinic.labels" (dict "root" (index . 0) "name" "multinic-agent" "component" (index . 1)) -}}
{{- end }}

{{- define "multinic-agent.rights.bizConfig" -}}
{{- include "controller.setting" (list . "bizConfig") -}}
{{- end }}

{{- define "multinic-agent.rights.bizConfigGroups" -}}
{{- include "controller.setting" (list . "bizConfigGroups") | splitList "," | toJson -}}
{{- end }}
