{{- /* Deployment of the operator, installed by the chart, or by lifecycle from a ConfigMap. */ -}}
{{- define "operator.deployment" -}}
{{- $lifecycle := .Values.lifecycle.enabled }}
{{- /* With lifecycle a MultiNicOperator sets the replicas: objects for several replicas always exist. */ -}}
{{- $values := $lifecycle | ternary (set (deepCopy .Values.operator) "replicas" 2) .Values.operator }}
{{- $part := merge (fromYaml (include "operator.part" .)) (dict "root" . "values" $values) }}
{{- $sqlite := include "operator.usesSqlite" . }}
{{- $persistence := .Values.operator.persistence }}
{{- $inventoryPort := include "multinic.port" (include "operator.setting" (list . "inventoryListen")) }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $part.deployment }}
  namespace: {{ .Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" $part | nindent 4 }}
spec:
  {{- if not $lifecycle }}
  replicas: {{ .Values.operator.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  strategy:
    {{- if $sqlite }}
    # SQLite allows a single writer, and the volume is bound to a node.
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
    {{- end }}
  selector:
    matchLabels:
      {{- include "multinic.selector" $part | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "multinic.labels" $part | nindent 8 }}
        {{- if $lifecycle }}
        app: {{ $part.deployment }}
        {{- end }}
        {{- with .Values.operator.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .Values.operator.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ $part.account }}
      automountServiceAccountToken: true
      {{- include "multinic.pod" $part | trim | nindent 6 }}
      containers:
        - name: operator
          image: {{ include "multinic.image" (dict "root" . "image" .Values.operator.image) }}
          imagePullPolicy: {{ .Values.operator.image.pullPolicy }}
          command:
            {{- include "multinic.command.operator" .Values.operator.heap | nindent 12 }}
          args: [operator]
          ports:
            - {name: health, containerPort: {{ include "multinic.port" (include "operator.setting" (list . "listen")) }}}
            - {name: inventory, containerPort: {{ $inventoryPort }}}
            {{- if include "operator.takesTriggers" . }}
            - {name: trigger, containerPort: {{ include "multinic.port" (include "operator.setting" (list . "triggerListen")) }}}
            {{- end }}
          env:
            {{- include "multinic.env" $part | trim | nindent 12 }}
          {{- include "multinic.probes" (dict "port" "health") | nindent 10 }}
          resources:
            {{- toYaml .Values.operator.resources | nindent 12 }}
          securityContext:
            {{- include "multinic.containerSecurity" . | nindent 12 }}
          {{- with include "operator.mounts" . | trim }}
          volumeMounts:
            {{- . | nindent 12 }}
          {{- end }}
      {{- with include "operator.volumes" . | trim }}
      volumes:
        {{- . | nindent 8 }}
      {{- end }}
{{- end }}
