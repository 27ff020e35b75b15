import { bizConfigGroups, businessGroup, managementGroup, operatorLease } from '../api/names.ts';

/** Rule of a role for users. */
export interface UserRule {
  readonly group: string;
  readonly resources: readonly string[];
  readonly names?: readonly string[];
  readonly verbs: readonly string[];
}

/** Our kinds by cluster. */
const kinds = {
  management: [{ group: managementGroup, resources: ['openstackconfigs', 'multinicoperators'] }],
  business: [
    { group: businessGroup, resources: ['multinicnodeconfigs', 'multinicbizconfigs'] },
    { group: bizConfigGroups[1], resources: ['multinicbizconfigs'] },
  ],
} as const;

const verbs = {
  view: ['get', 'list', 'watch'],
  edit: ['create', 'update', 'patch', 'delete'],
} as const;

export type Audience = keyof typeof verbs;

/** Returns the rules for our kinds; Kubernetes adds them to its roles `view` and `edit`. */
export function userRules(cluster: keyof typeof kinds, audience: Audience): UserRule[] {
  return kinds[cluster].map((kind) => ({ ...kind, verbs: verbs[audience] }));
}

/**
 * Rights in the operator's namespace for commands that read NICs. Not part of `view`: that would open port-forward in
 * every namespace.
 */
export const readerRules: readonly UserRule[] = [
  { group: '', resources: ['pods/portforward'], verbs: ['create'] },
  { group: '', resources: ['pods', 'pods/log', 'events'], verbs: ['get', 'list'] },
  { group: 'apps', resources: ['deployments'], verbs: ['get', 'list'] },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    names: [operatorLease],
    verbs: ['get'],
  },
];

/** Roles that a command needs in the management cluster. */
export const commandRoles: Readonly<Record<string, readonly string[]>> = {
  status: ['multinic-view', 'multinic-reader'],
  nodes: ['multinic-reader'],
  nics: ['multinic-reader'],
  why: ['multinic-view', 'multinic-reader'],
  dashboard: ['multinic-view', 'multinic-reader'],
  doctor: ['multinic-view', 'multinic-reader'],
  plan: ['multinic-view', 'multinic-reader'],
  history: ['multinic-reader'],
  diff: ['multinic-edit', 'multinic-reader'],
  sync: ['multinic-edit', 'multinic-reader'],
  'allow-removals': ['multinic-edit', 'multinic-reader'],
  'support-bundle': ['multinic-view', 'multinic-reader'],
};
