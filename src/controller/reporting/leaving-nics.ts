import type { JobResult, NicResult } from '../../api/job.ts';
import type { InterfaceStatus } from '../../api/multinicnodeconfig.ts';
import type { Entry } from '../accept.ts';
import { isOpen } from '../results/outcome.ts';
import { defined, type NicIdentity, nicStatus, sameMac } from './nic-status.ts';
import type { NicWord } from './nic-word.ts';

export interface Leaving {
  readonly entries: readonly Entry[];
  readonly previous: readonly InterfaceStatus[];
  /** What an agent that worked on the node has just reported. */
  readonly result: JobResult | undefined;
  readonly now: Date;
  readonly seenAt: Date | undefined;
}

const leaves: NicWord = {
  status: 'InProgress',
  reason: 'SpecChanged',
  message: 'is not in the spec any more and leaves the node',
};

/**
 * NICs that the spec has no more. Each stays in the status, and its index stays taken, until the agent reports it removed
 * or does not know it any more.
 */
export function leavingNics(leaving: Leaving): InterfaceStatus[] {
  const { entries, previous, result, now, seenAt } = leaving;
  const wanted = new Set(entries.flatMap(({ mac }) => mac ?? []));
  const gone = previous.filter(({ macAddress = '' }) => !wanted.has(macAddress.toLowerCase()));
  const listed = result?.nics.filter(({ mac }) => !wanted.has(mac.toLowerCase())) ?? [];
  const unheard = gone.filter(
    ({ macAddress }) => !listed.some(({ mac }) => sameMac(macAddress, mac)),
  );
  // An agent that reports that all is well would have said what it could not remove.
  const stay = result?.outcome === 'ok' ? [] : unheard;
  const stuck = listed.filter(isOpen).map((nic) => {
    const before = gone.find(({ macAddress }) => sameMac(macAddress, nic.mac));
    const { reason, message } = nic;
    return nicStatus(
      identityOf(nic, before),
      { status: 'Failed', reason, message },
      { before, now, seenAt },
    );
  });
  return [...stay.map((before) => waiting(before, now)), ...stuck];
}

/** What an agent could not remove keeps its word; the rest is on its way. */
function waiting(before: InterfaceStatus, now: Date): InterfaceStatus {
  const { interfaceIndex, name, id, portId, macAddress, address, cidr, mtu } = before;
  if (before.status === 'Failed' && interfaceIndex === undefined) return before;
  const nic = defined({ name, id, portId, macAddress, address, cidr, mtu });
  return nicStatus(nic, leaves, { before, now });
}

function identityOf(nic: NicResult, before: InterfaceStatus | undefined): NicIdentity {
  const { address, cidr, mtu, portId = nic.portId } = before ?? {};
  const name = nic.name || before?.name;
  return defined({ name, id: nic.index, portId, macAddress: nic.mac, address, cidr, mtu });
}
