import * as z from 'zod';
import { hostPrefix } from '../../api/address.ts';
import {
  type Address,
  type Link,
  type Neighbour,
  neighbourFlags,
  type Route,
  type Rule,
} from '../snapshot.ts';
import { RouteReader } from './routes.ts';

/** Kernel state as shown by `ip`, without settings. */
export interface KernelDump {
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
  /** IPv6 rules only on request: the kernel keeps the two families apart. */
  readonly rules: readonly Rule[];
  readonly neighbours: readonly Neighbour[];
}

/**
 * Queries for the whole kernel state; a single process answers all, as starting a process costs more than a query.
 * Routes and neighbours name their links, whose names may change meanwhile: both are read between `link show` and `addr
 * show`, which report index and name.
 */
export const questions = [
  'link show',
  'route show table all',
  'rule show',
  'neigh show nud permanent',
  'addr show',
] as const;

/** The only query for `ip -6`: in a batch without a family, `ip` shows IPv4 rules. */
export const questions6 = ['rule show'] as const;

/** Builds the result from objects in `ip` answers, as they arrive. */
export interface AnswerReader<T> {
  /** Adds an object from the answer to query number `question`; throws on any other text. */
  add(question: number, text: string): void;
  /** Returns the combined answers; undefined if they contradict each other. */
  end(): T | undefined;
}

/**
 * Object limit per read. A run keeps several reads: 97,000 routes need more than 64 MB heap and less than the limit,
 * 104 MB, with 183 MB resident (256 MB for the Pod). A process dying at its heap limit reports nothing.
 */
const maxObjects = 100_000;

/** Counts objects, and throws above the limit for the agent's memory. */
class Budget {
  #left = maxObjects;

  take(objects: number): void {
    this.#left -= objects;
    if (this.#left < 0) throw new Error(tooMuch);
  }
}

const tooMuch = `this node has more than ${maxObjects.toLocaleString('en')} links, addresses, routes, rules and neighbours: too many for the agent to read`;

/** Reads `ip -N -j -d` answers to `questions`; a link renamed in between is a contradiction. */
export class KernelReader implements AnswerReader<KernelDump> {
  readonly #budget = new Budget();
  readonly #links: Link[] = [];
  readonly #routes = new RouteReader();
  readonly #rules: Rule[] = [];
  readonly #neighbours: Neighbour[] = [];
  readonly #groups: LinkAddresses[] = [];
  readonly #kinds: readonly ((text: string) => void)[] = [
    (text) => this.#links.push(readLink(text)),
    (text) => this.#routes.add(text),
    (text) => this.#rules.push(readRule(text, 4)),
    (text) => this.#neighbours.push(readNeighbour(text)),
    (text) => {
      const group = readAddresses(text);
      this.#budget.take(group.addresses.length);
      this.#groups.push(group);
    },
  ];

  add(question: number, text: string): void {
    this.#budget.take(1);
    this.#kinds[question]?.(text);
  }

