import { familyOf, ipOf, plainForm } from '../../api/address.ts';
import type { NicReason } from '../../api/job.ts';
import { type Coded, coded, type NicCode } from '../../api/nic-codes.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { Answer, PathAnswers } from './ip.ts';
import { withoutLocalEntry } from './local-entries.ts';
import {
  gatewayOf,
  type NicLookup,
  type NodeLookup,
  type NodePurpose,
  type PathNic,
  type Query,
} from './lookups.ts';
import { Prefixes } from './prefixes.ts';
import { type Decision, decidingRule, type PolicyRule } from './rules.ts';

/** Why a NIC with the requested configuration carries no packets, or carries the node's own. */
export interface Verdict extends Coded {
  readonly reason: NicReason;
  readonly message: string;
}

export interface PathVerdicts {
  /** By the NIC's MAC. */
  readonly failed: ReadonlyMap<string, Verdict>;
  readonly warnings: readonly string[];
}

/** Input for verdicts. */
export interface PathInput {
  readonly nics: readonly PathNic[];
  readonly host: KernelSnapshot;
  readonly fromNics: readonly NicLookup[];
  readonly fromNode: readonly NodeLookup[];
  /** Answers to `fromNics`, then to `fromNode`; undefined: `ip` could not run. */
  readonly found: PathAnswers | undefined;
  /** Policy rules by family; absent: not read. */
  readonly rules: ReadonlyMap<4 | 6, readonly PolicyRule[]>;
  /** Destinations reached by the node's own links before this run's change; undefined: no change. */
  readonly ownBefore?: ReadonlySet<string> | undefined;
  /** `arp_ignore` and `rp_filter` in `net.ipv4.conf.all`; undefined: not readable. */
  readonly all: { readonly arpIgnore?: string | undefined; readonly rpFilter?: string | undefined };
}

/** Returns the families of lookups with a wrong answer: only these need the rules. */
export function familiesToExplain(input: Omit<PathInput, 'rules' | 'all'>): (4 | 6)[] {
  const queries: Query[] = [
    ...input.fromNics.filter((lookup, at) => isWrong(lookup, input.found?.answers[at])),
    ...input.fromNode.filter((_, at) => nicTaking(input, at) !== undefined),
  ];
  return [...new Set(queries.map(({ to }) => familyOf(to)))];
}

/** Returns verdicts about NICs with the requested configuration; unknown answers are no verdict. */
export function verdictsOn(input: PathInput): PathVerdicts {
  const routes = new Prefixes(input.host.routes);
  const failed = new Map<string, Verdict>();
  const fail = (nic: PathNic, verdict: Verdict | undefined) => {
    const { mac } = nic.entry;
    if (verdict && !failed.has(mac)) failed.set(mac, verdict);
  };
  const taken = takenPaths(input, routes);
  for (const { nic, verdict } of taken) fail(nic, verdict);
  for (const nic of input.nics) fail(nic, silenceOf(nic, input));
  for (const [at, lookup] of input.fromNics.entries()) {
    fail(lookup.nic, bypassOf(lookup, input.found?.answers[at], input, routes));
  }
  const warned = taken.flatMap(({ nic, lookup, verdict }) =>
    verdict ? [] : [`NodePathTaken ${nic.link.name} has the node's path to ${lookup.to}`],
  );
  return { failed, warnings: [...warned, ...input.nics.flatMap((nic) => warningsOn(nic, input))] };
}

function isWrong({ nic }: NicLookup, answer: Answer | undefined): boolean {
  if (answer === undefined || answer.kind === 'local') return false;
  return answer.kind === 'refused' || answer.link !== nic.link.name;
}

/** Returns the verdict on a lookup from an address; packets selected by mark, user or protocol are no bypass. */
function bypassOf(
  lookup: NicLookup,
  answer: Answer | undefined,
  { rules }: PathInput,
  routes: Prefixes,
): Verdict | undefined {
  if (answer === undefined || !isWrong(lookup, answer)) return undefined;
  const known = rules.get(familyOf(lookup.to));
  if (!known) return undefined;
  const decision = decidingRule(known, lookup, routes);
  if (!decision) return byRoute(lookup, answer);
  if (decision.rule.isPartial || isLate(decision, answer)) return undefined;
  const isByRule = isLike(decision, answer) && !isOwn(decision.rule, lookup);
  return isByRule ? byRule(decision.rule, lookup, answer) : byRoute(lookup, answer);
}

/** True if the address has left since the snapshot: the kernel answers `blackhole`, although the route has a link. */
function isLate({ links = [] }: Decision, answer: Answer): boolean {
  return answer.kind === 'refused' && answer.why === 'blackhole' && links.length > 0;
}

/** True if the rule found in the snapshot explains the kernel's answer. */
function isLike({ rule, links }: Decision, answer: Answer): boolean {
  if (answer.kind !== 'link') return true;
  return links !== undefined && (rule.table === answer.table || links.includes(answer.link));
}

/** True for the NIC's own rule `from ADDRESS lookup TABLE`. */
function isOwn({ onlySource, table }: PolicyRule, { from, nic }: NicLookup): boolean {
  return table === nic.table && onlySource !== undefined && ipOf(onlySource) === plainForm(from);
}

function byRule(rule: PolicyRule, { from, to }: NicLookup, answer: Answer): Verdict {
  const { priority, selector, table } = rule;
  const values = { priority, ...(table === undefined ? {} : { table }) };
  const name = `rule ${priority} ${selector}${table === undefined ? '' : ` lookup ${table}`}`;
  if (answer.kind === 'link') {
    const message = `${name} sends packets from ${from} to ${to} by ${answer.link}`;
    return bypassed('RuleToOtherLink', message, { ...values, link: answer.link, selector });
  }
  return bypassed('RuleDropsPackets', `${name} drops packets from ${from} to ${to}`, {
    ...values,
    selector,
  });
}

