{{- define "controller.part" -}}
{part: controller, name: multinic-agent, component: controller, account: multinic-agent, deployment: multinic-agent-controller}
{{- end }}

{{- /* What holds for a setting of the controller; takes the context and the key. */ -}}
{{- define "controller.setting" -}}
{{- $root := index . 0 -}}
{{- include "multinic.setting" (dict "root" $root "part" "controller" "values" $root.Values.controller "key" (index . 1)) -}}
{{- end }}

{{- /* What the chart decides of the controller's settings; controller.settings wins. */ -}}
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
