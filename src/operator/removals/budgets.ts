import { rfc3339 } from '../../api/condition.ts';
import { budgetWindowMs } from '../../api/removals.ts';
import type { RecordedUse } from '../../plan/plan.ts';
import { type ConfigObject, statusOf } from '../model/openstack-config.ts';
import { providerIdOf } from '../model/resolve/credentials.ts';
import type { OperatorSettings } from '../model/settings/operator.ts';
import { type RemovalRecord, recordsOf, recordsWithin, sumOf } from './records.ts';

/** NICs, and nodes with NICs. */
export interface NicsAndNodes {
  readonly nics: number;
  readonly nodes: number;
}

interface BudgetInput {
  /** The OpenstackConfig with its latest status. */
  readonly object: ConfigObject;
  /** NICs and nodes that the OpenstackConfig has now in the business cluster. */
  readonly own: NicsAndNodes;
  /** Further OpenstackConfigs in the business cluster. */
  readonly others: readonly ConfigObject[];
  readonly now: Date;
}

/**
 * Returns the budgets for an OpenstackConfig and for its business cluster. Viola lists only own nodes, so further
 * OpenstackConfigs are counted from their statuses. Totals include removals from the last hour.
 */
export function budgetsOf({ object, own, others, now }: BudgetInput): RecordedUse[] {
  const recent = recordsWithin(recordsOf(object) ?? [], now);
  const factsOfOthers = others.map(factsOf);
  const recentOfOthers = factsOfOthers.flatMap(({ records }) => recordsWithin(records, now));
  const gone = sumOf(recent);
  const goneInCluster = sumOf([...recent, ...recentOfOthers]);
  const there = sumOf([own, ...factsOfOthers]);
  const ofCluster = freeAt([...recent, ...recentOfOthers]);
  return [
    {
      scope: 'clusterNodes',
      used: goneInCluster.nodes,
      total: there.nodes + goneInCluster.nodes,
      ...ofCluster,
    },
    {
      scope: 'clusterNics',
      used: goneInCluster.nics,
      total: there.nics + goneInCluster.nics,
      ...ofCluster,
    },
    { scope: 'configNics', used: gone.nics, total: own.nics + gone.nics, ...freeAt(recent) },
  ];
}

function freeAt(records: readonly RemovalRecord[]): Pick<RecordedUse, 'freeAt'> {
  if (records.length === 0) return {};
  const oldest = Math.min(...records.map(({ at }) => Date.parse(at)));
  return { freeAt: rfc3339(new Date(oldest + budgetWindowMs)) };
}

/** Returns the further OpenstackConfigs in a business cluster. */
export function othersIn(
  provider: string,
  { metadata: { uid } }: ConfigObject,
  configs: readonly ConfigObject[],
  settings: Pick<OperatorSettings, 'defaultK8sProviderId'>,
): ConfigObject[] {
  return configs.filter(
    (other) => other.metadata.uid !== uid && providerOf(other, settings) === provider,
  );
}

/** Returns an OpenstackConfig's delivered NICs, as counted in the status. */
export function deliveredBy(object: ConfigObject): NicsAndNodes {
  const { nics, nodes } = factsOf(object);
  return { nics, nodes };
}

interface Facts extends NicsAndNodes {
  readonly records: readonly RemovalRecord[];
}

/** Parsed once per object version: every sync reads all OpenstackConfigs in a business cluster. */
const facts = new WeakMap<ConfigObject, Facts>();
const providers = new WeakMap<ConfigObject, string | undefined>();

function factsOf(object: ConfigObject): Facts {
  const known = facts.get(object);
  if (known) return known;
  const { summary } = statusOf(object);
  const { interfaces: nics = 0, nodes = 0 } = summary ?? {};
  const found = { nics, nodes, records: recordsOf(object) ?? [] };
  facts.set(object, found);
  return found;
}

function providerOf(
  object: ConfigObject,
  settings: Pick<OperatorSettings, 'defaultK8sProviderId'>,
): string | undefined {
  if (providers.has(object)) return providers.get(object);
  const provider = providerIdOf(object, settings);
  providers.set(object, provider);
  return provider;
}
