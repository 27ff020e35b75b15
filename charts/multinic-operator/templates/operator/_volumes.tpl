{{- define "operator.mounts" -}}
{{- if include "operator.usesSqlite" . }}
- name: inventory
  mountPath: {{ dir (.Values.operator.settings.inventoryDbPath | default "/var/lib/multinic-operator/inventory.db") }}
{{- end }}
{{- if include "operator.hasViolaCa" . }}
- {name: viola-ca, mountPath: /etc/multinic/viola-ca, readOnly: true}
{{- end }}
{{- if eq .Values.viola.tokens.mode "secret" }}
- {name: viola-token, mountPath: /etc/multinic/viola-token, readOnly: true}
{{- end }}
{{- if include "operator.hasCaBundle" . }}
- {name: ca, mountPath: /etc/multinic/ca, readOnly: true}
{{- end }}
{{- with .Values.operator.trigger.endpoint }}
{{- if .tokensSecret }}
- {name: trigger-tokens, mountPath: /etc/multinic/trigger-tokens, readOnly: true}
{{- end }}
{{- if .keysSecret }}
- {name: trigger-keys, mountPath: /etc/multinic/trigger-keys, readOnly: true}
{{- end }}
{{- if .tlsSecret }}
- {name: trigger-tls, mountPath: /etc/multinic/trigger-tls, readOnly: true}
{{- end }}
{{- end }}
{{- with .Values.operator.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "operator.volumes" -}}
{{- $persistence := .Values.operator.persistence }}
{{- if include "operator.usesSqlite" . }}
- name: inventory
  {{- if $persistence.enabled }}
  persistentVolumeClaim:
    claimName: {{ $persistence.existingClaim | default "multinic-operator-inventory" | quote }}
  {{- else }}
  emptyDir:
    sizeLimit: 1Gi
  {{- end }}
{{- end }}
{{- if include "operator.hasViolaCa" . }}
- {{ include "viola.caVolume" . | nindent 2 | trim }}
{{- end }}
{{- if eq .Values.viola.tokens.mode "secret" }}
- {{ include "viola.tokenVolume" . | nindent 2 | trim }}
{{- end }}
{{- if include "operator.hasCaBundle" . }}
- name: ca
  {{- with .Values.operator.caBundle }}
  {{- if .configMap }}
  configMap:
    name: {{ .configMap | quote }}
  {{- else }}
  secret:
    secretName: {{ .secret | quote }}
  {{- end }}
    items:
      - {key: {{ .key | quote }}, path: ca.crt}
  {{- end }}
{{- end }}
{{- with .Values.operator.trigger.endpoint }}
{{- with .tokensSecret }}
- name: trigger-tokens
  secret:
    secretName: {{ . | quote }}
{{- end }}
{{- if .keysSecret }}
- name: trigger-keys
  secret:
    secretName: {{ .keysSecret | quote }}
    items:
      - {key: {{ .keysKey | quote }}, path: keys}
{{- end }}
{{- with .tlsSecret }}
- name: trigger-tls
  secret:
    secretName: {{ . | quote }}
    items:
      - {key: tls.crt, path: tls.crt}
      - {key: tls.key, path: tls.key}
{{- end }}
{{- end }}
{{- with .Values.operator.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
