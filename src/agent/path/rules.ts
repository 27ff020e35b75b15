import * as z from 'zod';
import { hostPrefix } from '../../api/address.ts';
import { type Route } from '../snapshot.ts';
import type { Query } from './lookups.ts';
import { numberOf, type Prefixes, rangeOf } from './prefixes.ts';

/** Entry in the output of `ip -N -d -j rule show`, with the selectors and actions of ip-rule(8). */
const ruleEntry = z.looseObject({
  priority: z.int(),
  not: z.null().optional(),
  src: z.string().default('all'),
  srclen: z.int().optional(),
  dst: z.string().default('all'),
  dstlen: z.int().optional(),
  tos: z.string().optional(),
  dsfield: z.string().optional(),
  fwmark: z.string().optional(),
  fwmask: z.string().optional(),
  iif: z.string().optional(),
  oif: z.string().optional(),
  l3mdev: z.null().optional(),
  uid_start: z.int().optional(),
  uid_end: z.int().optional(),
  ipproto: z.string().optional(),
  table: z.coerce.number().optional(),
  suppress_prefixlen: z.int().optional(),
  goto: z.int().optional(),
  nop: z.null().optional(),
  action: z.string().optional(),
});

type RuleEntry = z.infer<typeof ruleEntry>;

/** Selectors by port, tunnel or flow label: a lookup has none. */
const otherSelectors = [
  'sport',
  'sport_start',
  'dport',
  'dport_start',
  'tun_id',
  'flowlabel',
] as const;

/** Policy rule with its selectors. */
export interface PolicyRule {
  readonly priority: number;
  /** In the form of ip-rule(8), such as `not fwmark 0x1`. */
  readonly selector: string;
  readonly table?: number;
  readonly suppressPrefix?: number;
  readonly goto?: number;
  readonly does: 'look up' | 'go on' | 'drop';
  /** True if the rule selects packets by mark, user, protocol, port or service type. */
  readonly isPartial: boolean;
  /** Source network, if the rule selects by source alone. */
  readonly onlySource?: string;
  /** True for an unmarked UDP packet of user 0. */
  readonly matches: (query: Query) => boolean;
}

const udp = 17;

/** Parses a policy rule; throws a ZodError on an unknown form. */
export function readPolicyRule(value: unknown): PolicyRule {
  const entry = ruleEntry.parse(value);
  const { priority, table, goto, suppress_prefixlen: suppressPrefix } = entry;
  const source = networkIn(entry.src, entry.srclen);
  const target = networkIn(entry.dst, entry.dstlen);
  const others = otherSelectors.filter((key) => Object.hasOwn(entry, key));
  const onlySource = selectors(entry, others).length === 0 && !target ? source : undefined;
  return {
    priority,
    selector: selectorOf(entry, source, target, others),
    ...(table === undefined ? {} : { table }),
    ...(suppressPrefix === undefined ? {} : { suppressPrefix }),
    ...(goto === undefined ? {} : { goto }),
    does: doingOf(entry),
    isPartial: isPartial(entry, others),
    ...(onlySource ? { onlySource } : {}),
    matches: ({ from, to }) => {
      const selected =
        others.length === 0 &&
        matchesPacket(entry) &&
        matchesLinks(entry) &&
        isWithin(source, from) &&
        isWithin(target, to);
      return selected !== (entry.not !== undefined);
    },
  };
}

function doingOf({ nop, action, goto }: RuleEntry): PolicyRule['does'] {
  if (nop === null || goto !== undefined) return 'go on';
  return action === undefined ? 'look up' : 'drop';
}

/** True unless every unmarked packet of the address is selected alike; `not fwmark` selects all unmarked packets. */
function isPartial(entry: RuleEntry, others: readonly string[]): boolean {
  const partial = partialSelectors(entry);
  const isAllButMarked = entry.not !== undefined && partial.every((key) => key === 'fwmark');
  return others.length > 0 || (partial.length > 0 && !isAllButMarked);
}

/** Returns everything but networks in the rule's selector. */
function selectors(entry: RuleEntry, others: readonly string[]): readonly string[] {
  const keys = ['iif', 'oif', 'l3mdev', 'not'] as const;
  const more = keys.filter((key) => entry[key] !== undefined);
  return [...partialSelectors(entry), ...others, ...more];
}

function partialSelectors(entry: RuleEntry) {
  const keys = ['fwmark', 'uid_start', 'ipproto', 'tos', 'dsfield'] as const;
  return keys.filter((key) => entry[key] !== undefined);
}

