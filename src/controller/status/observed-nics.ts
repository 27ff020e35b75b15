import { type NicResult, nicReasonIn } from '../../api/job.ts';
import { type InterfaceStatus, maxInterfaceStatuses } from '../../api/multinicnodeconfig.ts';
import { isSameJson } from '../../api/same-json.ts';
import type { Entry } from '../jobs/request.ts';
import type { Nics } from './interface-statuses.ts';
import {
  checkedStatus,
  defined,
  findingOf,
  identityOf,
  type NicIdentity,
  type NicState,
  nicStatus,
  previousOf,
  requestedFields,
  type Stamp,
  sameMac,
  unremovedNic,
} from './nic-status.ts';
import type { RunPhase } from './run-phase.ts';

/** NICs of an object in mode Observe. */
export interface ObservedNics extends Omit<Nics, 'held' | 'heldNics'> {
  /** MACs configured by agent runs for this object, in lower case. */
  readonly managed: ReadonlySet<string>;
}

/**
 * Returns the statuses in mode Observe. A NIC configured by MultiNIC as requested is `Configured`; every other NIC is
 * `Observed`, because nothing is applied.
 */
export function observedStatuses(nics: ObservedNics): InterfaceStatus[] {
  const wanted = nics.entries.map((entry) => wantedNic(entry, nics));
  return [...wanted, ...unlistedNics(nics)].slice(0, maxInterfaceStatuses);
}

/** Results from an agent's new report. */
interface Findings {
  readonly nics: readonly NicResult[];
  readonly at: Date;
  /** True if the agent lists all its NICs on the host. */
  readonly isComplete: boolean;
  /** MACs managed by MultiNIC on the host; undefined: not reported. */
  readonly managed: ReadonlySet<string> | undefined;
}

function findingsIn(situation: RunPhase): Findings | undefined {
  if (situation.kind === 'recorded' && situation.check) {
    const { nics, known, at } = situation.check;
    const managed = known && new Set(known.map(({ mac }) => mac.toLowerCase()));
    return { nics, at, isComplete: true, managed };
  }
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  if (situation.kind !== 'ended' || verdict?.kind !== 'result') return undefined;
  const { nics, outcome } = verdict.result;
  const macs = nics.map(({ mac }) => mac.toLowerCase());
  return { nics, at: situation.at, isComplete: outcome === 'ok', managed: new Set(macs) };
}

function wantedNic(entry: Entry, nics: ObservedNics): InterfaceStatus {
  const { situation, previous, now } = nics;
  const before = previousOf(entry, previous);
  const findings = findingsIn(situation);
  const found = findings?.nics.find((nic) => isFound(nic) && sameMac(nic.mac, entry.mac));
  const nic = identityOf(entry, found?.name || before?.name);
  const stamp = { before, now };
  if (entry.rejection !== undefined) {
    return nicStatus(nic, seen('InvalidEntry', entry.rejection), stamp);
  }
  if (!findings || !found) return withoutFinding(nic, stamp);
  const managed = findings.managed ?? nics.managed;
  const state = stateFound(found, managed.has(found.mac.toLowerCase()));
  return checkedStatus(nicStatus(nic, state, stamp), found, findings.at);
}

function isFound({ state }: NicResult): boolean {
  return state !== 'Removed';
}

/** Returns the status for a NIC without a new finding; an earlier finding is valid for the same request. */
function withoutFinding(nic: NicIdentity, stamp: Stamp): InterfaceStatus {
  const { before } = stamp;
  if (!before || !isSameJson(requestedFields(before), requestedFields(nic))) {
    return nicStatus(nic, notChecked, stamp);
  }
  if (before.status === 'Configured') {
    return { ...before, ...defined({ interfaceIndex: nic.interfaceIndex }) };
  }
  return nicStatus(nic, earlierFinding(before) ?? notChecked, stamp);
}

function stateFound(found: NicResult, isManaged: boolean): NicState {
  if (found.state !== 'Configured') return findingOf(found, 'Observed');
  if (isManaged) return findingOf(found, 'Configured');
  const { reason, message } = seen('Observed', 'is as requested, but not configured by MultiNIC');
  return { ...findingOf(found, 'Observed'), reason, message };
}

/** Returns an agent's earlier finding, from either mode; undefined: none. */
function earlierFinding(before: InterfaceStatus): NicState | undefined {
  const { message = '', code, args, found } = before;
  const reason = before.reason === 'Observed' ? before.reason : nicReasonOf(before);
  return reason && { ...seen(reason, message), code, args, found };
}

function nicReasonOf({ reason }: InterfaceStatus) {
  return reason === 'InvalidEntry' ? undefined : nicReasonIn(reason);
}

function seen(reason: NicState['reason'], message: string): NicState {
  return { status: 'Observed', reason, message };
}

const notChecked = seen('Observed', 'is not checked yet');

/** Returns the statuses for NICs without an entry in the spec: these NICs stay on the node. */
function unlistedNics({ entries, situation, previous, now }: ObservedNics): InterfaceStatus[] {
  const wanted = new Set(entries.flatMap(({ mac }) => mac ?? []));
  const isUnlisted = (mac: string) => !wanted.has(mac.toLowerCase());
  const findings = findingsIn(situation);
  const listed = (findings?.nics ?? []).filter((nic) => isFound(nic) && isUnlisted(nic.mac));
  const known = previous.filter(({ macAddress }) => macAddress && isUnlisted(macAddress));
  const omitted = known.filter(({ macAddress }) =>
    listed.every(({ mac }) => !sameMac(mac, macAddress)),
  );
  return [
    ...(findings?.isComplete ? [] : omitted.map((before) => staying(before, now))),
    ...listed.map((nic) => {
      const before = known.find(({ macAddress }) => sameMac(macAddress, nic.mac));
      return nicStatus(unremovedNic(nic, before), findingOf(nic, 'Observed'), { before, now });
    }),
  ];
}

function staying(before: InterfaceStatus, now: Date): InterfaceStatus {
  const { name, id, portId, macAddress, address, addresses, cidr, mtu, interfaceIndex } = before;
  if (before.status === 'Observed' && interfaceIndex === undefined) return before;
  const nic = { name, id, portId, macAddress, address, addresses, cidr, mtu };
  const state = seen('Observed', 'is not in the spec, and stays on the node');
  return nicStatus(nic, state, { before, now });
}
