import type { BizConfig } from '../../biz-config/biz-config.ts';
import { identityOf, type NodeIdentity } from '../../biz-config/entries.ts';
import { type BizSource, isLabelledAs, sourceIn } from '../../biz-config/ownership.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf } from '../objects/stores.ts';
import type { BudgetCount } from '../removals/budget.ts';

/** A MultiNicBizConfig and its related MultiNicNodeConfigs, from the caches. */
export interface Observed {
  readonly source: BizConfig;
  readonly marks: BizSource;
  /** MultiNicNodeConfigs in the source's namespace with its name in label `multinic.io/biz-config`. */
  readonly labelled: readonly NodeConfig[];
  /** Returns MultiNicNodeConfigs from any writer with this object name, node name or instance id. */
  find(identity: NodeIdentity): readonly NodeConfig[];
  /** Removals of the last hour in the business cluster; undefined: not limited here. */
  readonly budget?: BudgetCount;
  /** True if an API server read showed another owner of this object's spec. */
  isForeign(config: NodeConfig): boolean;
}

/** MultiNicNodeConfigs for one node. */
interface Holders {
  /** Object created from this source. */
  readonly own: NodeConfig | undefined;
  /** Object from another writer, which wins. */
  readonly other: NodeConfig | undefined;
  /** Object of the source with this node's name, assigned to another entry by instance id. */
  readonly taken: NodeConfig | undefined;
}

export interface HolderIndex {
  of(identity: NodeIdentity): Holders;
  /** All objects created from the source. */
  readonly own: readonly NodeConfig[];
  /** Objects of the source without an entry. */
  readonly left: readonly NodeConfig[];
  /** Objects from another writer with the source's label. */
  readonly forged: readonly NodeConfig[];
}

const noHolders: Holders = { own: undefined, other: undefined, taken: undefined };

/** Assigns a source's objects to its entries. */
export function holdersOf(observed: Observed): HolderIndex {
  const { source, labelled, marks } = observed;
  const isOwn = (config: NodeConfig): boolean =>
    isLabelledAs(config.metadata, marks) && !observed.isForeign(config);
  const own = labelled.filter(isOwn);
  const identities = (source.spec?.nodeConfigs ?? []).map(identityOf);
  const claims = claimsOf(identities, own);
  const claimed = new Set([...claims.values()].map(nameOf));
  const holders = new Map<string, Holders>();
  for (const identity of identities) {
    const mine = claims.get(keyOfIdentity(identity));
    const found = observed.find(identity);
    const taken = mine ? undefined : found.find((config) => claimed.has(nameOf(config)));
    const other = found.find((config) => !isOwn(config));
    holders.set(keyOfIdentity(identity), { own: mine, other, taken });
  }
  return {
    of: (identity) => holders.get(keyOfIdentity(identity)) ?? noHolders,
    own,
    left: own.filter((config) => !claimed.has(nameOf(config))),
    forged: labelled.filter((config) => !isOwn(config) && !isOfAnotherSource(config, marks)),
  };
}

/**
 * Returns objects by identity, matching the instance id first, because it identifies the node. A renamed server
 * therefore keeps its object and NICs. Each object is assigned to one entry.
 */
function claimsOf(identities: readonly NodeIdentity[], own: readonly NodeConfig[]) {
  const byId = new Map(own.map((config) => [instanceIdOf(config), config]));
  const byName = new Map([
    ...own.map((config) => [nodeNameOf(config), config] as const),
    ...own.map((config) => [nameOf(config), config] as const),
  ]);
  const claims = new Map<string, NodeConfig>();
  const claimed = new Set<string>();
  const take = (identity: NodeIdentity, config: NodeConfig | undefined): void => {
    const key = keyOfIdentity(identity);
    if (!config || claims.has(key) || claimed.has(nameOf(config))) return;
    claims.set(key, config);
    claimed.add(nameOf(config));
  };
  for (const identity of identities) {
    if (identity.instanceId !== undefined) take(identity, byId.get(identity.instanceId));
  }
  for (const identity of identities) {
    take(identity, byName.get(identity.objectName) ?? byName.get(identity.nodeName));
  }
  return claims;
}

/** True if a readable annotation names another source, which then decides about the label. */
function isOfAnotherSource({ metadata }: NodeConfig, { group, name }: BizSource): boolean {
  const source = sourceIn(metadata);
  return source !== undefined && (source.group !== group || source.name !== name);
}

function keyOfIdentity({ objectName, nodeName, instanceId = '' }: NodeIdentity): string {
  return JSON.stringify([objectName, nodeName, instanceId]);
}

function nameOf({ metadata }: NodeConfig): string {
  return metadata.name;
}
