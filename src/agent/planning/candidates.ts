import type { JobRequest, RequestInterface } from '../../api/job.ts';
import type { Backend } from '../backends/backend.ts';
import type { Host, Link } from '../host.ts';
import type { HostState, NicRecord } from '../state.ts';
import { desiredNic } from './desired.ts';
import { entryProblem } from './entry.ts';
import { assignIndexes } from './indexes.ts';
import { ipOf } from './ipv4.ts';
import { linksWithMac } from './links.ts';
import { ownedBy, recordOf } from './ownership.ts';
import { inUse, unattainable, untouchable } from './refuse/checks.ts';
import { firstRefusal, type Refusal, type Site, type WantedNic } from './refuse/refusal.ts';
import type { RefusedNic } from './unit.ts';

export interface PlanInput {
  readonly request: JobRequest;
  readonly state: HostState;
  readonly host: Host;
  readonly backend: Backend;
  readonly bootId: string;
  /** NICs, by MAC, that must stay as they are, whatever is asked for: an earlier change of theirs has not ended. */
  readonly inHand?: ReadonlyMap<string, Refusal>;
}

/** A NIC that is on the host, may be touched, and can be what the request asks for. */
export interface Candidate extends WantedNic {
  readonly entry: RequestInterface;
  /** Set when others use a NIC of ours: it may stay as it is, but not be changed. */
  readonly inUse?: Refusal;
}

/** Each entry of the request: a candidate, or why not. */
export function candidatesOf(input: PlanInput) {
  const { request, state, host } = input;
  const entries = request.interfaces;
  const problems = new Map(entries.map((entry) => [entry, entryProblem(entry, entries)]));
  const valid = entries.filter((entry) => problems.get(entry) === undefined);
  const records = new Map(
    valid.flatMap((entry) => {
      const record = recordOf(entry.mac, entry, state, host);
      return record ? [[entry.mac, record] as const] : [];
    }),
  );
  const macs = new Set(valid.map(({ mac }) => mac));
  const occupied = state.nics.filter(({ mac }) => !macs.has(mac)).map(({ index }) => index);
  const indexes = assignIndexes(valid, records, occupied);
  const found: Candidate[] = [];
  const refused: RefusedNic[] = [];
  for (const entry of entries) {
    const problem = problems.get(entry);
    const candidate: Candidate | Refusal = problem
      ? { reason: 'InvalidEntry', message: problem }
      : candidateOf(input, entry, records.get(entry.mac), indexes.get(entry.mac));
    if ('link' in candidate) found.push(candidate);
    else refused.push(refusedNic(host, entry, candidate));
  }
  const site = siteOf(input, [...state.nics, ...records.values()]);
  const { accepted, refused: others } = attainable(found, site);
  return { candidates: accepted, refused: [...refused, ...others] };
}

function siteOf({ host, request }: PlanInput, records: readonly NicRecord[]): Site {
  return { host, protectedAddresses: request.protectedAddresses, records, accepted: [] };
}

function candidateOf(
  input: PlanInput,
  entry: RequestInterface,
  record: NicRecord | undefined,
  index: number | undefined,
): Candidate | Refusal {
  const { host, backend, request, state } = input;
  const link = linkInReach(input, entry.mac);
  if ('reason' in link) return link;
  if (index === undefined) return { reason: 'InvalidEntry', message: 'all ten names are taken' };
  const there = host.addresses.filter((item) => item.link === link.name).map(({ cidr }) => cidr);
  const desired = desiredNic(entry, index, link, there);
  const owned = ownedBy(entry.mac, record, host);
  const belongings = {
    tables: [...new Set([desired.table, ...owned.tables])],
    ips: [...new Set([...desired.addresses.map(ipOf), ...owned.ips])],
  };
  const known = record ? { record } : {};
  const nic = { link, owned, ...known, belongings, desired, path: backend.render(desired).path };
  const { protectedAddresses } = request;
  const site: Site = { host, protectedAddresses, records: state.nics, accepted: [] };
  const never = firstRefusal(untouchable, nic, site);
  if (never) return never;
  const used = firstRefusal(inUse, nic, site);
  const settled = record !== undefined && link.name === desired.name;
  if (used && !settled) return used;
  return { entry, ...nic, ...(used ? { inUse: used } : {}) };
}

/**
 * Refuses those that cannot be what is asked for. One that is refused keeps what it has, its name and its addresses, so
 * others may follow it.
 */
function attainable(candidates: readonly Candidate[], site: Site) {
  const refused: RefusedNic[] = [];
  for (let accepted = candidates; ; ) {
    const blocked = new Map(
      accepted.flatMap((candidate) => {
        const found = firstRefusal(unattainable, candidate, { ...site, accepted });
        return found ? [[candidate, found] as const] : [];
      }),
    );
    if (blocked.size === 0) return { accepted, refused };
    for (const [{ entry }, found] of blocked) refused.push(refusedNic(site.host, entry, found));
    accepted = accepted.filter((candidate) => !blocked.has(candidate));
  }
}

/** The one link with this MAC, or why there is none to work on. */
export function onlyLink(host: Pick<Host, 'links'>, mac: string): Link | Refusal {
  const [link, second] = linksWithMac(host, mac);
  if (!link) return { reason: 'WaitingForNIC', message: `no link has the MAC ${mac} yet` };
  if (!second) return link;
  return { reason: 'DuplicateMAC', message: `${link.name} and ${second.name} have the MAC ${mac}` };
}

/** The one link with this MAC that a plan may have to do with, or why there is none. */
export function linkInReach({ host, inHand }: PlanInput, mac: string): Link | Refusal {
  return inHand?.get(mac) ?? onlyLink(host, mac);
}

/** A refusal with the name that the NIC has at present. */
export function refusedNic(host: Host, entry: RequestInterface, refusal: Refusal): RefusedNic {
  const { mac, index, portId } = entry;
  const name = linksWithMac(host, mac)[0]?.name ?? '';
  return { target: { mac, index, ...(portId ? { portId } : {}) }, name, refusal };
}
