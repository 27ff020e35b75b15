import { familyOf, hostPrefix, prefixOf } from '../../../api/address.ts';
import { findCondition } from '../../../api/condition.ts';
import type {
  InterfaceSpec,
  InterfaceStatus,
  NodeConfigStatus,
} from '../../../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { isObserved } from '../../../api/observed-node.ts';
import type { NicView, NodeView } from '../../../api/read-http.ts';
import { optional } from './optional.ts';

/** Planned NIC without status. */
export type PlannedNic = Pick<
  NicView,
  | 'name'
  | 'portId'
  | 'macAddress'
  | 'addresses'
  | 'mtu'
  | 'networkId'
  | 'networkName'
  | 'subnetId'
  | 'subnetName'
  | 'portStatus'
>;

/** Planned node without status. */
export interface PlannedNode
  extends Pick<NodeView, 'providerId' | 'nodeName' | 'instanceId' | 'config' | 'unusedPorts'> {
  readonly nics: readonly PlannedNic[];
}

/** MultiNicNodeConfig read by the operator. */
export interface ReadObject {
  /** Undefined: the business cluster has no such object. */
  readonly existing: ExistingNodeConfig | undefined;
  /** Why the object cannot be read; undefined: readable, or absent. */
  readonly unreadable?: string | undefined;
  /** Generation written after this read; undefined: nothing was written. */
  readonly writtenGeneration?: number | undefined;
  /** Whether the write after this read has mode Observe; undefined: nothing was written. */
  readonly isWrittenObserved?: boolean | undefined;
  /** Whether the write after this read has consent to adoption; undefined: nothing was written. */
  readonly isWrittenAdopting?: boolean | undefined;
  /** RFC 3339. */
  readonly at: string;
}

/** Returns a node's planned fields, without status. */
export function plannedOf(view: NodeView): PlannedNode {
  const { providerId, nodeName, instanceId, config, unusedPorts } = view;
  const nics = view.nics.map(
    ({
      state: _s,
      reason: _r,
      message: _m,
      code: _o,
      args: _a,
      carrier: _c,
      found: _f,
      changedAt: _h,
      checkedAt: _k,
      ...nic
    }) => nic,
  );
  return { providerId, nodeName, instanceId, config, unusedPorts, nics };
}

/** Returns the node with the MultiNicNodeConfig's status. */
export function nodeViewOf(planned: PlannedNode, read: ReadObject): NodeView {
  const { existing, at } = read;
  const status = existing?.status;
  const nics = planned.nics.map((nic) => ({ ...nic, ...nicStateOf(nic, existing) }));
  const observes = read.isWrittenObserved ?? (existing !== undefined && isObserved(existing));
  return {
    ...planned,
    ...(observes ? { mode: 'Observe' as const } : {}),
    ...consentIn(read),
    ...stateOf(read),
    unusedPorts: planned.unusedPorts,
    nics,
    drifted: findCondition(status?.conditions, 'Drifted')?.status === 'True',
    ...lastRunIn(status),
    observedAt: at,
  };
}

function consentIn({ existing, isWrittenAdopting }: ReadObject) {
  const adopts = isWrittenAdopting ?? existing?.spec.existingConfiguration === 'Adopt';
  return adopts ? { existingConfiguration: 'Adopt' as const } : {};
}

/** Returns the record of checks and agent runs. */
function lastRunIn({ applied = {}, lastInterfaceCheck }: NodeConfigStatus = {}) {
  // An apply verifies the node, and its record begins without a check.
  const appliedAt = applied.done ? applied.at : undefined;
  return optional({
    checkedAt: applied.checkedAt ?? appliedAt ?? lastInterfaceCheck,
    backend: applied.foundFamily ?? applied.family,
    agentVersion: applied.version,
  });
}

/** Returns the MultiNicNodeConfig's fields for single-node answers. */
export function objectOf(node: ExistingNodeConfig): NonNullable<NodeView['object']> {
  const { uid, generation, spec, status = {}, deletionTimestamp } = node;
  const { observedGeneration, observedSpecHash, conditions = [], lastJobName, applied } = status;
  return {
    uid,
    generation,
    ...optional({ observedGeneration, specHash: spec.specHash, observedSpecHash }),
    conditions,
    ...optional({ lastJobName, attempt: applied?.attempt }),
    deleting: deletionTimestamp !== undefined,
    ...removalsIn(status),
  };
}