/** True if mark, service type, user and protocol in the rule select an unmarked UDP packet by root. */
function matchesPacket(entry: RuleEntry): boolean {
  const { fwmark, fwmask, tos, dsfield, uid_start: from = 0, ipproto } = entry;
  const mark = fwmark === undefined ? 0 : Number(fwmark) & Number(fwmask ?? '0xffffffff');
  const service = [tos, dsfield].every((value) => value === undefined || Number(value) === 0);
  return mark === 0 && service && from === 0 && (ipproto === undefined || isUdp(ipproto));
}

/** Older `ip` prints a number as `ipproto-17`. */
function isUdp(ipproto: string): boolean {
  return ipproto === 'udp' || Number(ipproto.replace('ipproto-', '')) === udp;
}

/** A packet of this host comes from lo, and before the lookup has no outgoing link. */
function matchesLinks({ iif, oif, l3mdev }: RuleEntry): boolean {
  return (iif === undefined || iif === 'lo') && oif === undefined && l3mdev === undefined;
}

function networkIn(ip: string, length: number | undefined): string | undefined {
  if (ip === 'all') return undefined;
  return `${ip}/${length ?? hostPrefix(ip.includes(':') ? 6 : 4)}`;
}

/** A packet without a source address matches no source. */
function isWithin(network: string | undefined, ip: string | undefined): boolean {
  if (network === undefined) return true;
  const { first, last, prefix } = rangeOf(network);
  if (ip === undefined) return prefix === 0;
  const value = numberOf(ip);
  return value >= first && value <= last;
}

function selectorOf(
  entry: RuleEntry,
  source: string | undefined,
  target: string | undefined,
  others: readonly string[],
): string {
  const { fwmark, fwmask, uid_start: uid } = entry;
  const shown = {
    from: source?.replace(/\/(32|128)$/, '') ?? 'all',
    to: target,
    tos: entry.tos,
    dsfield: entry.dsfield,
    fwmark: fwmask === undefined ? fwmark : `${fwmark}/${fwmask}`,
    iif: entry.iif,
    oif: entry.oif,
    uidrange: uid === undefined ? undefined : `${uid}-${entry.uid_end ?? uid}`,
    ipproto: entry.ipproto,
  };
  const texts = Object.entries(shown)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} ${value}`);
  return [...(entry.not === undefined ? [] : ['not']), ...texts, ...others].join(' ');
}

/** Result of following the rules. */
export interface Decision {
  readonly rule: PolicyRule;
  /** Links of the deciding route; undefined: the rule itself drops the packet. */
  readonly links?: readonly string[];
}

/** Route types `blackhole`, `unreachable` and `prohibit`. */
const rejectTypes: ReadonlySet<number> = new Set([6, 7, 8]);

/** Route type `throw`: the lookup goes on with the next rule. */
const throwType = 9;

/** Returns the rule that decides a lookup, as fib_rules_lookup does; undefined if no rule finds a route. */
export function decidingRule(
  rules: readonly PolicyRule[],
  query: Query,
  routes: Prefixes,
): Decision | undefined {
  const inOrder = rules.toSorted((a, b) => a.priority - b.priority);
  const priorities = new Set(inOrder.map(({ priority }) => priority));
  let from = Number.NEGATIVE_INFINITY;
  for (const rule of inOrder) {
    if (rule.priority < from || !rule.matches(query)) continue;
    // The kernel ignores a goto without a rule of that priority.
    if (rule.goto !== undefined && priorities.has(rule.goto)) from = rule.goto;
    if (rule.does === 'drop') return { rule };
    const links = linksBy(rule, query, routes);
    if (links) return { rule, links };
  }
  return undefined;
}

/** Returns the links in the table's route; undefined: the lookup goes on with the next rule. */
function linksBy(
  { does, table, suppressPrefix = -1 }: PolicyRule,
  { to }: Query,
  routes: Prefixes,
): readonly string[] | undefined {
  if (does !== 'look up' || table === undefined) return undefined;
  const best = routes.best(table, to);
  if (!best || best.route.type === throwType) return undefined;
  const isSuppressed = best.prefix <= suppressPrefix && !isIPv4Reject(best.route);
  return isSuppressed ? undefined : best.route.links;
}

/** The kernel suppresses no reject routes for IPv4: their lookup ends with an error (fib_rules_lookup). */
function isIPv4Reject({ family, type }: Route): boolean {
  return family === 4 && rejectTypes.has(type);
}
