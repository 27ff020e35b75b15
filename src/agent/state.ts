import { createHash } from 'node:crypto';
import * as z from 'zod';
import { type Fence, fence, type JobRequest } from '../api/job.ts';
import { type Settings, settingKeys } from './snapshot.ts';

/** Link settings, including the form earlier versions used for their only setting. */
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

/** Key fields for recognising a route. */
const sharedRoute = z.object({ to: z.string(), table: z.int(), metric: z.int() });

/**
 * Ownership keys for everything set for a NIC and possibly still on the host. Looking up a key decides whether an
 * address, route or rule is managed. All routes in the NIC's own tables are managed.
 */
export const ownership = z.object({
  /** The NIC's own tables. */
  tables: z.array(z.int()),
  /** Addresses, without prefix. */
  ips: z.array(z.string()),
  /** Keys for routes in shared tables; version 1 journals have none. */
  routes: z.array(z.string()).default([]),
  /** Rule keys. */
  rules: z.array(z.string()),
});

export type Ownership = Readonly<z.infer<typeof ownership>>;

/** NIC state from before the agent managed the NIC. */
const originalNic = z
  .object({
    mtu: z.int(),
    up: z.boolean(),
    addrGenMode: z.string().exactOptional(),
    ...formerSettings,
  })
  .transform(withFormerSettings);

/** Foreign configuration of a NIC taken over by consent. */
const adoptedConfig = z.object({
  path: z.string(),
  /** Stanza or profile in the file. */
  id: z.string(),
  /** Digest of the file when taken over. */
  sha256: z.string(),
  mode: z.int(),
  /** `uid:gid`; absent for an unchanged file. */
  owner: z.string().exactOptional(),
  /** Numbers of lines turned into comments; absent for an unchanged file. */
  lines: z.array(z.int()).exactOptional(),
});

export type AdoptedConfig = z.infer<typeof adoptedConfig>;

/** NIC state: the agent's record for a configured NIC. Without a record nothing on the NIC is managed. */
export const nicRecord = z.object({
  mac: z.string(),
  index: z.int().min(0).max(9),
  /** Name before the agent managed the NIC; empty if unknown. */
  originalName: z.string(),
  /** Configured addresses, as `ip/prefix`. */
  addresses: z.array(z.string()),
  table: z.int(),
  priority: z.int(),
  /** Routes in shared tables; absent if none. */
  routes: z.array(sharedRoute).exactOptional(),
  /** Routes in the NIC's own table, to recognise copies in main; absent if none, or in records by earlier agents. */
  tableRoutes: z
    .array(z.object({ to: z.string(), via: z.string().exactOptional() }))
    .exactOptional(),
  /** Boot files; the first file holds the addresses. */
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
  /** Absent in records by earlier agents; the fields above then supply the keys. */
  owned: ownership.exactOptional(),
  /** Absent for a NIC without foreign configuration. */
  adopted: z.array(adoptedConfig).exactOptional(),
  /** Boot in which only the files were adopted: until the next boot the link belongs to the network manager. */
  adoptedInBoot: z.string().exactOptional(),
  /** For the NIC's release; absent in version 1. */
  original: originalNic.exactOptional(),
  /** Managed configuration the network manager has held since this boot: the manager never rereads a file by itself. */
  boot: z
    .object({
      bootId: z.string(),
      addresses: z.array(z.string()),
      routes: z.array(sharedRoute).exactOptional(),
      /** Index of the link whose settings the agent has set since boot. */
      setUp: z.int().exactOptional(),
    })
    .exactOptional(),
});

export type NicRecord = z.infer<typeof nicRecord>;

/** Configuration the network manager holds for a NIC detached since boot, and sets when the NIC returns. */
const leftNic = z.object({
  mac: z.string(),
  index: z.int().min(0).max(9),
  bootId: z.string(),
  addresses: z.array(z.string()),
  routes: z.array(sharedRoute).exactOptional(),
  /** For a return in the same boot. */
  originalName: z.string().exactOptional(),
  original: originalNic.exactOptional(),
});

