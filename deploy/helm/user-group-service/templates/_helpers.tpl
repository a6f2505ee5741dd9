{{- define "user-group-service.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Never changes: the selector of a Deployment is immutable. */}}
{{- define "user-group-service.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "user-group-service.labels" -}}
{{ include "user-group-service.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "user-group-service.image" -}}
{{- $repository := required "set image.repository to where you have pushed the image, such as registry.example.com/user-group-service" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/*
Fails if a pod would be killed during a graceful shutdown, while it waits for the database, or on a node with so many
processors that its serving threads exceed the memory.
*/}}
{{- define "user-group-service.checkSettings" -}}
{{- $delayMs := .Values.settings.UGS_SHUTDOWN_DELAY_MS | default "500" | int -}}
{{- $timeoutMs := .Values.settings.UGS_SHUTDOWN_TIMEOUT_MS | default "20000" | int -}}
{{- $shutdownSeconds := divf (add $delayMs $timeoutMs) 1000 | ceil | int | add 9 -}}
{{- if lt (int .Values.terminationGracePeriodSeconds) (int $shutdownSeconds) -}}
{{- fail (printf "set terminationGracePeriodSeconds to %d or more: 9 seconds more than UGS_SHUTDOWN_DELAY_MS plus UGS_SHUTDOWN_TIMEOUT_MS" $shutdownSeconds) -}}
{{- end -}}
{{- $waitMs := .Values.settings.UGS_DATABASE_WAIT_MS | default "60000" | int -}}
{{- if le (mul 1000 (int .Values.startupSeconds)) (int64 $waitMs) -}}
{{- fail (printf "set startupSeconds to more than UGS_DATABASE_WAIT_MS, which is %d" $waitMs) -}}
{{- end -}}
{{- $poolSize := .Values.settings.UGS_POSTGRES_POOL_SIZE | default "8" | int -}}
{{- if and (gt $poolSize 9) (not .Values.settings.UGS_THREADS) -}}
{{- fail "set settings.UGS_THREADS too: with UGS_POSTGRES_POOL_SIZE above 9, the processors of a node decide how many serving threads, and how much memory, a process has. For each thread beyond four, raise resources.limits.memory by 100Mi" -}}
{{- end -}}
{{- end -}}
