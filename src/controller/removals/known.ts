import { type KnownNics, knownNics } from '../../api/known-nics.ts';
import { isWrittenByLegacy } from '../../api/legacy-status.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import type { Node } from '../../kube/core-resources.ts';
import { deliveredMacs, recordOf } from '../jobs/applied.ts';
import type { NodeConfig } from '../objects/stores.ts';

const unread: KnownNics = { kind: 'unread' };

/**
 * Returns the NICs on this node reported by an agent for this object; unread after a restore, on a different machine, and
 * before the first run.
 */
export function knownOn(config: NodeConfig, node: Node): KnownNics {
  const known = knownOf(config);
  if (known.kind === 'unread') return known;
  return isOfLegacy(config) || isOn(config, node) ? known : unread;
}

/** Returns the NICs on the node of the object's record. */
export function knownOf({ metadata, status }: NodeConfig): KnownNics {
  return knownNics(metadata, status);
}

/**
 * True if the record is about this Node's machine. A re-registered Node is the same machine unless its machine id
 * differs.
 */
export function isOn(config: NodeConfig, node: Node): boolean {
  const record = recordOf(config);
  if (record?.nodeName !== node.metadata.name) return false;
  const { machineID } = node.status?.nodeInfo ?? {};
  return !record.machineId || !machineID || record.machineId === machineID;
}

/** True if the node may have NICs: unread is not empty. */
export function mayHaveNics(config: NodeConfig): boolean {
  const known = knownOf(config);
  if (known.kind === 'read') return known.nics.length > 0;
  const record = recordOf(config);
  // The agent found nothing to clean, such as on a host with another network manager.
  if (record?.action === 'cleanup' && record.done) return false;
  return namesNics(config.status ?? {});
}

function namesNics({ applied, knownInterfaces = [], interfaceStatuses = [] }: NodeConfigStatus) {
  const isConfigured = interfaceStatuses.some(({ status }) => status === 'Configured');
  const isChanged = applied !== undefined && applied.action !== 'check';
  return isChanged || knownInterfaces.length > 0 || isConfigured;
}

/**
 * Returns MACs requested or configured by this object's runs. On a legacy host the legacy controller's runs count until
 * the first run. Earlier versions list configured NICs only, and leave the list of requested NICs of a later version
 * unchanged.
 */
export function ownMacs(config: NodeConfig): ReadonlySet<string> {
  const known = knownOf(config);
  if (isOfLegacy(config) && known.kind === 'read') return new Set(known.nics.map(({ mac }) => mac));
  return new Set([...(recordOf(config)?.requested ?? []), ...deliveredMacs(config)]);
}

function isOfLegacy({ status }: NodeConfig): boolean {
  return status !== undefined && isWrittenByLegacy(status);
}
