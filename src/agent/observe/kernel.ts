import * as z from 'zod';
import { hostPrefix } from '../../api/address.ts';
import type { Address, Link, Route, Rule } from '../snapshot.ts';
import { parseRoutes } from './routes.ts';

/** What `ip` shows of the kernel; settings are not in it. */
export interface KernelDump {
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
  /** Those of IPv6 only where they were asked for: the kernel keeps the two families apart. */
  readonly rules: readonly Rule[];
}

/**
 * Lines that ask for everything the agent looks at; starting a process costs more than asking, so one answers all. Routes
 * name their links, which may get other names meanwhile: they are asked for between the two that tell index and name.
 */
export const questions = ['link show', 'route show table all', 'rule show', 'addr show'] as const;

/** The one question to `ip -6`: in a batch that is of no family, rules are of IPv4. */
export const questions6 = ['rule show'] as const;

/** What `ip -N -j -d` answered to the questions, in their order; undefined when a link had two names on the way. */
export function parseKernelDump(answers: readonly string[]): KernelDump | undefined {
  const [linkShow = '', routes = '', rules = '', addressShow = ''] = answers;
  const links = parseLinks(linkShow);
  const groups = parseAddresses(addressShow);
  if (groups.some(({ index, name }) => isRenamed(links, index, name))) return undefined;
  // A link that came meanwhile is seen next time.
  const indexes = new Set(links.map(({ index }) => index));
  return {
    links,
    addresses: groups.flatMap(({ index, addresses }) => (indexes.has(index) ? addresses : [])),
    routes: parseRoutes(routes),
    rules: parseRules(rules, 4),
  };
}

/** Whether a name has changed hands, or a link its name. */
function isRenamed(links: readonly Link[], index: number, name: string): boolean {
  return links.some((link) => (link.index === index) !== (link.name === name));
}

/** One entry of `ip -N -j -d link show`. */
const linkEntry = z.object({
  ifindex: z.int(),
  ifname: z.string(),
  altnames: z.array(z.string()).default([]),
  /** Name of the lower link or of a veth's peer; a number stands for one in another namespace. */
  link: z.string().nullish(),
  master: z.string().optional(),
  flags: z.array(z.string()),
  mtu: z.int(),
  max_mtu: z.int().optional(),
  link_type: z.string().optional(),
  address: z.string().optional(),
  permaddr: z.string().optional(),
  linkinfo: z.object({ info_kind: z.string().optional() }).optional(),
  inet6_addr_gen_mode: z.string().optional(),
});

const linkShow = z.array(linkEntry);

/** Links of `ip -N -j -d link show`; throws a ZodError on any other text. */
export function parseLinks(json: string): Link[] {
  return linkShow.parse(JSON.parse(json)).map(toLink);
}

function toLink(entry: z.infer<typeof linkEntry>): Link {
  const kind = entry.linkinfo?.info_kind;
  const lower = kind === 'veth' ? undefined : entry.link;
  return {
    index: entry.ifindex,
    name: entry.ifname,
    altNames: entry.altnames,
    mac: (entry.permaddr ?? entry.address ?? '').toLowerCase(),
    mtu: entry.mtu,
    // 0 stands for a driver that names no maximum.
    ...(entry.max_mtu ? { maxMtu: entry.max_mtu } : {}),
    up: entry.flags.includes('UP'),
    ...(entry.flags.includes('NO-CARRIER') ? { noCarrier: true as const } : {}),
    ...(kind ? { kind } : {}),
    ...(lower ? { lower } : {}),
    ...(entry.master ? { master: entry.master } : {}),
    ...(entry.inet6_addr_gen_mode ? { addressMode: entry.inet6_addr_gen_mode } : {}),
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

/** `ip -N -j -d addr show`. */
const addressShow = z.array(
  z.object({
    ifindex: z.int(),
    ifname: z.string(),
    addr_info: z.array(z.union([addressEntry, nothing])).default([]),
  }),
);

/** What a link was called and which addresses it had. */
interface LinkAddresses {
  readonly index: number;
  readonly name: string;
  readonly addresses: readonly Address[];
}

/** Addresses of `ip -N -j -d addr show`, in the kernel's order; throws a ZodError on any other text. */
export function parseAddresses(json: string): LinkAddresses[] {
  return addressShow.parse(JSON.parse(json)).map(({ ifindex, ifname, addr_info }) => ({
    index: ifindex,
    name: ifname,
    addresses: addr_info.flatMap((entry) => (entry ? [toAddress(ifname, entry)] : [])),
  }));
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

const ruleShow = z.array(ruleEntry);
const known = new Set(Object.keys(ruleEntry.shape));

/** Policy rules of `ip -N -j -d rule show`; throws a ZodError on any other text. */
export function parseRules(json: string, family: 4 | 6): Rule[] {
  return ruleShow.parse(JSON.parse(json)).map((entry) => ({
    family,
    priority: entry.priority,
    from: source(entry, family),
    ...(entry.table === undefined ? {} : { table: entry.table }),
    protocol: entry.protocol,
    opaque: Object.keys(entry).some((key) => !known.has(key)),
  }));
}

function source({ src, srclen }: z.infer<typeof ruleEntry>, family: 4 | 6): string {
  return src === 'all' ? src : `${src}/${srclen ?? hostPrefix(family)}`;
}