function byRoute({ from, to }: NicLookup, answer: Answer): Verdict {
  if (answer.kind === 'link') {
    const { link, table } = answer;
    const message = `a route in table ${table} sends packets from ${from} to ${to} by ${link}`;
    return bypassed('RouteToOtherLink', message, { table, link, to });
  }
  const why = answer.kind === 'refused' ? answer.why : 'local';
  return bypassed('NoRouteFromAddress', `no path from ${from} to ${to} (${why})`, { from, to });
}

function bypassed(
  code: NicCode,
  message: string,
  values: Readonly<Record<string, string | number>>,
): Verdict {
  return { reason: 'PathBypassed', message, ...coded(code, values) };
}

interface Taken {
  readonly nic: PathNic;
  readonly lookup: NodeLookup;
  /** Undefined: a warning. */
  readonly verdict: Verdict | undefined;
}

/** Returns destinations reached by a NIC. */
function takenPaths(input: PathInput, routes: Prefixes): Taken[] {
  return input.fromNode.flatMap((lookup, at) => {
    const nic = nicTaking(input, at);
    const known = nic && input.rules.get(familyOf(lookup.to));
    if (!known || decidingRule(known, lookup, routes)?.rule.isPartial) return [];
    const isNew = lookup.purpose === 'service' || input.ownBefore?.has(lookup.to) === true;
    return [{ nic, lookup, verdict: isNew ? takenBy(nic, lookup) : undefined }];
  });
}

function nicTaking(
  { nics, fromNics, found }: Pick<PathInput, 'nics' | 'fromNics' | 'found'>,
  at: number,
): PathNic | undefined {
  const answer = found?.answers[fromNics.length + at];
  if (answer?.kind !== 'link') return undefined;
  return nics.find(({ link }) => link.name === answer.link);
}

const purposes: Readonly<Record<NodePurpose, readonly [NicCode, string]>> = {
  service: ['ServiceByNic', 'the Service address of the API server'],
  endpoint: ['EndpointByNic', 'the API server at'],
  'default gateway': ['GatewayByNic', 'the default gateway'],
};

function takenBy({ link }: PathNic, { to, purpose }: NodeLookup): Verdict {
  const [code, words] = purposes[purpose];
  const message = `the node reaches ${words} ${to} by ${link.name}`;
  return { reason: 'NodePathTaken', message, ...coded(code, { to, link: link.name }) };
}

/** Returns why the NIC answers no packets, although addresses, routes and rules are right. */
function silenceOf(nic: PathNic, input: PathInput): Verdict | undefined {
  const { link } = nic;
  const { name } = link;
  if (link.noArp) {
    const message = `${name} has the flag NOARP and answers no ARP: run ip link set ${name} arp on`;
    return { reason: 'VerifyFailed', message, ...coded('ArpOff', { link: name }) };
  }
  const ignored = arpIgnored(nic, input);
  if (ignored !== undefined) {
    const message = `${ignored} is 8: ${name} answers no ARP`;
    return { reason: 'VerifyFailed', message, ...coded('ArpIgnored', { setting: ignored }) };
  }
  const ip = withoutLocalEntry(nic, input.host);
  if (ip === undefined) return undefined;
  const message = `the local table has no entry for ${ip}: the kernel drops packets to this address`;
  return { reason: 'VerifyFailed', message, ...coded('LocalEntryMissing', { address: ip }) };
}

/** Returns the setting with value 8 (networking/ip-sysctl: the maximum of all and the link counts). */
function arpIgnored({ entry, link }: PathNic, { host, all }: PathInput): string | undefined {
  if (!entry.addresses.some((cidr) => familyOf(cidr) === 4)) return undefined;
  if (host.settings.get(link.name)?.['ipv4.arp_ignore'] === '8') {
    return `net.ipv4.conf.${link.name}.arp_ignore`;
  }
  return all.arpIgnore === '8' ? 'net.ipv4.conf.all.arp_ignore' : undefined;
}

/** Returns warnings about a NIC's gateways and reverse path filter. */
function warningsOn({ entry, link }: PathNic, { host, found, all }: PathInput): string[] {
  const gateways = ([4, 6] as const).flatMap((family) => gatewayOf(entry, family) ?? []);
  const isHere = (at: { readonly ip: string; readonly link: string }) => at.link === link.name;
  const pinned = host.neighbours.filter((at) => isHere(at) && gateways.includes(at.ip));
  const silent = (found?.silent ?? []).filter((at) => isHere(at) && gateways.includes(at.ip));
  const own = host.settings.get(link.name)?.['ipv4.rp_filter'];
  const strict = Math.max(Number(own ?? 0), Number(all.rpFilter ?? 0)) === 1;
  return [
    ...pinned.map(({ ip, mac }) => `GatewayPinned ${link.name} ${ip} is permanently ${mac}`),
    ...silent.map(({ ip }) => `GatewaySilent ${link.name} ${ip} does not answer`),
    ...(strict
      ? [`StrictReversePath ${link.name} drops packets that another link would answer`]
      : []),
  ];
}

/** Returns destinations reached by none of these links. */
export function reachedByNode(
  lookups: readonly NodeLookup[],
  answers: readonly (Answer | undefined)[],
  nicLinks: ReadonlySet<string>,
): ReadonlySet<string> {
  return new Set(
    lookups.flatMap(({ to }, at) => {
      const answer = answers[at];
      return answer?.kind === 'link' && !nicLinks.has(answer.link) ? [to] : [];
    }),
  );
}
