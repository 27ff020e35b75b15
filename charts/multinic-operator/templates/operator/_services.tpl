{{- /* Services of the operator, installed by the chart, or by lifecycle from a ConfigMap. */ -}}
{{- define "operator.service.inventory" -}}
{{- $part := merge (fromYaml (include "operator.part" .)) (dict "root" .) }}
# For kubectl port-forward to the inventory; Pods reach the inventory only if the address is not loopback.
apiVersion: v1
kind: Service
metadata:
  name: multinic-operator-inventory-service
  namespace: {{ .Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" $part | nindent 4 }}
spec:
  selector:
    {{- include "multinic.selector" $part | nindent 4 }}
  ports:
    - {name: http, port: 18081, targetPort: inventory}
{{- end }}

{{- define "operator.service.metrics" -}}
{{- $part := merge (fromYaml (include "operator.part" .)) (dict "root" .) }}
apiVersion: v1
kind: Service
metadata:
  name: multinic-operator-metrics
  namespace: {{ .Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" $part | nindent 4 }}
    multinic.io/metrics: "true"
spec:
  # Unready Pods serve metrics too, and /readyz names the cause.
  publishNotReadyAddresses: true
  selector:
    {{- include "multinic.selector" $part | nindent 4 }}
  ports:
    - {name: health, port: 8082, targetPort: health}
{{- end }}

{{- define "operator.service.trigger" -}}
{{- $part := merge (fromYaml (include "operator.part" .)) (dict "root" .) }}
apiVersion: v1
kind: Service
metadata:
  name: multinic-operator-trigger
  namespace: {{ .Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" $part | nindent 4 }}
spec:
  selector:
    {{- include "multinic.selector" $part | nindent 4 }}
  ports:
    - {name: trigger, port: 18082, targetPort: trigger}
{{- end }}
