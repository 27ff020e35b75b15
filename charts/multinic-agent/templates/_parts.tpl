{{- define "controller.part" -}}
{part: controller, name: multinic-agent, component: controller, account: multinic-agent, deployment: multinic-agent-controller}
{{- end }}

{{- /* Effective value of a controller setting; arguments: context and key. */ -}}
{{- define "controller.setting" -}}
{{- $root := index . 0 -}}
{{- include "multinic.setting" (dict "root" $root "part" "controller" "values" $root.Values.controller "key" (index . 1)) -}}
{{- end }}

{{- /* Controller settings from the chart; controller.settings wins. */ -}}
{{- define "multinic.decided.controller" -}}
{{- $agent := .Values.agent -}}
listen: ":8080"
agentNamespace: {{ $agent.namespace | quote }}
agentServiceAccount: multinic-agent
agentImage: {{ include "multinic.image" (dict "root" . "image" $agent.image) }}
{{- $mode := toString .Values.controller.bizConfig.mode }}
bizConfig: {{ eq $mode "false" | ternary "off" $mode | quote }}
bizConfigGroups:
  {{- range .Values.controller.bizConfig.groups }}
  - {{ . | quote }}
  {{- end }}
{{- range $key := list "serviceCIDRs" "podNetworks" }}
{{- with index $.Values.controller $key }}
{{ $key }}:
  {{- range . }}
  - {{ . | quote }}
  {{- end }}
{{- end }}
{{- end }}
agentResources: {{ toJson $agent.resources | quote }}
agentImagePullPolicy: {{ $agent.image.pullPolicy }}
{{- with $agent.imagePullSecrets | default .Values.global.imagePullSecrets }}
agentImagePullSecrets:
  {{- range . }}
  - {{ .name | quote }}
  {{- end }}
{{- end }}
{{- with $agent.priorityClassName | default (.Values.priorityClass.create | ternary .Chart.Name "") }}
agentPriorityClass: {{ . | quote }}
{{- end }}
{{- end }}
