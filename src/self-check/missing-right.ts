import { type Action, type Claim, qualified, type RightsTable, type Verb } from '../kube/rights.ts';

/** Missing verbs for one right in one scope, as text for users. */
export interface MissingRight {
  /** `get, patch leases.coordination.k8s.io "multinic-operator" in multinic-system`. */
  readonly what: string;
  /** `Role multinic-operator in multinic-system`. */
  readonly role: string;
  /** kubectl command that adds the rule to the role, if the role exists. */
  readonly fix: string;
  readonly why: string;
}

/** Groups missing verbs by rule and namespace. */
export function missingRights(
  claims: readonly Claim[],
  table: RightsTable,
): readonly MissingRight[] {
  const byRule = Map.groupBy(claims, ({ right, action: { namespace = '' } }) =>
    [table.rights.indexOf(right), namespace].join(' '),
  );
  return [...byRule.values()].flatMap(([first, ...others]) =>
    first ? [missingRight([first, ...others], table)] : [],
  );
}

function missingRight(claims: readonly [Claim, ...Claim[]], table: RightsTable): MissingRight {
  const [{ right, action }] = claims;
  const { namespace } = action;
  const verbs = unique(claims.map(({ action: { verb } }) => verb));
  const names = unique(claims.flatMap(({ action: { name } }) => name ?? []));
  const which = names.map((name) => ` "${name}"`).join();
  const place = namespace === undefined ? 'in any namespace' : `in ${namespace}`;
  const rule = ruleOf(action, verbs, names);
  const [kind, role] =
    namespace === undefined
      ? ['ClusterRole', table.clusterRole ?? '']
      : ['Role', table.roles[right.where] ?? ''];
  const at = namespace === undefined ? '' : ` -n ${namespace}`;
  return {
    what: `${verbs.join(', ')} ${qualified(action)}${which} ${place}`,
    role: `${kind} ${role}${namespace === undefined ? '' : ` in ${namespace}`}`,
    fix: `kubectl patch ${kind.toLowerCase()} ${role}${at} --type=json -p '[{op: add, path: /rules/-, value: ${rule}}]'`,
    why: right.why.en,
  };
}

/** Returns the rule as one-line YAML; kubectl accepts YAML patches, and YAML needs less quoting in a log. */
function ruleOf({ group, resource }: Action, verbs: readonly Verb[], names: readonly string[]) {
  const only = names.length > 0 ? `, resourceNames: [${names.join(', ')}]` : '';
  return `{apiGroups: [${group || '""'}], resources: [${resource}]${only}, verbs: [${verbs.join(', ')}]}`;
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
