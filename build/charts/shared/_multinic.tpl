{{- /*
Named templates for both charts. A "part" is a dict: root (the chart's context), name and component (labels),
part (operator, viola or controller), values (of that part).
*/ -}}

{{- /* Selector labels of a part's Pods; the selector of a Deployment is immutable. */ -}}
{{- define "multinic.selector" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "multinic.labels" -}}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .name }}
app.kubernetes.io/name: {{ . }}
{{- end }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: multinic
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* registry/repository:tag@digest of .image */ -}}
{{- define "multinic.image" -}}
{{- $registry := .root.Values.global.imageRegistry | default .image.registry -}}
{{- printf "%s/%s:%s" (trimSuffix "/" $registry) .image.repository (.image.tag | default .root.Chart.AppVersion) -}}
{{- with .image.digest | default (include "multinic.pinnedDigest" .) }}@{{ . }}{{ end -}}
{{- end }}

{{- /* Architecture for digests in Pods; empty if the release has several, or no digests. */ -}}
{{- define "multinic.pinnedArchitecture" -}}
{{- $known := list -}}
{{- range .Values.global.imageDigests }}{{ $known = append $known (regexFind "^[^/]+" .) }}{{ end -}}
{{- .Values.global.imageArchitecture | default (eq (len (uniq $known)) 1 | ternary (first $known) "") -}}
{{- end }}

{{- /*
Digest for .image from the release; empty without global.pinDigests. helm --reuse-values or a copied values.yaml may pass digests for an
earlier version, and a digest wins over the tag: only digests for this version count.
*/ -}}
{{- define "multinic.pinnedDigest" -}}
{{- if .root.Values.global.pinDigests -}}
{{- $name := printf "%s/%s:%s@" (include "multinic.pinnedArchitecture" .root) (base .image.repository) .root.Chart.AppVersion -}}
{{- range .root.Values.global.imageDigests }}{{ if hasPrefix $name . }}{{ trimPrefix $name . }}{{ end }}{{ end -}}
{{- end -}}
{{- end }}

{{- /* A value as environment variable: lists separated by commas, numbers without exponent. */ -}}
{{- define "multinic.text" -}}
{{- if kindIs "slice" . }}{{ join "," . }}{{ else if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end }}

{{- /* Effective value of the setting .key of a part: the configured value, else the chart's value. */ -}}
{{- define "multinic.setting" -}}
{{- $set := .values.settings -}}
{{- if or (not (hasKey $set .key)) (kindIs "invalid" (get $set .key)) }}{{ $set = fromYaml (include (printf "multinic.decided.%s" .part) .root) }}{{ end -}}
{{- with get $set .key }}{{ include "multinic.text" . }}{{ end -}}
{{- end }}

{{- /* Port in an address such as :8080 or [::1]:8080. */ -}}
{{- define "multinic.port" -}}
{{- splitList ":" . | last -}}
{{- end }}

{{- /* Port in a URL, or the scheme's port; 0 stands for any port, written :*. */ -}}
{{- define "multinic.portOfUrl" -}}
{{- if hasSuffix ":*" (trimSuffix "/" .) }}0{{ else -}}
{{- $url := urlParse . -}}
{{- regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (eq $url.scheme "https" | ternary "443" "80") -}}
{{- end -}}
{{- end }}

{{- /* Environment of a part: configured values, the chart's values, and values from Secrets. */ -}}
{{- define "multinic.env" -}}
{{- $names := fromYaml (include (printf "multinic.settings.%s" .part) .root) -}}
{{- $decided := fromYaml (include (printf "multinic.decided.%s" .part) .root) -}}
{{- $entries := dict -}}
{{- range $name, $path := dict "POD_NAME" "metadata.name" "POD_NAMESPACE" "metadata.namespace" "POD_UID" "metadata.uid" -}}
  {{- $_ := set $entries $name (dict "valueFrom" (dict "fieldRef" (dict "fieldPath" $path))) -}}
{{- end -}}
{{- range $key, $value := $decided -}}
  {{- if not (hasKey $names $key) }}{{ fail (printf "%s has no setting %s" $.part $key) }}{{ end -}}
  {{- $_ := set $entries (get $names $key) (dict "value" (include "multinic.text" $value)) -}}
{{- end -}}
{{- /* null: not configured. */ -}}
{{- range $key, $value := .values.settings -}}
  {{- /* A removed setting has no variable. */ -}}
  {{- if and (hasKey $names $key) (not (kindIs "invalid" $value)) }}{{ $_ := set $entries (get $names $key) (dict "value" (include "multinic.text" $value)) }}{{ end -}}
{{- end -}}
{{- range $key, $place := .values.secretSettings -}}
  {{- if $place }}{{ $_ := set $entries (get $names $key) (dict "valueFrom" (dict "secretKeyRef" $place)) }}{{ end -}}
{{- end -}}
{{- range $name, $entry := $entries }}
- name: {{ $name }}
  {{- toYaml $entry | nindent 2 }}
{{- end -}}
{{- end }}

