import { createHash } from 'node:crypto';
import * as z from 'zod';
import { type Fence, fence, type JobRequest } from '../api/job.ts';
import { type Settings, settingKeys } from './snapshot.ts';

/** Settings of a link, and how earlier versions wrote the only one that they knew. */
export const formerSettings = {
  settings: z.partialRecord(z.enum(settingKeys), z.string()).default({}),
  acceptRa: z.string().exactOptional(),
};

export function withFormerSettings<T extends { settings: Settings; acceptRa?: string }>({
  acceptRa,
  ...rest
}: T): Omit<T, 'acceptRa'> {
  if (acceptRa === undefined) return rest;
  return { ...rest, settings: { ...rest.settings, 'ipv6.accept_ra': acceptRa } };
}

/** Enough of a route to know it again. */
const sharedRoute = z.object({ to: z.string(), table: z.int(), metric: z.int() });

/**
 * Everything that was set for a NIC and may still be on the host, by its keys. Whether an address, route or rule is ours is a look-up
 * here. All routes of a NIC in a table of its own are ours.
 */
export const ownership = z.object({
  /** Tables of its own. */
  tables: z.array(z.int()),
  /** Addresses, without prefix. */
  ips: z.array(z.string()),
  /** Keys of routes in tables that it shares with others; version 1 of a journal knew none. */
  routes: z.array(z.string()).default([]),
  /** Keys of rules. */
  rules: z.array(z.string()),
});

export type Ownership = Readonly<z.infer<typeof ownership>>;

/** What a NIC was like before it was ours. */
const originalNic = z
  .object({
    mtu: z.int(),
    up: z.boolean(),
    addrGenMode: z.string().exactOptional(),
    ...formerSettings,
  })
  .transform(withFormerSettings);

/** What the agent remembers of one NIC it configured: without it nothing on the NIC is ours. */
export const nicRecord = z.object({
  mac: z.string(),
  index: z.int().min(0).max(9),
  /** Name the NIC had before it was ours; empty when it is not known. */
  originalName: z.string(),
  /** `ip/prefix` of the addresses it was given. */
  addresses: z.array(z.string()),
  table: z.int(),
  priority: z.int(),
  /** Its routes in tables that it shares with others; absent where it has none. */
  routes: z.array(sharedRoute).exactOptional(),
  /** Files for the next boot; the first one holds the addresses. */
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
  /** Absent in records of earlier agents, which follows from the fields above then. */
  owned: ownership.exactOptional(),
  /** For when it leaves; version 1 did not know. */
  original: originalNic.exactOptional(),
  /** What of ours the network manager has held since this boot: it never reads a file again by itself. */
  boot: z
    .object({
      bootId: z.string(),
      addresses: z.array(z.string()),
      routes: z.array(sharedRoute).exactOptional(),
      /** Index of the link whose settings the agent has set since. */
      setUp: z.int().exactOptional(),
    })
    .exactOptional(),
});

export type NicRecord = z.infer<typeof nicRecord>;

/** What the network manager holds of a NIC that has left since the boot: it sets it when the NIC comes back. */
const leftNic = z.object({
  mac: z.string(),
  index: z.int().min(0).max(9),
  bootId: z.string(),
  addresses: z.array(z.string()),
  routes: z.array(sharedRoute).exactOptional(),
  /** For when it comes back in the same boot. */
  originalName: z.string().exactOptional(),
  original: originalNic.exactOptional(),
});

const stateVersion = 3;
/** Versions that can be read; each is what the next one is without its new fields. */
export const readableVersions = [1, 2, stateVersion] as const;
/** How many replaced objects a host remembers; older ones cannot have a Job left. */
const maxRetired = 16;

/** `/var/lib/multinic/state.json`. */
export const agentState = z.object({
  version: z.literal(readableVersions).transform(() => stateVersion),
  fence: fence.optional(),
  /** Uids of objects that others have replaced, oldest first. */
  retiredUids: z.array(z.string()).max(maxRetired),
  nics: z.array(nicRecord),
  /** An earlier agent drops it. */
  left: z.array(leftNic).exactOptional(),
});

