import { bizConfigGroups } from '../../src/api/names.ts';
import { controllerRights } from '../../src/controller/rights.ts';
import { lifecycleRights } from '../../src/lifecycle/rights.ts';
import { operatorRights } from '../../src/operator/rights.ts';
import { violaRights, writerRights } from '../../src/viola/rights.ts';
import { accountNames } from './accounts.ts';
import { inPlaces, type RoleText, roleAt, roleText } from './role.ts';
import { ownKindRoles, readerRole } from './user-roles.ts';

/** Namespace of the release; `$` also works inside a range. */
const own = '{{ $.Release.Namespace | quote }}';

/** Chart templates by file. `_rights.tpl` of each chart defines the named templates used here. */
export function rbacTemplates(): ReadonlyMap<string, string> {
  return new Map([
    ['charts/multinic-operator/templates/rbac.yaml', management()],
    ['charts/multinic-agent/templates/rbac.yaml', business()],
    ['charts/multinic-operator/templates/users.yaml', users()],
    ['charts/multinic-agent/templates/users.yaml', businessUsers()],
    ['charts/multinic-agent/templates/viola-access.yaml', violaAccess()],
  ]);
}

function management(): string {
  const write = writer('multinic-operator', 'operator');
  const account = { name: `{{ ${asked('operatorAccount')} }}`, namespace: own };
  const { clusterRole: name = '' } = operatorRights;
  const rights = inPlaces(operatorRights, 'configs', 'cluster');
  return `${note('src/operator/rights.ts, src/viola/rights.ts and src/lifecycle/rights.ts')}
{{- $watched := ${asked('watchNamespace')} }}
{{- if $watched }}
${write(roleAt(operatorRights, 'configs', '{{ $watched | quote }}', account))}
${write(roleAt(operatorRights, 'identity', 'kube-system', account))}
{{- else }}
${write({ name, account, rights })}
{{- end }}
${write({ ...roleAt(operatorRights, 'own', own, account), onlyIf })}
{{- range ${asked('secretNamespaces')} | fromJsonArray | uniq }}
${write(roleAt(operatorRights, 'secrets', '{{ . | quote }}', account))}
{{- end }}
{{- if ${asked('rabbitmqSecrets')} }}
{{- range ${asked('secretNamespaces')} | fromJsonArray | uniq }}
${write(roleAt(operatorRights, 'brokerSecrets', '{{ . | quote }}', account))}
{{- end }}
{{- end }}
{{- if or (${asked('managedTokens')}) (${asked('managedCertificates')}) }}
${write({ ...roleAt(operatorRights, 'access', own, account), onlyIf })}
{{- end }}
${viola()}{{- if $.Values.lifecycle.enabled }}
${lifecycle()}{{- end }}
`;
}

function onlyIf(when: string, rule: string): string {
  const condition = when === 'oneNamespace' ? '$watched' : asked(when);
  return `  {{- if ${condition} }}\n${rule}  {{- end }}\n`;
}

function asked(what: string): string {
  return `include "multinic-operator.rights.${what}" $`;
}

function viola(): string {
  const write = writer('multinic-operator', 'viola');
  const account = { name: accountNames.viola, namespace: own };
  const registrations = '{{ include "multinic-operator.rights.registrationsNamespace" $ | quote }}';
  return `${write(roleAt(violaRights, 'registrations', registrations, account))}
${write(roleAt(violaRights, 'own', own, account))}
`;
}

function lifecycle(): string {
  const write = writer('multinic-operator', 'lifecycle');
  const table = lifecycleRights(own);
  const account = { name: accountNames.lifecycle, namespace: own };
  return `${write({ name: table.clusterRole ?? '', account, rights: inPlaces(table, 'cluster') })}
${write(roleAt(table, 'own', own, account))}
`;
}

function business(): string {
  const write = writer('multinic-agent', 'controller');
  const table = controllerRights(own);
  const account = { name: accountNames.controller, namespace: own };
  const agents = '{{ $.Values.agent.namespace | quote }}';
  const groups = bizConfigGroups
    .map((group) => {
      const role = write(roleAt(table, group, own, account));
      return `{{- if has "${group}" $groups }}\n${role}\n{{- end }}`;
    })
    .join('\n');
  return `${note('src/controller/rights.ts')}
${write({ name: table.clusterRole ?? '', account, rights: inPlaces(table, 'cluster') })}
${write(roleAt(table, 'own', own, account))}
${write(roleAt(table, 'agents', agents, account))}
${write(roleAt(table, 'kubeSystem', 'kube-system', account))}
${write(roleAt(table, 'apiServer', 'default', account))}
{{- $mode := include "multinic-agent.rights.bizConfig" $ }}
{{- $groups := include "multinic-agent.rights.bizConfigGroups" $ | fromJsonArray }}
{{- if ne $mode "off" }}
${groups}
{{- end }}
{{- if eq $mode "active" }}
${write(roleAt(table, 'expansion', own, account))}
{{- end }}
`;
}

/** Viola's identity; the user who registers the cluster creates a token for this account. */
function violaAccess(): string {
  const write = writer('multinic-agent', 'viola');
  const account = { name: accountNames.writer, namespace: own };
  return `${note('src/viola/rights.ts')}
{{- if .Values.violaAccess.create }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${account.name}
  namespace: ${own}${labels('multinic-agent', 'viola')}
automountServiceAccountToken: false
${write(roleAt(writerRights, 'objects', own, account))}
${write(roleAt(writerRights, 'kubeSystem', 'kube-system', account))}
{{- end }}
`;
}

/** Writes the roles for a part as separate documents. */
function writer(chart: string, component: string): (role: RoleText) => string {
  const metadata = labels(chart, component);
  return (role) => `---\n${roleText({ ...role, metadata }).trimEnd()}`;
}

/** Roles of users; administrators bind them. */
function users(): string {
  const label = included('multinic-operator', 'operator');
  const roles = ownKindRoles('management', 'multinic', [label]);
  return `${note('src/cli/rights.ts')}\n---\n${roles}---\n${readerRole(own, [label])}`;
}

function businessUsers(): string {
  const roles = ownKindRoles('business', 'multinic-agent', [
    included('multinic-agent', 'controller'),
  ]);
  return `${note('src/cli/rights.ts')}\n---\n${roles}`;
}

function labels(chart: string, component: string): string {
  return `\n  labels:\n    ${included(chart, component)}`;
}

function included(chart: string, component: string): string {
  return `{{- include "${chart}.rights.labels" (list $ "${component}") | nindent 4 }}`;
}

function note(source: string): string {
  return `{{- /* Generated by \`npm run generate\` from ${source}. Do not edit. */ -}}`;
}
