{{- /* Problems, in a line each: value, cause and remedy. */ -}}
{{- define "controller.problems" -}}
{{- if eq .Values.agent.namespace .Release.Namespace }}
agent.namespace is {{ .Release.Namespace }}, the namespace of the release, whose Pods are to be restricted and those of agents are not: say another one, such as multinic-agents
{{- end }}
{{- include "multinic.globalProblems" . }}
{{- include "multinic.imageProblem" (dict "root" . "path" "agent.image" "image" .Values.agent.image) }}
{{- include "multinic.memoryProblem" (merge (dict "path" "agent" "resources" .Values.agent.resources "advice" "raise it") (fromYaml (include "multinic.heap.agent" .))) }}
{{- include "multinic.problems" (merge (fromYaml (include "controller.part" .)) (dict "root" . "values" .Values.controller)) }}
{{- end }}