export type AgentState = z.infer<typeof agentState>;

export const emptyState: AgentState = { version: stateVersion, retiredUids: [], nics: [] };

/** The state once the host has booted: what its files said then is what the network manager holds. */
export function atBoot(state: AgentState, bootId: string): AgentState {
  const nics = state.nics.map((nic) =>
    nic.boot?.bootId === bootId ? nic : { ...nic, boot: { bootId, ...givenTo(nic) } },
  );
  const { left = [], ...rest } = state;
  const held = left.filter((nic) => nic.bootId === bootId);
  return { ...rest, nics, ...(held.length > 0 ? { left: held } : {}) };
}

function givenTo({ addresses, routes }: NicRecord) {
  return { addresses, ...(routes ? { routes } : {}) };
}

/** The state of which `nic` is part: in place of the one with its MAC, in order of index. */
export function withNic(state: AgentState, nic: NicRecord): AgentState {
  const nics = [...withoutNic(state, nic.mac).nics, nic];
  return { ...state, nics: nics.toSorted((a, b) => a.index - b.index) };
}

export function withoutNic(state: AgentState, mac: string): AgentState {
  return { ...state, nics: state.nics.filter((nic) => nic.mac !== mac) };
}

/** NICs that a host remembers after they have left. */
const maxLeft = 10;

/** The state once the NIC has left the host. */
export function stateAfterDetach(state: AgentState, mac: string): AgentState {
  const nic = heldAfterLeaving(state.nics.find((each) => each.mac === mac));
  const rest = withoutNic(state, mac);
  if (!nic) return rest;
  // Under another number it had another table.
  const others = (state.left ?? []).filter((each) => each.mac !== mac || each.index !== nic.index);
  return { ...rest, left: [...others, nic].slice(-maxLeft) };
}

/** What the network manager holds of the NIC; undefined when that is nothing. */
function heldAfterLeaving(record: NicRecord | undefined): z.infer<typeof leftNic> | undefined {
  if (!record?.boot || record.boot.addresses.length === 0) return undefined;
  const { mac, index, originalName, original, boot } = record;
  const { bootId, addresses, routes } = boot;
  return {
    mac,
    index,
    bootId,
    addresses,
    ...(routes ? { routes } : {}),
    ...(originalName ? { originalName } : {}),
    ...(original ? { original } : {}),
  };
}

/**
 * The state after this object has been seen. A uid that another one replaces is retired and never accepted again.
 */
export function advanceFence(state: AgentState, { uid, generation }: Fence): AgentState {
  const { fence: seen, retiredUids } = state;
  const others = retiredUids.filter((retiredUid) => retiredUid !== uid);
  const retired = seen && seen.uid !== uid ? [...others, seen.uid] : others;
  return { ...state, fence: { uid, generation }, retiredUids: retired.slice(-maxRetired) };
}

/**
 * Why a request about this object is older than what the host has seen; undefined when it is not. After an etcd was
 * restored the object itself is older: its request then names exactly the state that the host has seen.
 */
export function staleness(
  { fence: seen, retiredUids }: AgentState,
  { uid, generation, supersedes }: Fence & Pick<JobRequest, 'supersedes'>,
): string | undefined {
  if (sameFence(supersedes, seen)) return undefined;
  if (retiredUids.includes(uid))
    return `object ${uid} was replaced on this host by ${seen?.uid ?? 'another'}`;
  if (seen?.uid === uid && generation < seen.generation) {
    return `generation ${generation} is older than ${seen.generation}, which this host has seen`;
  }
  return undefined;
}

function sameFence(a: Fence | undefined, b: Fence | undefined): boolean {
  return a !== undefined && a.uid === b?.uid && a.generation === b.generation;
}

/** Digest of a text, in hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