{{- /* Configured deprecated values of a part, in a line each: .root, .part */ -}}
{{- define "multinic.deprecations" -}}
{{- $deprecated := fromYaml (include (printf "multinic.deprecated.%s" .part) .root) -}}
{{- range $key, $value := (get .root.Values .part).settings -}}
{{- if and (hasKey $deprecated $key) (not (kindIs "invalid" $value)) }}
WARNING: {{ $.part }}.settings.{{ $key }}: {{ get $deprecated $key }}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* Pod fields shared by all parts. */ -}}
{{- define "multinic.pod" -}}
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
# A Service named like a setting would set it.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds }}
{{- with .values.priorityClassName | default (.root.Values.priorityClass.create | ternary .root.Chart.Name "") }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if gt (int .values.replicas) 1 }}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "multinic.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "multinic.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* .port by name, .scheme */ -}}
{{- define "multinic.probes" -}}
{{- $scheme := .scheme | default "HTTP" -}}
startupProbe:
  httpGet: {path: /healthz, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: {path: /readyz, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{- /* With a single replica a budget would block every drain. */ -}}
{{- define "multinic.disruptionBudget" -}}
{{- if gt (int .values.replicas) 1 }}
apiVersion: {{ semverCompare ">=1.21-0" .root.Capabilities.KubeVersion.Version | ternary "policy/v1" "policy/v1beta1" }}
kind: PodDisruptionBudget
metadata:
  name: {{ .deployment }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  {{- if semverCompare ">=1.27-0" .root.Capabilities.KubeVersion.Version }}
  # Unready Pods serve no client, so evictions are allowed.
  unhealthyPodEvictionPolicy: AlwaysAllow
  {{- end }}
  selector:
    matchLabels:
      {{- include "multinic.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{- define "multinic.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .account }}
  namespace: {{ .namespace | default .root.Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" . | nindent 4 }}
# Pods that need the token mount the token explicitly.
automountServiceAccountToken: false
{{- end }}

{{- define "multinic.priorityClass" -}}
{{- if .Values.priorityClass.create }}
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: {{ .Chart.Name }}
  labels:
    {{- include "multinic.labels" (dict "root" .) | nindent 4 }}
value: {{ int64 .Values.priorityClass.value }}
description: Pods of MultiNIC; other Pods give way to them.
{{- end }}
{{- end }}

{{- define "multinic.serviceMonitor" -}}
{{- if .root.Values.serviceMonitor.enabled }}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ .service }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" . | nindent 4 }}
    {{- with .root.Values.serviceMonitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- include "multinic.selector" . | nindent 6 }}
      multinic.io/metrics: "true"
  endpoints:
    - port: {{ .port }}
      interval: {{ .root.Values.serviceMonitor.interval | quote }}
      {{- with .tls }}
      scheme: https
      tlsConfig:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
{{- end }}

{{- define "multinic.alerts" -}}
{{- if .Values.alerts.enabled }}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {{ .Chart.Name }}
  namespace: {{ .Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" (dict "root" .) | nindent 4 }}
    {{- with .Values.alerts.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- .Files.Get "files/alerts.yaml" | replace "https://runbooks.multinic.invalid" (.Values.alerts.runbookBaseUrl | default "" | trimSuffix "/") | nindent 2 }}
{{- end }}
{{- end }}

{{- define "multinic.dashboards" -}}
{{- if .Values.dashboards.enabled }}
{{- range $path, $content := .Files.Glob "files/dashboards/*.json" }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ trimSuffix ".json" (base $path) }}-dashboard
  namespace: {{ $.Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" (dict "root" $) | nindent 4 }}
    {{- toYaml $.Values.dashboards.labels | nindent 4 }}
data:
  {{ base $path }}: |
    {{- $content | toString | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}

{{- /* NetworkPolicy without rules. */ -}}
{{- define "multinic.policyHead" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .policy }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "multinic.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
{{- end }}

{{- /* Rule that allows .from or .to (.side) at .ports; port 0 allows every port, no peers allow every peer. */ -}}
{{- define "multinic.rule" -}}
{{- $protocols := .protocols | default (list "TCP") -}}
{{- $ports := list -}}
{{- range .ports }}{{ $ports = append $ports (int .) }}{{ end -}}
{{- if has 0 $ports -}}
- {{ dict .side .peers | toJson }}
{{- else -}}
- ports:
    {{- range $port := $ports }}
    {{- range $protocols }}
    - {port: {{ $port }}, protocol: {{ . }}}
    {{- end }}
    {{- end }}
  {{- with .peers }}
  {{ $.side }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* Peer for Pods in this release with this name and component. */ -}}
{{- define "multinic.podPeer" -}}
- podSelector:
    matchLabels:
      {{- include "multinic.selector" . | nindent 6 }}
{{- end }}

{{- /* Pod of `helm test`: requests .checks, a list of {name, url, tokenFile?}. */ -}}
{{- define "multinic.test" -}}
apiVersion: v1
kind: Pod
metadata:
  name: {{ .root.Chart.Name }}-test
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "multinic.labels" . | nindent 4 }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  restartPolicy: Never
  serviceAccountName: {{ .account }}
  automountServiceAccountToken: false
  {{- include "multinic.pod" . | trim | nindent 2 }}
  containers:
    - name: test
      image: {{ include "multinic.image" (dict "root" .root "image" .values.image) }}
      imagePullPolicy: {{ .values.image.pullPolicy }}
      command:
        - /usr/local/bin/node
        - --input-type=module
        - --eval
        - |
          {{- .root.Files.Get "files/helm-test.mjs" | nindent 10 }}
      env:
        - name: CHECKS
          value: {{ toJson .checks | quote }}
        {{- if .volumes }}
        - name: NODE_EXTRA_CA_CERTS
          value: /etc/multinic/viola-ca/ca.crt
        {{- end }}
      # Small requests and limits: a ResourceQuota may require values for every resource with a limit.
      resources:
        {{- $little := dict "requests" (dict "cpu" "10m" "memory" "64Mi") "limits" (dict "memory" "128Mi") }}
        {{- mergeOverwrite (deepCopy .values.resources) $little | toYaml | nindent 8 }}
      securityContext:
        {{- include "multinic.containerSecurity" . | nindent 8 }}
      {{- with .mounts }}
      volumeMounts:
        {{- toYaml . | nindent 8 }}
      {{- end }}
  {{- with .volumes }}
  volumes:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "multinic.alertProblems" -}}
{{- if and .Values.alerts.enabled (not .Values.alerts.runbookBaseUrl) }}
alerts.enabled is true, and every alert names its runbook: set alerts.runbookBaseUrl to where docs/runbooks of this version can be read
{{- end }}
{{- end }}

{{- /* Problems in values shared by both charts, in a line each. */ -}}
{{- define "multinic.globalProblems" -}}
{{- include "multinic.registryProblem" (dict "path" "global.imageRegistry" "registry" .Values.global.imageRegistry) }}
{{- include "multinic.pinProblem" . }}
{{- include "multinic.alertProblems" . }}
{{- end }}

{{- /* Problems in a part's values, in a line each. */ -}}
{{- define "multinic.problems" -}}
{{- $listen := include "multinic.setting" (merge (dict "key" "listen") .) -}}
{{- if regexMatch "^(127\\.|localhost|\\[::1\\])" $listen }}
{{ .part }}.settings.listen is {{ $listen }}, where no probe of the kubelet arrives: say :{{ include "multinic.port" $listen }}
{{- end }}
{{- $port := include "multinic.port" $listen | int }}
{{- if or (lt $port 1) (gt $port 65535) }}
{{ .part }}.settings.listen is {{ $listen }}: say a port from 1 to 65535
{{- end }}
{{- $own := list }}
{{- range $key, $_ := .values.podLabels }}
{{- if regexMatch "^(app\\.kubernetes\\.io|helm\\.sh)/" $key }}{{ $own = append $own $key }}{{ end }}
{{- end }}
{{- with $own }}
{{ $.part }}.podLabels has {{ join ", " . }}, which the chart sets: take another label
{{- end }}
{{- $advice := printf "raise it, or lower %s.heap.old" .part -}}
{{- include "multinic.memoryProblem" (merge (dict "path" .part "resources" .values.resources "advice" $advice) .values.heap) }}
{{- include "multinic.imageProblem" (dict "root" .root "path" (printf "%s.image" .part) "image" .values.image) }}
{{- $bounds := fromYaml (include (printf "multinic.durations.%s" .part) .root) }}
{{- range $key, $bound := $bounds }}
{{- with get $.values.settings $key }}
{{- $ms := include "multinic.milliseconds" . | float64 }}
{{- if lt $ms (float64 $bound.least.ms) }}
{{ $.part }}.settings.{{ $key }} is {{ . }}: set at least {{ $bound.least.text }}
{{- else if gt $ms (float64 $bound.most.ms) }}
{{ $.part }}.settings.{{ $key }} is {{ . }}: set at most {{ $bound.most.text }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Milliseconds in a duration such as 1h30m or 0. */ -}}
{{- define "multinic.milliseconds" -}}
{{- $units := dict "ns" 0.000001 "us" 0.001 "µs" 0.001 "ms" 1.0 "s" 1000.0 "m" 60000.0 "h" 3600000.0 -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9.]+[a-zµ]+" . -1 -}}
{{- $unit := regexFind "[a-zµ]+$" . -}}
{{- $sum = addf $sum (mulf (trimSuffix $unit . | float64) (get $units $unit)) -}}
{{- end -}}
{{- $sum -}}
{{- end }}

{{- /* Problem: memory limit below the heap's needs: .path, .resources, .old and .young (MB), .advice */ -}}
{{- define "multinic.memoryProblem" -}}
{{- $memory := dig "limits" "memory" "" (.resources | default dict) | toString -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 -}}
{{- $unit := regexFind "[A-Za-z]*$" $memory -}}
{{- if and $memory (hasKey $units $unit) -}}
{{- $limit := div (mulf (trimSuffix $unit $memory | float64) (get $units $unit) | int64) 1048576 -}}
{{- /* V8's young generation takes three times the semi-space. */ -}}
{{- $needed := add 64 (div (mul 5 .old) 4) (mul 3 .young) -}}
{{- if lt $limit $needed }}
{{ .path }}.resources.limits.memory is {{ $memory }}, and a heap of {{ .old }} MB needs {{ $needed }}Mi: {{ .advice }}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* Problems in an image reference: invalid for container runtimes, or two images at once: .root, .path, .image */ -}}
{{- define "multinic.imageProblem" -}}
{{- include "multinic.registryProblem" (dict "path" (printf "%s.registry" .path) "registry" .image.registry) }}
{{- if contains "@" (.image.tag | default "") }}
{{ .path }}.tag is {{ .image.tag }}: set {{ .path }}.tag to the tag alone, and {{ .path }}.digest to what follows the @
{{- end }}
{{- if and .root.Values.global.pinDigests (include "multinic.pinnedArchitecture" .root) (not .image.digest) }}
{{- if .image.tag }}
{{ .path }}.tag is {{ .image.tag }}, and global.pinDigests names images of this release: set {{ .path }}.digest, too, or leave the tag out
{{- else if not (include "multinic.pinnedDigest" .) }}
{{ .path }}.repository is {{ .image.repository }}, and global.imageDigests has no digest of {{ base .image.repository }}:{{ .root.Chart.AppVersion }} for {{ include "multinic.pinnedArchitecture" .root }}: set {{ .path }}.digest, or leave global.imageDigests of another version out of your values (helm --reuse-values keeps it)
{{- end }}
{{- end }}
{{- end }}

{{- define "multinic.pinProblem" -}}
{{- if and .Values.global.pinDigests (not (include "multinic.pinnedArchitecture" .)) }}
{{- if .Values.global.imageDigests }}
global.pinDigests is true, and the release has images for several architectures: set global.imageArchitecture to that of the nodes
{{- else }}
global.pinDigests is true, and this chart has no global.imageDigests: use the chart of a release
{{- end }}
{{- end }}
{{- end }}

{{- define "multinic.registryProblem" -}}
{{- with regexFind "^[A-Za-z]+://" .registry }}
{{ $.path }} is {{ $.registry }}: leave {{ . }} out, such as {{ trimPrefix . $.registry }}
{{- end }}
{{- end }}

{{- /* Fails the rendering if problems exist. */ -}}
{{- define "multinic.refuse" -}}
{{- with trim . }}{{ fail (printf "these values cannot be used:\n%s" .) }}{{ end -}}
{{- end }}
