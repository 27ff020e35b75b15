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

/** What `ip` shows of the kernel; settings are not in it. */
export interface KernelDump {
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
  /** Those of IPv6 only where they were asked for: the kernel keeps the two families apart. */
  readonly rules: readonly Rule[];
  readonly neighbours: readonly Neighbour[];
}

/**
 * Lines that ask for everything the agent looks at; starting a process costs more than asking, so one answers all. Routes
 * and neighbours name their links, which may get other names meanwhile: they are asked for between the two that tell index and
 * name.
 */
export const questions = [
  'link show',
  'route show table all',
  'rule show',
  'neigh show nud permanent',
  'addr show',
] as const;

/** The one question to `ip -6`: in a batch that is of no family, rules are of IPv4. */
export const questions6 = ['rule show'] as const;

/** Builds what is asked for from the objects of `ip`'s answers, as they come. */
export interface AnswerReader<T> {
  /** Takes an object of the answer to the question with this number; throws on any other text. */
  add(question: number, text: string): void;
  /** What the answers say together; undefined when they contradict each other. */
  end(): T | undefined;
}

/**
 * Objects that one look may have. A run keeps several looks: with 97,000 routes it needs more than 64 MB of heap and less than
 * 104 MB, its limit, with 183 MB resident of the 256 MB of its Pod. A process that dies of its heap limit reports nothing.
 */
const maxObjects = 100_000;

/** Counts what is read, and throws when it is more than the agent's memory takes. */
class Budget {
  #left = maxObjects;

  take(objects: number): void {
    this.#left -= objects;
    if (this.#left < 0) throw new Error(tooMuch);
  }
}

const tooMuch = `this node has more than ${maxObjects.toLocaleString('en')} links, addresses, routes, rules and neighbours: too many to look at`;

/** Reads what `ip -N -j -d` answers to `questions`; a link with two names on the way is a contradiction. */
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
    // A link that came meanwhile is seen next time.
    const addresses = this.#groups.flatMap((group) =>
      names.has(group.index) ? group.addresses : [],
    );
    const { routes } = this.#routes;
    const [links, rules, neighbours] = [this.#links, this.#rules, this.#neighbours];
    return { links, addresses, routes, rules, neighbours };
  }
}

/** Reads what `ip -6 -N -j -d` answers to `questions6`. */
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

/** One entry of `ip -N -j -d link show`. */
const linkEntry = z.object({
  ifindex: z.int(),
  ifname: z.string(),
  altnames: z.array(z.string()).default([]),
  /** Name of the lower link or of a veth's peer; a number stands for one in another namespace. */
  link: z.string().nullish(),
  /** Set when the lower link or the peer is in another namespace. */
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
      /** What it holds differs by kind; that of a vxlan alone names the link that it sends by. */
      info_data: z.object({ link: z.string().optional() }).optional().catch(undefined),
    })
    .optional(),
  inet6_addr_gen_mode: z.string().optional(),
});

/** A link of `ip -N -j -d link show`; throws a ZodError on any other text. */
export function readLink(text: string): Link {
  const entry = linkEntry.parse(JSON.parse(text));
  const kind = entry.linkinfo?.info_kind;
  const lower = lowerOf(entry);
  return {
    index: entry.ifindex,
    name: entry.ifname,
    altNames: entry.altnames,
    mac: (entry.permaddr ?? entry.address ?? '').toLowerCase(),
    mtu: entry.mtu,
    // 0 stands for a driver that names no maximum.
    ...(entry.max_mtu ? { maxMtu: entry.max_mtu } : {}),
    ...flagsOf(entry),
    ...(kind ? { kind } : {}),
    ...(lower ? { lower } : {}),
    ...(entry.master ? { master: entry.master } : {}),
    ...(entry.inet6_addr_gen_mode ? { addressMode: entry.inet6_addr_gen_mode } : {}),
  };
}

/** `ip` looks the index of a vxlan's lower link up in its own namespace, whatever namespace that link is in. */
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
  /** Peer of a point-to-point address. */
  address: z.string().optional(),
  broadcast: z.string().optional(),
  scope: z.coerce.number(),
  label: z.string().optional(),
  noprefixroute: z.boolean().default(false),
  dynamic: z.boolean().default(false),
  /** Not known yet to be nobody else's (RFC 4862). */
  tentative: z.boolean().default(false),
  /** Somebody else has it. */
  dadfailed: z.boolean().default(false),
});

/** What older versions print for a link without addresses. */
const nothing = z.strictObject({}).transform(() => undefined);

/** One entry of `ip -N -j -d addr show`. */
const linkAddresses = z.object({
  ifindex: z.int(),
  ifname: z.string(),
  addr_info: z.array(z.union([addressEntry, nothing])).default([]),
});

/** What a link was called and which addresses it had. */
interface LinkAddresses {
  readonly index: number;
  readonly name: string;
  readonly addresses: readonly Address[];
}

/** Addresses of one link of `ip -N -j -d addr show`, in the kernel's order; throws a ZodError on any other text. */
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

/** An optimistic address is tentative and in use. */
function probeOf({ tentative, dadfailed }: z.infer<typeof addressEntry>): Pick<Address, 'probe'> {
  if (dadfailed) return { probe: 'failed' };
  return tentative ? { probe: 'going on' } : {};
}

/** One entry of `ip -N -j -d rule show`; keys beyond these select or do more and make a rule opaque. */
const ruleEntry = z.looseObject({
  priority: z.int(),
  src: z.string(),
  srclen: z.int().optional(),
  table: z.coerce.number().optional(),
  protocol: z.coerce.number().default(0),
});

const known = new Set(Object.keys(ruleEntry.shape));

/** A policy rule of `ip -N -j -d rule show`; throws a ZodError on any other text. */
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

/** One entry of `ip -N -j -d neigh show nud permanent`; keys beyond these make it opaque. */
const neighbourEntry = z.looseObject({
  dst: z.string(),
  dev: z.string(),
  /** Absent for what has none, such as the far end of a tunnel. */
  lladdr: z.string().optional(),
  protocol: z.coerce.number().default(0),
  state: z.array(z.string()).optional(),
});

const knownOfNeighbour = new Set<string>([...Object.keys(neighbourEntry.shape), ...neighbourFlags]);

/** A neighbour of `ip -N -j -d neigh show nud permanent`; throws a ZodError on any other text. */
export function readNeighbour(text: string): Neighbour {
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
