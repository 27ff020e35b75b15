import { identities } from '../../../rig/chain/identities.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { type RoleBinding, roleBindings } from '../../../src/kube/core-resources.ts';
import { keyOf } from '../../../src/kube/object.ts';
import { defineResource } from '../../../src/kube/resource.ts';
import type { Action } from '../../../src/kube/rights.ts';
import { systemClock as clock } from '../../../src/time/clock.ts';
import type { Cluster, World } from '../../fixtures/chain/world.ts';
import { claimsOfParts, type PartName } from '../../rbac/claims.ts';
import { clusterRoles, type Role, type Rule, roles, setRules } from '../../rbac/roles.ts';
import { covers, inWords, refusedOf } from '../../rbac/used.ts';

const kinds = [roles, clusterRoles] as const;
const clusterRoleBindings = defineResource<RoleBinding>({
  ...roleBindings,
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
});
const access = { violaAccess: 'managed', violaTls: 'managed' } as const;

/** Rights that a part needs in every installation, as a verb and a resource. */
export function usualRightsOf(part: PartName): readonly (readonly [string, Action])[] {
  const usual = claimsOfParts(access)[part].filter(({ right }) => !right.rare);
  return usual.map(({ action }) => [inWords(action), action]);
}

export function clusterOf(part: PartName, world: Pick<World, 'management' | 'business'>): Cluster {
  return part === 'operator' || part === 'viola' ? world.management : world.business;
}

/** Removes a right from a part's roles; returns the function that restores the right. */
export async function takeAway(
  admin: KubeClient,
  part: PartName,
  action: Action,
): Promise<() => Promise<void>> {
  const own = await rolesOf(admin, identities[part]);
  const undo: (() => Promise<unknown>)[] = [];
  for (const kind of kinds) {
    const { items } = await admin.list(kind, {});
    const its = items.filter((one) => own.has(`${kind.kind} ${keyOf(one)}`));
    for (const role of its.filter((one) => mayHold(one, action))) {
      const { name, namespace } = role.metadata;
      const ref = { name, ...(namespace === undefined ? {} : { namespace }) };
      const before = await setRules(admin, kind, ref, (rules) =>
        rules.flatMap((rule) => without(rule, action)),
      );
      undo.push(() => setRules(admin, kind, ref, () => before));
    }
  }
  if (undo.length === 0) throw new Error(`no role holds: ${inWords(action)}`);
  return async () => {
    await Promise.all(undo.map((giveBack) => giveBack()));
  };
}

/** `Kind key` of roles bound to an account; several roles may have the same right. */
async function rolesOf(admin: KubeClient, account: string): Promise<ReadonlySet<string>> {
  const lists = [await admin.list(roleBindings, {}), await admin.list(clusterRoleBindings, {})];
  const bound = lists.flatMap(({ items }) => items).filter((one) => isOf(one, account));
  return new Set(
    bound.map(({ metadata: { namespace }, roleRef: { kind, name } }) =>
      kind === 'Role' && namespace !== undefined
        ? `${kind} ${keyOf({ namespace, name })}`
        : `${kind} ${name}`,
    ),
  );
}

function isOf({ subjects = [] }: RoleBinding, account: string): boolean {
  return subjects.some(
    ({ namespace, name }) => account === `system:serviceaccount:${namespace}:${name}`,
  );
}

/** Only a ClusterRole grants rights on cluster-wide resources. */
function mayHold({ metadata, rules }: Role, action: Action): boolean {
  return metadata.namespace === action.namespace && rules.some((rule) => holds(rule, action));
}

function holds({ apiGroups, resources, resourceNames, verbs }: Rule, action: Action): boolean {
  return (
    apiGroups.includes(action.group) &&
    resources.includes(action.resource) &&
    verbs.includes(action.verb) &&
    (action.name === undefined ? !resourceNames : resourceNames?.includes(action.name) === true)
  );
}

/** The rule, with all rights that the rule grants. */
function without(rule: Rule, action: Action): readonly Rule[] {
  if (!holds(rule, action)) return [rule];
  const verbs = rule.verbs.filter((verb) => verb !== action.verb);
  const others = (rule.resourceNames ?? []).filter((name) => name !== action.name);
  return [
    ...(verbs.length > 0 ? [{ ...rule, verbs }] : []),
    ...(others.length > 0 ? [{ ...rule, verbs: [action.verb], resourceNames: others }] : []),
  ];
}

/** True if the request was refused because this right is missing: the API server refuses an apply that would create as a patch. */
export function isFor(right: Action, refused: Action): boolean {
  return (
    covers(right, refused) ||
    (right.verb === 'create' && covers({ ...right, verb: 'patch' }, refused))
  );
}

/** Resolves to the first refused request of the part. */
export async function untilRefused(
  { server }: Cluster,
  part: PartName,
  signal: AbortSignal,
): Promise<Action> {
  for (;;) {
    const [refused] = refusedOf(server.audit, identities[part]);
    if (refused) return refused;
    await clock.sleep(100, signal);
  }
}
