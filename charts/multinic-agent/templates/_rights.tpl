{{- /* What rbac.yaml and viola-access.yaml, which are generated, ask of this chart. */ -}}
{{- define "multinic-agent.rights.labels" -}}
{{- include "multinic.labels" (dict "root" (index . 0) "name" "multinic-agent" "component" (index . 1)) -}}
{{- end }}
