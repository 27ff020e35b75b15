import type { JobRequest, RequestInterface } from '../../api/job.ts';
import { maxIndex } from '../../api/names.ts';
import { linkOf, nicOf, twinsText } from '../identity.ts';
import type { Link, Snapshot } from '../snapshot.ts';
import type { AdoptedConfig, AgentState, NicRecord } from '../state.ts';
import { type Adoptable, adoptableNic, endedIds, withAdoption } from './adoption.ts';
import { unattainable } from './attainable.ts';
import type { Backend } from './backend.ts';
import { addressConflicts, blockedIndexes, pathConflict, slotConflicts } from './conflict.ts';
import { type DesiredNic, desiredNic, sharedRoutes, tableRoutes } from './desired.ts';
import { entryProblem } from './entry-problem.ts';
import { claimed, withFile } from './file-claims.ts';
import { blockedRecords } from './obsolete.ts';
import { allOf, keysOf, ownedBy, recordOf, withoutReassignedRules } from './ownership.ts';
import {
  changedMac,
  firstRefusal,
  permission,
  type Refusal,
  type RefusalFacts,
  unusable,
  unwritable,
  type WantedNic,
} from './refusals.ts';
import type { Bus } from './takeover.ts';
import type { RefusedNic } from './unit.ts';

export interface PlanInput {
  readonly request: JobRequest;
  readonly state: AgentState;
  readonly host: Snapshot;
  readonly backend: Backend;
  readonly bootId: string;
  /** Refusals by MAC for NICs with an unfinished earlier change: such NICs stay unchanged whatever the request. */
  readonly inHand?: ReadonlyMap<string, Refusal>;
  /** The system bus of the host; undefined: missing. */
  readonly bus?: Bus;
  /** Unicast MACs received by a removed NIC's link, by the NIC's MAC. */
  readonly receives?: ReadonlyMap<string, readonly string[]>;
}

/** NIC present on the host, safe to touch, and configurable as requested. */
export interface Candidate extends WantedNic {
  readonly entry: RequestInterface;
  /** Set if this managed NIC must not be changed: a correct NIC passes, a change is refused. */
  readonly untouchable?: Refusal;
}

/** Returns a candidate or a refusal for each request entry. */
export function candidatesOf(input: PlanInput) {
  const { request, state, host, inHand } = input;
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
  const blocked = blockedRecords(input);
  const waitForSlot = slotConflicts(valid, records, blocked, host);
  const waitForAddress = addressConflicts(valid, blocked, host);
  const occupied = state.nics.filter(({ mac }) => !macs.has(mac)).map(({ index }) => index);
  const indexes = assignIndexes(
    valid.filter((entry) => !waitForSlot.has(entry)),
    records,
    [...occupied, ...blockedIndexes(blocked, host)],
  );
  const found: Candidate[] = [];
  const refused: RefusedNic[] = [];
  for (const entry of entries) {
    const problem = problems.get(entry);
    const candidate: Candidate | Refusal = problem
      ? { reason: 'InvalidEntry', message: problem }
      : (inHand?.get(entry.mac) ??
        waitForSlot.get(entry) ??
        waitForAddress.get(entry) ??
        candidateOf(input, entry, {
          record: records.get(entry.mac),
          index: indexes.get(entry.mac),
          blocked,
        }));
    if ('link' in candidate) found.push(candidate);
    else refused.push(refusedNic(host, entry, candidate));
  }
  const managed = [...state.nics, ...blocked];
  const site = siteOf(input, [...managed, ...records.values()]);
  const { accepted, refused: others } = attainable(found, site);
  const nics = [...managed, ...accepted.map(({ desired }) => desired)];
  const candidates = accepted.map((candidate) => {
    const belongings = withoutReassignedRules(candidate.entry.mac, candidate.belongings, nics);
    return { ...candidate, belongings };
  });
  return { candidates, refused: [...refused, ...others] };
}

function siteOf({ host, request }: PlanInput, records: readonly NicRecord[]): RefusalFacts {
  const { protectedAddresses, clusterNetworks } = request;
  return { host, protectedAddresses, clusterNetworks, records, accepted: [] };
}

/** Record and index of an entry's NIC, and NICs that stay without an entry. */
interface Assignment {
  readonly record: NicRecord | undefined;
  readonly index: number | undefined;
  readonly blocked: readonly NicRecord[];
}

