import { type Audience, readerRules, type UserRule, userRules } from '../../src/cli/rights.ts';

/** Roles for users without bindings: administrators bind them. */
const audiences: readonly Audience[] = ['view', 'edit'];

interface RoleHead {
  readonly name: string;
  /** Undefined: a ClusterRole. */
  readonly namespace?: string;
  readonly labels: readonly string[];
}

/** Returns ClusterRoles for our kinds. `prefix` separates the roles of two charts in a cluster. */
export function ownKindRoles(
  cluster: 'management' | 'business',
  prefix: string,
  labels: readonly string[] = [],
): string {
  return audiences
    .map((audience) => {
      const aggregated = `rbac.authorization.k8s.io/aggregate-to-${audience}: "true"`;
      const head = { name: `${prefix}-${audience}`, labels: [aggregated, ...labels] };
      return roleText(head, userRules(cluster, audience));
    })
    .join('---\n');
}

/** Returns the Role for port-forward to the operator. */
export function readerRole(namespace: string, labels: readonly string[] = []): string {
  return roleText({ name: 'multinic-reader', namespace, labels }, readerRules);
}

function roleText({ name, namespace, labels }: RoleHead, rules: readonly UserRule[]): string {
  const place = namespace === undefined ? '' : `\n  namespace: ${namespace}`;
  const lines = labels.map((label) => `\n    ${label}`).join('');
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ${namespace === undefined ? 'ClusterRole' : 'Role'}
metadata:
  name: ${name}${place}${lines === '' ? '' : `\n  labels:${lines}`}
rules:
${rules.map(ruleText).join('')}`;
}

function ruleText({ group, resources, names, verbs }: UserRule): string {
  const only = names ? `    resourceNames: [${names.join(', ')}]\n` : '';
  return `  - apiGroups: [${group || '""'}]
    resources: [${resources.join(', ')}]
${only}    verbs: [${verbs.join(', ')}]
`;
}
