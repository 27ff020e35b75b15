import type { ValidatingWebhook } from 'kubernetes-types/admissionregistration/v1.js';
import { labels, managedObjects } from '../../../api/names.ts';
import type { ProtectionWanted } from '../../model/accepted.ts';
import {
  contentFields,
  exemptGroups,
  exemptUsers,
  guardedLabels,
  scaledNames,
  webhookPath,
} from './exempt.ts';

export interface ConfigurationInput {
  readonly namespace: string;
  /** User name of lifecycle's ServiceAccount. */
  readonly user: string;
  /** PEM of all CAs that may have signed the webhook's certificate. */
  readonly authorities: string;
  /** Undefined: the Service is used. */
  readonly url: string | undefined;
  readonly allowed: ProtectionWanted['allowed'];
  readonly kubernetesMinor: number;
}

/** Since 1.28 the API server stores matchConditions by default. */
const matchConditionsMinor = 28;

interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: 'Namespaced';
}

/** An entry as written by lifecycle; `kubernetes-types` predates matchConditions. */
export type ProtectionWebhook = Omit<ValidatingWebhook, 'rules'> & {
  readonly rules: readonly Rule[];
  readonly matchConditions?: readonly MatchCondition[];
};

/** Returns the ValidatingWebhookConfiguration's entries; none when `allowed` permits every operation. */
export function webhooksOf(input: ConfigurationInput): readonly ProtectionWebhook[] {
  const { allowed, kubernetesMinor } = input;
  const hasConditions = kubernetesMinor >= matchConditionsMinor;
  const common = {
    admissionReviewVersions: ['v1'],
    sideEffects: 'NoneOnDryRun',
    timeoutSeconds: 3,
    // Without match conditions the cluster's own components would depend on this webhook.
    failurePolicy: hasConditions ? 'Fail' : 'Ignore',
    matchPolicy: 'Equivalent',
    clientConfig: clientConfig(input),
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': input.namespace } },
  };
  const identities = identityConditions(input.user);
  const conditions = (more: readonly MatchCondition[]) =>
    hasConditions ? { matchConditions: [...identities, ...more] } : {};
  const rules = rulesOf(allowed);
  const objects: ProtectionWebhook = {
    ...common,
    name: 'vprotection.multinic.example.com',
    objectSelector: { matchLabels: { [labels.protected]: 'true' } },
    rules,
    ...conditions([changesContent]),
  };
  const scale: ProtectionWebhook = {
    ...common,
    name: 'scale.vprotection.multinic.example.com',
    objectSelector: {},
    rules: [rule(['UPDATE'], 'apps', 'deployments/scale', 'statefulsets/scale')],
    ...conditions([isOurScale]),
  };
  return [...(rules.length > 0 ? [objects] : []), ...(allowed.has('scale') ? [] : [scale])];
}

function clientConfig({ authorities, url, namespace }: ConfigurationInput) {
  const caBundle = caBundleOf(authorities);
  if (url !== undefined) return { url: withPath(url), caBundle };
  const service = { namespace, name: managedObjects.webhookService, path: webhookPath, port: 443 };
  return { service, caBundle };
}

/** Returns a PEM bundle in Base64, as stored in a webhook configuration. */
export function caBundleOf(authorities: string): string {
  return Buffer.from(authorities).toString('base64');
}

function withPath(url: string): string {
  return new URL(url).pathname === '/' ? new URL(webhookPath, url).href : url;
}

function rulesOf(allowed: ProtectionWanted['allowed']): readonly Rule[] {
  const remaining = [
    ...(allowed.has('update') ? [] : ['UPDATE']),
    ...(allowed.has('delete') ? [] : ['DELETE']),
  ];
  if (remaining.length === 0) return [];
  return [
    rule(remaining, 'apps', 'deployments', 'statefulsets'),
    rule(remaining, '', 'services', 'secrets', 'configmaps'),
    // CSI drivers and the resizer write claims.
    ...(allowed.has('delete') ? [] : [rule(['DELETE'], '', 'persistentvolumeclaims')]),
    rule(remaining, 'batch', 'cronjobs'),
    rule(remaining, 'policy', 'poddisruptionbudgets'),
  ];
}

function rule(operations: readonly string[], group: string, ...resources: string[]): Rule {
  return { operations, apiGroups: [group], apiVersions: ['v1'], resources, scope: 'Namespaced' };
}

function identityConditions(user: string): readonly MatchCondition[] {
  return [
    { name: 'not-lifecycle', expression: `request.userInfo.username != ${celText(user)}` },
    {
      name: 'not-controllers-or-nodes',
      expression: `!has(request.userInfo.groups) || !request.userInfo.groups.exists(g, g in ${celList(exemptGroups)})`,
    },
    {
      name: 'not-control-plane',
      expression: `!(request.userInfo.username in ${celList(exemptUsers)})`,
    },
  ];
}

const changesContent: MatchCondition = {
  name: 'changes-content',
  expression: [
    "request.operation == 'DELETE'",
    ...contentFields.map((field) => `!(${sameField(field)})`),
    `!(${sameField('metadata.ownerReferences')})`,
    ...guardedLabels.map(
      (label) => `${labelValue('object', label)} != ${labelValue('oldObject', label)}`,
    ),
  ].join(' || '),
};

const isOurScale: MatchCondition = {
  name: 'is-managed',
  expression: `request.name in ${celList(scaledNames)}`,
};

function sameField(path: string): string {
  const [now, before] = [`object.${path}`, `oldObject.${path}`];
  return `has(${now}) == has(${before}) && (!has(${now}) || ${now} == ${before})`;
}

/** Treats missing and empty values as equal. */
function labelValue(object: 'object' | 'oldObject', label: string): string {
  const all = `${object}.metadata.labels`;
  const key = celText(label);
  return `(has(${all}) && ${key} in ${all} ? ${all}[${key}] : '')`;
}

function celText(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}

function celList(texts: readonly string[]): string {
  return `[${texts.map(celText).join(', ')}]`;
}