  end(): KernelDump | undefined {
    const names = new Map(this.#links.map(({ index, name }) => [index, name]));
    const indexes = new Map(this.#links.map(({ index, name }) => [name, index]));
    const isRenamed = ({ index, name }: LinkAddresses) =>
      (names.get(index) ?? name) !== name || (indexes.get(name) ?? index) !== index;
    if (this.#groups.some(isRenamed)) return undefined;
    // A link added meanwhile appears in the next read.
    const addresses = this.#groups.flatMap((group) =>
      names.has(group.index) ? group.addresses : [],
    );
    const { routes } = this.#routes;
    const [links, rules, neighbours] = [this.#links, this.#rules, this.#neighbours];
    return { links, addresses, routes, rules, neighbours };
  }
}

/** Reads `ip -6 -N -j -d` answers to `questions6`. */
export class RuleReader6 implements AnswerReader<readonly Rule[]> {
  readonly #budget = new Budget();
  readonly #rules: Rule[] = [];

  add(_question: number, text: string): void {
    this.#budget.take(1);
    this.#rules.push(readRule(text, 6));
  }

  end(): readonly Rule[] {
    return this.#rules;
  }
}

/** Entry in the output of `ip -N -j -d link show`. */
const linkEntry = z.object({
  ifindex: z.int(),
  ifname: z.string(),
  altnames: z.array(z.string()).default([]),
  /** Name of the lower link or a veth's peer; a number if the link is in another namespace. */
  link: z.string().nullish(),
  /** Set if the lower link or peer is in another namespace. */
  link_netnsid: z.int().optional(),
  master: z.string().optional(),
  flags: z.array(z.string()),
  mtu: z.int(),
  max_mtu: z.int().optional(),
  link_type: z.string().optional(),
  address: z.string().optional(),
  permaddr: z.string().optional(),
  linkinfo: z
    .object({
      info_kind: z.string().optional(),
      /** Content depends on the kind; only a vxlan names its underlying link here. */
      info_data: z.object({ link: z.string().optional() }).optional().catch(undefined),
    })
    .optional(),
  inet6_addr_gen_mode: z.string().optional(),
});

/** Parses a link from `ip -N -j -d link show`; throws a ZodError on any other text. */
export function readLink(text: string): Link {
  const entry = linkEntry.parse(JSON.parse(text));
  const kind = entry.linkinfo?.info_kind;
  const lower = lowerOf(entry);
  return {
    index: entry.ifindex,
    name: entry.ifname,
    altNames: entry.altnames,
    ...macsOf(entry),
    mtu: entry.mtu,
    // 0 means the driver names no maximum.
    ...(entry.max_mtu ? { maxMtu: entry.max_mtu } : {}),
    ...flagsOf(entry),
    ...(kind ? { kind } : {}),
    ...(lower ? { lower } : {}),
    ...(entry.master ? { master: entry.master } : {}),
    ...(entry.inet6_addr_gen_mode ? { addressMode: entry.inet6_addr_gen_mode } : {}),
  };
}

/** `ip` shows the permanent MAC only if it differs from the current MAC (since Linux 5.6). */
function macsOf({
  permaddr,
  address = '',
}: z.infer<typeof linkEntry>): Pick<Link, 'mac' | 'sendsAs'> {
  const now = address.toLowerCase();
  const own = permaddr?.toLowerCase() ?? now;
  return { mac: own, ...(now === own || now === '' ? {} : { sendsAs: now }) };
}

/** `ip` looks up a vxlan's lower link by index in its own namespace, even if the link is in another namespace. */
function lowerOf({ link, link_netnsid, linkinfo }: z.infer<typeof linkEntry>): string | undefined {
  if (linkinfo?.info_kind === 'veth') return undefined;
  return link ?? (link_netnsid === undefined ? linkinfo?.info_data?.link : undefined);
}

function flagsOf({ flags }: z.infer<typeof linkEntry>): Pick<Link, 'up' | 'noCarrier' | 'noArp'> {
  const has = (flag: string) => flags.includes(flag);
  return {
    up: has('UP'),
    ...(has('NO-CARRIER') ? { noCarrier: true as const } : {}),
    ...(has('NOARP') ? { noArp: true as const } : {}),
  };
}

const addressEntry = z.object({
  family: z.enum(['inet', 'inet6']),
  local: z.string(),
  prefixlen: z.int(),
  /** Peer in a point-to-point address. */
  address: z.string().optional(),
  broadcast: z.string().optional(),
  scope: z.coerce.number(),
  label: z.string().optional(),
  noprefixroute: z.boolean().default(false),
  dynamic: z.boolean().default(false),
  /** Duplicate address detection is not finished (RFC 4862). */
  tentative: z.boolean().default(false),
  /** Another host has the address. */
  dadfailed: z.boolean().default(false),
});

/** Output by older versions for a link without addresses. */
const nothing = z.strictObject({}).transform(() => undefined);

/** Entry in the output of `ip -N -j -d addr show`. */
const linkAddresses = z.object({
  ifindex: z.int(),
  ifname: z.string(),
  addr_info: z.array(z.union([addressEntry, nothing])).default([]),
});

/** Link name, with the link's addresses. */
interface LinkAddresses {
  readonly index: number;
  readonly name: string;
  readonly addresses: readonly Address[];
}

/** Parses a link's addresses from `ip -N -j -d addr show`, in kernel order; throws a ZodError on any other text. */
export function readAddresses(text: string): LinkAddresses {
  const { ifindex, ifname, addr_info } = linkAddresses.parse(JSON.parse(text));
  const addresses = addr_info.flatMap((entry) => (entry ? [toAddress(ifname, entry)] : []));
  return { index: ifindex, name: ifname, addresses };
}

function toAddress(link: string, entry: z.infer<typeof addressEntry>): Address {
  const family = entry.family === 'inet' ? 4 : 6;
  const foreignLabel = entry.label !== undefined && entry.label !== link;
  return {
    link,
    family,
    cidr: `${entry.local}/${entry.prefixlen}`,
    scope: entry.scope,
    ...(entry.broadcast ? { broadcast: entry.broadcast } : {}),
    noPrefixRoute: entry.noprefixroute,
    ...(entry.dynamic ? { temporary: true as const } : {}),
    ...probeOf(entry),
    opaque: entry.address !== undefined || foreignLabel,
  };
}

/** An optimistic address is tentative but in use. */
function probeOf({ tentative, dadfailed }: z.infer<typeof addressEntry>): Pick<Address, 'probe'> {
  if (dadfailed) return { probe: 'failed' };
  return tentative ? { probe: 'going on' } : {};
}

/** Entry in the output of `ip -N -j -d rule show`; further keys select or do more, and make a rule opaque. */
const ruleEntry = z.looseObject({
  priority: z.int(),
  src: z.string(),
  srclen: z.int().optional(),
  table: z.coerce.number().optional(),
  protocol: z.coerce.number().default(0),
});

const known = new Set(Object.keys(ruleEntry.shape));

/** Parses a policy rule from `ip -N -j -d rule show`; throws a ZodError on any other text. */
export function readRule(text: string, family: 4 | 6): Rule {
  const entry = ruleEntry.parse(JSON.parse(text));
  return {
    family,
    priority: entry.priority,
    from: source(entry, family),
    ...(entry.table === undefined ? {} : { table: entry.table }),
    protocol: entry.protocol,
    opaque: Object.keys(entry).some((key) => !known.has(key)),
  };
}

function source({ src, srclen }: z.infer<typeof ruleEntry>, family: 4 | 6): string {
  return src === 'all' ? src : `${src}/${srclen ?? hostPrefix(family)}`;
}

/** Entry in the output of `ip -N -j -d neigh show nud permanent`; further keys make the entry opaque. */
const neighbourEntry = z.looseObject({
  dst: z.string(),
  dev: z.string(),
  /** Absent without a link-layer address, such as for a tunnel's far end. */
  lladdr: z.string().optional(),
  protocol: z.coerce.number().default(0),
  state: z.array(z.string()).optional(),
});

const knownOfNeighbour = new Set<string>([...Object.keys(neighbourEntry.shape), ...neighbourFlags]);

/** Parses a neighbour from `ip -N -j -d neigh show nud permanent`; throws a ZodError on any other text. */
function readNeighbour(text: string): Neighbour {
  const entry = neighbourEntry.parse(JSON.parse(text));
  const { dst, dev, lladdr, protocol } = entry;
  return {
    link: dev,
    ip: dst,
    mac: lladdr ?? '',
    protocol,
    flags: neighbourFlags.filter((flag) => Object.hasOwn(entry, flag)),
    opaque: lladdr === undefined || Object.keys(entry).some((key) => !knownOfNeighbour.has(key)),
  };
}