/** Returns held NICs, and removals of the last hour. */
function removalsIn({ heldRemovals, applied }: NodeConfigStatus) {
  const { code, macs = [], since } = heldRemovals ?? {};
  const held = macs.length === 0 ? undefined : { macs, ...optional({ code, since }) };
  const removed = applied?.removed?.flatMap(({ mac, basis, at }) => (at ? { mac, basis, at } : []));
  return optional({ heldRemovals: held, removed: removed?.length ? removed : undefined });
}

type State = Pick<NodeView, 'state' | 'ready' | 'reason' | 'message' | 'since'>;

const unknown: State = { state: 'Unknown', ready: 'Unknown', reason: '', message: '' };

const missing = 'the business cluster has no MultiNicNodeConfig of this node';
const justWritten = 'the MultiNicNodeConfig was created by this sync and has no status yet';

function stateOf({ existing, unreadable, writtenGeneration }: ReadObject): State {
  if (existing === undefined) {
    const absent = writtenGeneration === undefined ? missing : justWritten;
    return { ...unknown, message: unreadable ?? absent };
  }
  if (existing.deletionTimestamp !== undefined) {
    return { ...unknown, message: 'the MultiNicNodeConfig is being deleted' };
  }
  const { status } = existing;
  if (status?.state === undefined) {
    return { ...unknown, message: 'the business cluster reports no status of this node' };
  }
  const generation = writtenGeneration ?? existing.generation;
  if (status.observedGeneration !== generation) {
    const message = `the controller has not processed generation ${generation} yet`;
    return { ...unknown, state: 'Pending', message };
  }
  return { state: status.state, ...readyOf(status) };
}

function readyOf({ conditions }: NodeConfigStatus): Omit<State, 'state'> {
  const ready = findCondition(conditions, 'Ready');
  const since = optional({ since: ready?.lastTransitionTime });
  if (ready?.status === 'True') {
    const { reason, message } = driftIn(conditions);
    const texts = [message, warningsIn(ready.message)].filter((text) => text !== '');
    return { ready: 'True', reason, message: texts.join('; '), ...since };
  }
  const { status = 'Unknown', reason = '', message = '' } = ready ?? {};
  return { ready: status, reason, message, ...since };
}

/** Returns the agent's warnings in a ready node's message; empty: none. */
function warningsIn(message = ''): string {
  const at = message.lastIndexOf('warnings: ');
  return at === -1 ? '' : message.slice(at);
}

/** Returns drift, the only possible reason for a ready node. */
function driftIn(conditions: NodeConfigStatus['conditions']): Pick<State, 'reason' | 'message'> {
  const drifted = findCondition(conditions, 'Drifted');
  if (drifted?.status !== 'True') return { reason: '', message: '' };
  return { reason: 'Drifted', message: drifted.message ?? '' };
}

type NicState = Pick<
  NicView,
  'state' | 'reason' | 'message' | 'code' | 'args' | 'carrier' | 'found' | 'changedAt' | 'checkedAt'
>;

function nicStateOf(nic: PlannedNic, existing: ExistingNodeConfig | undefined): NicState {
  if (existing?.status?.state === undefined) return { state: 'Unknown', reason: '', message: '' };
  const isSent = existing.spec.interfaces?.some((entry) => isSameNic(entry, nic)) === true;
  const status = isSent
    ? existing.status.interfaceStatuses?.find((entry) => isSameNic(entry, nic))
    : undefined;
  if (status === undefined) {
    return { state: isSent ? 'Unknown' : 'Pending', reason: '', message: '' };
  }
  const {
    status: state = 'Unknown',
    lastUpdated: changedAt,
    lastChecked: checkedAt,
    carrier,
    found,
  } = status;
  return { state, ...reasonOf(status), ...optional({ carrier, found, changedAt, checkedAt }) };
}

/** Returns no reason for a healthy NIC: `Configured` is already the state. */
function reasonOf({ reason = '', message = '', code, args }: InterfaceStatus) {
  if (reason === 'Configured') return { reason: '', message: '' };
  return { reason, message, ...optional({ code, args }) };
}

function isSameNic(
  entry: { readonly portId?: string | undefined; readonly macAddress?: string | undefined },
  { portId, macAddress }: PlannedNic,
): boolean {
  if (entry.portId && portId) return entry.portId.toLowerCase() === portId;
  return entry.macAddress?.toLowerCase() === macAddress;
}

/** Returns the entry's addresses as ip/prefix. */
export function addressesOf({ addresses, address, cidr }: InterfaceSpec): string[] {
  if (addresses !== undefined && addresses.length > 0) return [...addresses];
  if (address === undefined) return [];
  const prefix = cidr === undefined ? hostPrefix(familyOf(address)) : prefixOf(cidr);
  return [`${address}/${prefix}`];
}