const stateVersion = 3;
/** Readable versions; each next version only adds fields. */
export const readableVersions = [1, 2, stateVersion] as const;
/** Number of replaced objects a host remembers; older objects cannot have a Job left. */
const maxRetired = 16;

/** `/var/lib/multinic/state.json`. */
export const agentState = z.object({
  version: z.literal(readableVersions).transform(() => stateVersion),
  fence: fence.optional(),
  /** Uids of replaced objects, oldest first. */
  retiredUids: z.array(z.string()).max(maxRetired),
  nics: z.array(nicRecord),
  /** Earlier agents drop this field. */
  left: z.array(leftNic).exactOptional(),
});

export type AgentState = z.infer<typeof agentState>;

export const emptyState: AgentState = { version: stateVersion, retiredUids: [], nics: [] };

/** Returns the state after a host boot: the network manager now holds the files' content. */
export function atBoot(state: AgentState, bootId: string): AgentState {
  const nics = state.nics.map((nic) =>
    nic.boot?.bootId === bootId ? nic : { ...afterBoot(nic), boot: { bootId, ...givenTo(nic) } },
  );
  const { left = [], ...rest } = state;
  const held = left.filter((nic) => nic.bootId === bootId);
  return { ...rest, nics, ...(held.length > 0 ? { left: held } : {}) };
}

function afterBoot(nic: NicRecord): NicRecord {
  const { adoptedInBoot, ...rest } = nic;
  return adoptedInBoot === undefined ? nic : rest;
}

function givenTo({ addresses, routes }: NicRecord) {
  return { addresses, ...(routes ? { routes } : {}) };
}

/** Returns the state with `nic` in place of the record with the same MAC, in index order. */
export function withNic(state: AgentState, nic: NicRecord): AgentState {
  const nics = [...withoutNic(state, nic.mac).nics, nic];
  return { ...state, nics: nics.toSorted((a, b) => a.index - b.index) };
}

export function withoutNic(state: AgentState, mac: string): AgentState {
  return { ...state, nics: state.nics.filter((nic) => nic.mac !== mac) };
}

/** Number of detached NICs a host remembers. */
const maxLeft = 10;

/** Returns the state after the NIC was detached. */
export function stateAfterDetach(state: AgentState, mac: string): AgentState {
  const nic = heldAfterDetach(state.nics.find((each) => each.mac === mac));
  const rest = withoutNic(state, mac);
  if (!nic) return rest;
  // A record with another index means another table.
  const others = (state.left ?? []).filter((each) => each.mac !== mac || each.index !== nic.index);
  return { ...rest, left: [...others, nic].slice(-maxLeft) };
}

/** Returns configuration the network manager holds for the NIC; undefined if none. */
function heldAfterDetach(record: NicRecord | undefined): z.infer<typeof leftNic> | undefined {
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

/** Returns the state after seeing this object. A uid replaced by another is retired and never accepted again. */
export function advanceFence(state: AgentState, { uid, generation }: Fence): AgentState {
  const { fence: seen, retiredUids } = state;
  const others = retiredUids.filter((retiredUid) => retiredUid !== uid);
  const retired = seen && seen.uid !== uid ? [...others, seen.uid] : others;
  return { ...state, fence: { uid, generation }, retiredUids: retired.slice(-maxRetired) };
}

/**
 * Returns why a request is older than the host's fence; undefined if current. After an etcd restore the object itself
 * is older: its request then states exactly the host's fence.
 */
export function staleness(
  { fence: seen, retiredUids }: AgentState,
  { uid, generation, supersedes }: Fence & Pick<JobRequest, 'supersedes'>,
): string | undefined {
  if (sameFence(supersedes, seen)) return undefined;
  if (retiredUids.includes(uid))
    return `object ${uid} was replaced on this host by object ${seen?.uid ?? 'of unknown uid'}`;
  if (seen?.uid === uid && generation < seen.generation) {
    return `generation ${generation} is older than generation ${seen.generation}, which this host already has`;
  }
  return undefined;
}

function sameFence(a: Fence | undefined, b: Fence | undefined): boolean {
  return a !== undefined && a.uid === b?.uid && a.generation === b.generation;
}

/** Returns the text's SHA-256 digest, in hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
