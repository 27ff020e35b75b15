{{- /* Problems, in a line each: value, cause and remedy. */ -}}
{{- define "operator.problems" -}}
{{- $operator := .Values.operator -}}
{{- $viola := .Values.viola -}}
{{- if and (gt (int $operator.replicas) 1) (include "operator.usesSqlite" .) }}
operator.replicas is {{ $operator.replicas }}, and the inventory is a file of one Pod: set operator.settings.dbHost (MariaDB), or operator.replicas=1
{{- end }}
{{- if and $operator.settings.dbHost (not $operator.secretSettings.dbPassword) }}
operator.settings.dbHost is {{ $operator.settings.dbHost }}, and nothing says the password: set operator.secretSettings.dbPassword to {name: SECRET, key: KEY}
{{- end }}
{{- if and $operator.caBundle.configMap $operator.caBundle.secret }}
operator.caBundle has both configMap and secret: keep one
{{- end }}
{{- if and $viola.tls.ca.configMap $viola.tls.ca.secret }}
viola.tls.ca has both configMap and secret: keep one
{{- end }}
{{- if and (eq $viola.tls.mode "secret") (not $viola.tls.secretName) }}
viola.tls.mode is secret: set viola.tls.secretName to a Secret of type kubernetes.io/tls
{{- end }}
{{- if and (eq $viola.tls.mode "certManager") (not $viola.tls.certManager.issuerRef.name) }}
viola.tls.mode is certManager: set viola.tls.certManager.issuerRef.name to an issuer of cert-manager
{{- end }}
{{- if eq $viola.tokens.mode "secret" }}
{{- if not $viola.tokens.secretName }}
viola.tokens.mode is secret: set viola.tokens.secretName to a Secret with lists of who may call (docs/guides/access.md)
{{- end }}
{{- if not $viola.tokens.operatorToken.secretName }}
viola.tokens.mode is secret: set viola.tokens.operatorToken.secretName to a Secret with the operator's token
{{- end }}
{{- end }}
{{- with $viola.settings.legacyListener }}
{{- if not $viola.settings.legacyAllowFrom }}
viola.settings.legacyListener asks for no token: set viola.settings.legacyAllowFrom to the addresses of its callers, such as 10.0.0.0/24
{{- end }}
{{- if eq (include "multinic.port" .) (include "multinic.port" ($viola.settings.listen | default ":8080")) }}
viola.settings.legacyListener is {{ . }}, the port of viola.settings.listen: say another one, such as :8081
{{- end }}
{{- end }}
{{- $inventory := include "operator.setting" (list . "inventoryListen") }}
{{- $listen := include "operator.setting" (list . "listen") }}
{{- if eq (include "multinic.port" $inventory) (include "multinic.port" $listen) }}
operator.settings.inventoryListen is {{ $inventory }}, the port of operator.settings.listen: say another one, such as 127.0.0.1:18081
{{- end }}
{{- include "operator.inventoryProblems" . }}
{{- if .Values.lifecycle.enabled }}
{{- include "lifecycle.problems" . }}
{{- include "multinic.problems" (merge (fromYaml (include "lifecycle.part" .)) (dict "root" . "values" .Values.lifecycle)) }}
{{- end }}
{{- include "operator.triggerProblems" . }}
{{- include "operator.secretProblems" . }}
{{- include "multinic.globalProblems" . }}
{{- include "multinic.problems" (merge (fromYaml (include "operator.part" .)) (dict "root" . "values" $operator)) }}
{{- include "multinic.problems" (merge (fromYaml (include "viola.part" .)) (dict "root" . "values" $viola)) }}
{{- end }}

{{- define "operator.inventoryProblems" -}}
{{- $path := include "operator.setting" (list . "inventoryDbPath") -}}
{{- if and (include "operator.usesSqlite" .) (not (regexMatch "^/+[^/]+/+[^/]" $path)) }}
operator.settings.inventoryDbPath is {{ $path }}, and its volume would take the place of {{ dir $path }}: say a file in a folder of its own, such as /var/lib/multinic-operator/inventory.db
{{- end }}
{{- end }}

