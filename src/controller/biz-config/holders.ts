import type { BizConfig } from '../../biz-config/biz-config.ts';
import { identityOf, type NodeIdentity } from '../../biz-config/entries.ts';
import { type BizSource, isLabelledAs, sourceIn } from '../../biz-config/ownership.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf } from '../objects/stores.ts';

/** A MultiNicBizConfig and the MultiNicNodeConfigs that concern it, from the caches. */
export interface Observed {
  readonly source: BizConfig;
  readonly marks: BizSource;
  /** MultiNicNodeConfigs in its namespace that carry its name in label `multinic.io/biz-config`. */
  readonly labelled: readonly NodeConfig[];
  /** MultiNicNodeConfigs of any writer with this object name, node name, or instance id. */
  find(identity: NodeIdentity): readonly NodeConfig[];
  /** Whether a read from the API server showed that another writer owns the spec of this object. */
  isForeign(config: NodeConfig): boolean;
}

/** The MultiNicNodeConfigs of one node. */
export interface Holders {
  /** The object that was made from this source. */
  readonly own: NodeConfig | undefined;
  /** An object of another writer; it wins. */
  readonly other: NodeConfig | undefined;
  /** An object of the source with the name of this node, which another entry has by its instance id. */
  readonly taken: NodeConfig | undefined;
}

export interface HolderIndex {
  of(identity: NodeIdentity): Holders;
  /** All objects of the source. */
  readonly own: readonly NodeConfig[];
  /** Objects of the source that no entry names. */
  readonly left: readonly NodeConfig[];
  /** Objects of another writer that carry the label of the source. */
  readonly forged: readonly NodeConfig[];
}

const noHolders: Holders = { own: undefined, other: undefined, taken: undefined };

/** Assigns the objects of a source to its entries. */
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
 * Objects by identity: by instance id first, because that finds the node. A renamed server keeps its object, and by that its
 * NICs. Each object goes to one entry.
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

/** A readable annotation of another source: that one decides about the label. */
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
