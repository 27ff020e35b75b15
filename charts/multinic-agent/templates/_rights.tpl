{{- /* What rbac.yaml and viola-access.yaml, which are generated, ask of this chart. */ -}}

{{- define "multinic-agent.rights.labels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: multinic-agent
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/part-of: multinic
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end }}