{{- define "operator.triggerProblems" -}}
{{- $trigger := .Values.operator.trigger -}}
{{- range list "interval" "schedule" "timezone" "immediateOnCRChange" }}
{{- if and (hasKey $trigger .) (not $trigger.mode) }}
operator.trigger.{{ . }} is set and operator.trigger.mode is not: say a mode
{{- end }}
{{- end }}
{{- if and (eq ($trigger.mode | default "") "webhook") (not (include "operator.takesTriggers" .)) }}
operator.trigger.mode is webhook and nobody may call: set operator.trigger.endpoint.tokensSecret or operator.trigger.endpoint.keysSecret
{{- end }}
{{- $policies := .Values.networkPolicy -}}
{{- if and (eq ($trigger.mode | default "") "webhook") (include "operator.takesTriggers" .) $policies.enabled (not $policies.trigger.from) }}
operator.trigger.mode is webhook and no NetworkPolicy lets a caller in: set networkPolicy.trigger.from to the callers, such as [{ipBlock: {cidr: 10.0.0.0/24}}]
{{- end }}
{{- if and $trigger.interval $trigger.schedule }}
operator.trigger has both interval and schedule: keep one
{{- end }}
{{- end }}

{{- define "operator.secretProblems" -}}
{{- $registrations := include "multinic-operator.rights.registrationsNamespace" . -}}
{{- $read := include "multinic-operator.rights.secretNamespaces" . | fromJsonArray -}}
{{- if has "" $read }}
operator.settings.secretNamespaces is empty: name the namespaces whose Secrets OpenstackConfigs may refer to, or leave it out
{{- end }}
{{- if has $registrations (append (append $read .Release.Namespace) .Values.namespaces.system) }}
namespaces.clusters is {{ $registrations }}, where other Secrets are, and Viola would read them, too: say a namespace for nothing but registrations
{{- end }}
{{- end }}

{{- /* Values that a MultiNicOperator decides when lifecycle is enabled. */ -}}
{{- define "lifecycle.problems" -}}
{{- $operator := .Values.operator -}}
{{- if ne (int $operator.replicas) 1 }}
operator.replicas is {{ $operator.replicas }}, and with lifecycle.enabled the MultiNicOperator decides: leave it out, and set spec.controller.replicas there
{{- end }}
{{- with $operator.settings.dbHost }}
operator.settings.dbHost is {{ . }}, and with lifecycle.enabled the MultiNicOperator decides: leave it out, and set spec.database.enabled there, or DB_HOST in spec.controller.env
{{- end }}
{{- with $operator.trigger.mode }}
operator.trigger.mode is {{ . }}, and with lifecycle.enabled the MultiNicOperator decides: leave it out, and set spec.reconcileTrigger.mode there
{{- end }}
{{- with $operator.persistence }}
{{- if and .enabled .existingClaim (has .existingClaim (list "mysql-storage-mariadb-0" "mariadb-backup")) }}
operator.persistence.existingClaim is {{ .existingClaim }}, a volume of MariaDB: name a claim for SQLite, or leave it out
{{- end }}
{{- end }}
{{- $labels := dict "operator" $operator.podLabels "lifecycle" .Values.lifecycle.podLabels }}
{{- range $part, $own := $labels }}
{{- if hasKey $own "app" }}
{{ $part }}.podLabels has app, which the chart sets with lifecycle.enabled: take another label
{{- end }}
{{- end }}
{{- $listen := include "lifecycle.setting" (list . "listen") }}
{{- $webhook := include "lifecycle.setting" (list . "webhookListen") }}
{{- if eq (include "multinic.port" $listen) (include "multinic.port" $webhook) }}
lifecycle.settings.webhookListen is {{ $webhook }}, the port of lifecycle.settings.listen: say another one, such as :9443
{{- end }}
{{- end }}
