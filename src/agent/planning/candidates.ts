import type { JobRequest, RequestInterface } from '../../api/job.ts';
import type { Backend } from '../backends/backend.ts';
import type { Host, Link } from '../host.ts';
import type { HostState, NicRecord } from '../state.ts';
import { type DesiredNic, desiredNic } from './desired.ts';
import { entryProblem } from './entry.ts';
import { refuseFiles } from './files.ts';
import { assignIndexes } from './indexes.ts';
import { ipOf } from './ipv4.ts';
import { linksWithMac } from './links.ts';
import { type Belongings, recordOf } from './ownership.ts';
import { type Refusal, refuseAddresses, refuseIndex, refuseInUse, refuseLink } from './refuse.ts';
import type { RefusedNic } from './unit.ts';

export interface PlanInput {
  readonly request: JobRequest;
  readonly state: HostState;
  readonly host: Host;
  readonly backend: Backend;
}

/** A NIC that is on the host, may be touched, and can be what the request asks for. */
export interface Candidate {
  readonly entry: RequestInterface;
  readonly link: Link;
  readonly record?: NicRecord;
  /** Set when others use a NIC of ours: it may stay as it is, but not be changed. */
  readonly inUse?: Refusal;
  readonly belongings: Belongings;
  readonly desired: DesiredNic;
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
  const candidates: Candidate[] = [];
  const refused: RefusedNic[] = [];
  for (const entry of entries) {
    const problem = problems.get(entry);
    const found: Candidate | Refusal = problem
      ? { reason: 'InvalidEntry', message: problem }
      : candidateOf(input, entry, records.get(entry.mac), indexes.get(entry.mac));
    if ('link' in found) candidates.push(found);
    else refused.push(refusedNic(host, entry, found));
  }
  return { candidates, refused };
}

function candidateOf(
  input: PlanInput,
  entry: RequestInterface,
  record: NicRecord | undefined,
  index: number | undefined,
): Candidate | Refusal {
  const { host } = input;
  const link = onlyLink(host, entry.mac);
  if ('reason' in link) return link;
  if (index === undefined) return { reason: 'InvalidEntry', message: 'all ten names are taken' };
  const there = host.addresses.filter((item) => item.link === link.name).map(({ cidr }) => cidr);
  const desired = desiredNic(entry, index, link, there);
  const belongings = belongingsOf(desired, record);
  const inUse = refuseInUse(host, link, record);
  const candidate: Candidate = {
    entry,
    link,
    ...(record ? { record } : {}),
    ...(inUse ? { inUse } : {}),
    belongings,
    desired,
  };
  return refuse(candidate, input) ?? candidate;
}

function refuse(candidate: Candidate, { request, host, backend }: PlanInput): Refusal | undefined {
  const { entry, link, record, inUse, belongings, desired } = candidate;
  const macs = new Set(request.interfaces.map(({ mac }) => mac));
  const links = new Set(host.links.filter(({ mac }) => macs.has(mac)).map(({ name }) => name));
  const { protectedAddresses } = request;
  const settled = record !== undefined && link.name === desired.name;
  return (
    refuseMtu(desired, link) ??
    refuseLink(host, link, record, protectedAddresses) ??
    (settled ? undefined : inUse) ??
    refuseIndex(host, link, desired.index, belongings) ??
    refuseAddresses(host, desired.addresses, links, protectedAddresses) ??
    refuseFiles(host, backend.render(desired).path, entry.mac, macs)
  );
}

/** The one link with this MAC, or why there is none to work on. */
export function onlyLink(host: Host, mac: string): Link | Refusal {
  const [link, second] = linksWithMac(host, mac);
  if (!link) return { reason: 'WaitingForNIC', message: `no link has the MAC ${mac} yet` };
  if (!second) return link;
  return { reason: 'DuplicateMAC', message: `${link.name} and ${second.name} have the MAC ${mac}` };
}

/** A refusal with the name that the NIC has at present. */
export function refusedNic(host: Host, entry: RequestInterface, refusal: Refusal): RefusedNic {
  const { mac, index, portId } = entry;
  const name = linksWithMac(host, mac)[0]?.name ?? '';
  return { target: { mac, index, ...(portId ? { portId } : {}) }, name, refusal };
}

function refuseMtu({ mtu }: DesiredNic, { name, maxMtu }: Link): Refusal | undefined {
  if (maxMtu === undefined || mtu <= maxMtu) return undefined;
  return {
    reason: 'InvalidEntry',
    message: `mtu ${mtu} is above ${maxMtu}, the most ${name} takes`,
  };
}

function belongingsOf({ table, addresses }: DesiredNic, record: NicRecord | undefined): Belongings {
  return {
    tables: [...new Set([table, record?.table ?? table])],
    ips: [...new Set([...addresses, ...(record?.addresses ?? [])].map(ipOf))],
  };
}
