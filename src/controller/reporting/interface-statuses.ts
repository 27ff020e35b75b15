import type { JobResult } from '../../api/job.ts';
import { type InterfaceStatus, maxInterfaceStatuses } from '../../api/multinicnodeconfig.ts';
import { interfaceName } from '../../api/names.ts';
import { canonicalJson } from '../../api/spec-hash.ts';
import type { Entry } from '../accept.ts';
import { leavingNics } from './leaving-nics.ts';
import { defined, type NicIdentity, nicStatus, sameMac } from './nic-status.ts';
import { agentWord, type NicWord, wordWithout } from './nic-word.ts';
import type { Situation } from './situation.ts';

export interface Nics {
  readonly entries: readonly Entry[];
  readonly situation: Situation;
  readonly previous: readonly InterfaceStatus[];
  readonly now: Date;
}

/** One status per entry of the spec, then those of NICs that are to go and are not gone for certain. */
export function interfaceStatuses({ entries, situation, previous, now }: Nics): InterfaceStatus[] {
  const result = reportIn(situation);
  const seenAt = situation.kind === 'ended' ? situation.at : undefined;
  const wanted = entries.map((entry) => {
    const before = previous.find(({ macAddress }) => sameMac(macAddress, entry.mac));
    const nic = result?.nics.find(
      ({ mac, state }) => sameMac(mac, entry.mac) && state !== 'Removed',
    );
    const identity = identityOf(entry, nic?.name || before?.name);
    return nic && entry.rejection === undefined
      ? nicStatus(identity, agentWord(nic), { before, now, seenAt })
      : unheard(entry, { identity, before, situation, now });
  });
  const leaving = leavingNics({ entries, previous, result, now, seenAt });
  // Those that have been leaving longest are last: without room for them nothing at all could be told any more.
  return [...wanted, ...leaving].slice(0, maxInterfaceStatuses);
}

interface Unheard {
  readonly identity: NicIdentity;
  readonly before: InterfaceStatus | undefined;
  readonly situation: Situation;
  readonly now: Date;
}

/** The status of a NIC that no agent has just spoken about. */
function unheard({ rejection }: Entry, { identity, before, situation, now }: Unheard) {
  if (rejection !== undefined) return nicStatus(identity, invalid(rejection), { before, now });
  const sameWish = before && wish(before) === wish(identity) ? before : undefined;
  if (sameWish && situation.kind === 'recorded') return sameWish;
  return nicStatus(identity, wordWithout(situation, sameWish), { before, now });
}

/** What an agent has just reported. */
function reportIn(situation: Situation): JobResult | undefined {
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  return verdict?.kind === 'result' ? verdict.result : undefined;
}

/** The NIC as the spec has it, under the name that it really has. */
function identityOf({ shown, position, mac, index }: Entry, realName?: string): NicIdentity {
  const { portId, address, cidr, mtu } = shown;
  const name = realName ?? (index === undefined ? undefined : interfaceName(index));
  return defined({
    name,
    interfaceIndex: position,
    id: index,
    portId,
    macAddress: mac,
    address,
    cidr,
    mtu,
  });
}

function invalid(message: string): NicWord {
  return { status: 'Failed', reason: 'InvalidEntry', message };
}

function wish({ id, macAddress, address, cidr, mtu }: NicIdentity): string {
  return canonicalJson({ id, macAddress, address, cidr, mtu });
}