function candidateOf(
  input: PlanInput,
  entry: RequestInterface,
  { record, index, blocked }: Assignment,
): Candidate | Refusal {
  const { host, backend, request, state } = input;
  const link = linkInReach(input, entry.mac);
  if ('reason' in link) return link;
  if (index === undefined)
    return { reason: 'InvalidEntry', message: 'all 10 NIC names of the node are in use' };
  const presentCidrs = host.addresses
    .filter((item) => item.link === link.name)
    .map(({ cidr }) => cidr);
  const desired = desiredNic(entry, index, link, presentCidrs);
  const owned = ownedBefore(desired, record, host);
  const belongings = allOf([keysOf({ ...desired, routes: sharedRoutes(desired) }), owned]);
  const known = record ? { record } : {};
  const { protectedAddresses } = request;
  const site: RefusalFacts = {
    host,
    protectedAddresses,
    records: state.nics,
    blocked,
    accepted: [],
  };
  const unadopted = { link, owned, ...known, belongings, desired, paths: [] };
  const adoptable = adoptableNic(unadopted, { ...site, backend, requested: request.interfaces });
  const nic = withPaths(adopted(unadopted, adoptable, input), backend);
  const problem = firstRefusal<WantedNic>([...unusable, changedMac, pathConflict], nic, site);
  if (problem) return problem;
  const found = firstRefusal<WantedNic>([...permission, unwritable, claimed], nic, site);
  const refused = withAdoption(withFile(found, nic, host), adoptable, request);
  const settled = record !== undefined && link.name === desired.name;
  if (refused && !settled) return refused;
  return { entry, ...nic, ...(refused ? { untouchable: refused } : {}) };
}

/**
 * Returns the NIC with the foreign configuration to take over: by consent, or since an earlier run. An objection to further
 * configuration ends no adoption: the files of an adopted NIC stay as they are.
 */
function adopted(
  nic: WantedNic,
  adoptable: Adoptable | undefined,
  { request, host }: Pick<PlanInput, 'request' | 'host'>,
): WantedNic {
  if (!adoptable) return nic;
  const isPermitted =
    'takeover' in adoptable && (adoptable.isKnown || request.existingConfiguration === 'Adopt');
  if (!isPermitted) return withAdopted(nic, nic.record?.adopted, host);
  const { takeover } = adoptable;
  const { owned } = takeover;
  return {
    ...withAdopted(nic, takeover.adopted, host),
    takeover,
    owned: allOf([nic.owned, owned]),
    belongings: allOf([nic.belongings, owned]),
  };
}

function withAdopted(
  nic: WantedNic,
  stanzas: readonly AdoptedConfig[] | undefined,
  host: Snapshot,
): WantedNic {
  if (!stanzas) return nic;
  return { ...nic, desired: { ...nic.desired, adopted: endedIds(nic, stanzas, host) } };
}

function withPaths(nic: WantedNic, backend: Backend): WantedNic {
  const { companions, main, interim = [] } = backend.render(nic.desired);
  return { ...nic, paths: [main, ...companions, ...interim].map(({ path }) => path) };
}

/** Returns ownership keys. Records by earlier agents lack the routes of the NIC's table: the request supplies them. */
function ownedBefore(desired: DesiredNic, record: NicRecord | undefined, host: Snapshot) {
  const complete = record && { tableRoutes: tableRoutes(desired), ...record };
  return ownedBy(desired.mac, complete, host);
}

/**
 * Refuses candidates the host rules out. A refused NIC keeps name and addresses, which may block further candidates:
 * repeats until stable.
 */
function attainable(candidates: readonly Candidate[], site: RefusalFacts) {
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

/** Returns the only link with this MAC, or why no link is usable. */
export function onlyLink(host: Pick<Snapshot, 'links'>, mac: string): Link | Refusal {
  const found = nicOf(host, mac);
  if (found.count === 'one') return found.link;
  return found.count === 'none'
    ? { reason: 'WaitingForNIC', message: `no link has the MAC ${mac} yet` }
    : { reason: 'DuplicateMAC', message: twinsText(found.links, mac) };
}

/** Returns the only link with this MAC, unless an unfinished change blocks the NIC. */
export function linkInReach({ host, inHand }: PlanInput, mac: string): Link | Refusal {
  return inHand?.get(mac) ?? onlyLink(host, mac);
}

/** Returns a refusal with the NIC's current name. */
export function refusedNic(host: Snapshot, entry: RequestInterface, refusal: Refusal): RefusedNic {
  const { mac, index, portId } = entry;
  const name = linkOf(host, mac)?.name ?? '';
  return { target: { mac, index, ...(portId ? { portId } : {}) }, name, refusal };
}

/**
 * Assigns an index, and thereby name, table and priority, to each entry's NIC, by MAC. A managed NIC keeps the recorded
 * index whatever the request says: callers numbering by MAC order would rename live NICs whenever a port comes or goes.
 * New NICs get the requested index or the lowest free index; none if all ten are taken.
 */
export function assignIndexes(
  entries: readonly RequestInterface[],
  records: ReadonlyMap<string, NicRecord>,
  occupied: readonly number[],
): Map<string, number> {
  const taken = new Set(occupied);
  const assigned = new Map<string, number>();
  const assign = (mac: string, index: number | undefined): void => {
    if (index === undefined || taken.has(index) || assigned.has(mac)) return;
    taken.add(index);
    assigned.set(mac, index);
  };
  for (const { mac } of entries) assign(mac, records.get(mac)?.index);
  for (const { mac, index } of entries) assign(mac, index);
  for (const { mac } of entries) {
    assign(
      mac,
      Array.from({ length: maxIndex + 1 }, (_, index) => index).find((index) => !taken.has(index)),
    );
  }
  return assigned;
}
