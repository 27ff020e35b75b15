import type { Right, RightsTable } from '../../src/kube/rights.ts';

/** Identity that gets the role. */
export interface Account {
  readonly name: string;
  readonly namespace: string;
}

/** Rules of a role, and the binding to an identity. */
export interface RoleText {
  readonly name: string;
  /** Missing: a ClusterRole. */
  readonly namespace?: string;
  readonly account: Account;
  readonly rights: readonly Right[];
  /** Metadata of role and binding after the name, such as labels. */
  readonly metadata?: string;
  /** Text of a rule with a template condition; default: unconditional. */
  readonly onlyIf?: (when: string, rule: string) => string;
}

export function inPlaces<Place extends string>(
  { rights }: RightsTable<Place>,
  ...places: readonly Place[]
): readonly Right[] {
  return rights.filter(({ where }) => places.includes(where));
}

/** Role for a single namespace. */
export function roleAt<Place extends string>(
  table: RightsTable<Place>,
  place: Exclude<Place, 'cluster'>,
  namespace: string,
  account: Account,
): RoleText {
  return { name: table.roles[place], namespace, account, rights: inPlaces(table, place) };
}

/** Role or ClusterRole with a binding, as text: names may be template expressions, which YAML writers would quote. */
export function roleText(role: RoleText): string {
  const { name, account, rights, onlyIf = (_, rule) => rule } = role;
  const kind = role.namespace === undefined ? 'ClusterRole' : 'Role';
  const rules = rights.map((right) =>
    right.when === undefined ? ruleText(right) : onlyIf(right.when, ruleText(right)),
  );
  return `${head(kind, role)}
rules:
${rules.join('')}---
${head(`${kind}Binding`, role)}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${kind}
  name: ${name}
subjects:
  - kind: ServiceAccount
    name: ${account.name}
    namespace: ${account.namespace}
`;
}

function head(kind: string, { name, namespace, metadata = '' }: RoleText): string {
  const place = namespace === undefined ? '' : `\n  namespace: ${namespace}`;
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
metadata:
  name: ${name}${place}${metadata}`;
}

function ruleText({ group, resource, names, verbs, why }: Right): string {
  const only = names ? `    resourceNames: [${names.join(', ')}]\n` : '';
  return `  # ${why.en}
  - apiGroups: [${group || '""'}]
    resources: [${resource}]
${only}    verbs: [${verbs.join(', ')}]
`;
}
