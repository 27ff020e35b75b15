import type { JobRequest, NicResult, Protocol } from '../../api/job.ts';
import { indexOfName, routingTable } from '../../api/names.ts';
import type { Clock } from '../../time/clock.ts';
import { linkOf } from '../identity.ts';
import { type Host, observeLinks, readSetting } from '../observe/host.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { AgentState } from '../state.ts';
import { type Answer, type PathAnswers, type PathReader, queryLine } from './ip.ts';
import { withLocalEntries } from './local-entries.ts';
import { type NodeLookup, nicLookups, nodeLookups, type PathNic, type Query } from './lookups.ts';
import { familiesToExplain, reachedByNode, type Verdict, verdictsOn } from './verdict.ts';

/** Paths before or after a change. */
export interface PathReport {
  /** A line per lookup, for people. */
  readonly lines: readonly string[];
}

/** Paths before a run's first change. */
export interface PathsBefore extends PathReport {
  /** Destinations reached by the node's own links. */
  readonly own: ReadonlySet<string>;
}

export interface PathsAfter extends PathReport {
  readonly nics: readonly NicResult[];
  readonly warnings: readonly string[];
}

/** Request and state of a run, for paths. */
export interface PathRun {
  readonly request: JobRequest;
  readonly state: AgentState;
  readonly host: KernelSnapshot;
}

/** Looks up the paths before a change. */
export async function pathsBefore(run: PathRun, reader: PathReader): Promise<PathsBefore> {
  const nics = pathNics(run);
  const links = nicLinks(run, nics);
  const fromNics = nicLookups(nics, run.host);
  const fromNode = nodeLookups(run.request.apiServer, run.host, links);
  const found = await reader.lookUp([...fromNics, ...fromNode]);
  const answers = found?.answers.slice(fromNics.length) ?? [];
  const own = reachedByNode(fromNode, answers, new Set(links.map(({ name }) => name)));
  return { own, lines: linesOf([...fromNics, ...fromNode], found) };
}

/**
 * Looks up the paths of correctly configured NICs, and fails NICs without packets, or with the node's own packets.
 * Nothing is sent on the network.
 */
export async function judgePaths(
  nics: readonly NicResult[],
  run: PathRun,
  { reader, site, before }: { reader: PathReader; site: RunSite; before?: PathsBefore | undefined },
): Promise<PathsAfter> {
  const configured = new Set(
    nics.filter(({ state }) => state === 'Configured').map(({ mac }) => mac),
  );
  const requested = pathNics(run);
  const judged = requested.filter(({ entry }) => configured.has(entry.mac));
  if (judged.length === 0) return { nics, warnings: [], lines: [] };
  const { request } = run;
  const read = () => observeLinks(site, site.macs);
  const host = await withLocalEntries(judged, run.host, { clock: site.clock, read });
  const fromNics = nicLookups(judged, host);
  const fromNode = nodeLookups(request.apiServer, host, nicLinks(run, requested));
  const found = await reader.lookUp([...fromNics, ...fromNode]);
  const input = { nics: judged, host, fromNics, fromNode, found, ownBefore: before?.own };
  const rules = await Promise.all(
    familiesToExplain(input).map(async (family) => [family, await reader.rules(family)] as const),
  );
  const all = (key: 'ipv4.arp_ignore' | 'ipv4.rp_filter') => readSetting(site.sysctls, 'all', key);
  const { failed, warnings } = verdictsOn({
    ...input,
    rules: new Map(rules.flatMap(([family, list]) => (list ? [[family, list] as const] : []))),
    all: { arpIgnore: all('ipv4.arp_ignore'), rpFilter: all('ipv4.rp_filter') },
  });
  const lines = linesOf([...fromNics, ...fromNode], found);
  if (request.action === 'check' && request.protocol < verdictsInChecks) {
    return { nics, warnings: [...warnings, ...asWarnings(nics, failed)], lines };
  }
  return {
    nics: nics.map((nic) => {
      const verdict = configured.has(nic.mac) ? failed.get(nic.mac) : undefined;
      return verdict ? { ...nic, state: 'Failed', ...verdict } : nic;
    }),
    warnings,
    lines,
  };
}

/** First protocol in which a check fails a NIC by its path: earlier controllers would apply again without end. */
const verdictsInChecks = 5 satisfies Protocol;

function asWarnings(nics: readonly NicResult[], failed: ReadonlyMap<string, Verdict>): string[] {
  return nics.flatMap(({ mac, name }) => {
    const verdict = failed.get(mac);
    return verdict ? [`${verdict.reason} ${name} ${verdict.message}`] : [];
  });
}

/** State after a run's changes. */
interface AfterRun extends Pick<PathRun, 'request' | 'state'> {
  /** Last kernel snapshot; undefined if anything changed afterwards. */
  readonly seen: KernelSnapshot | undefined;
}

/** Judges the paths after a run, by another kernel snapshot if necessary. */
export async function pathsAfter(
  nics: readonly NicResult[],
  { seen, ...run }: AfterRun,
  {
    context,
    reader,
    before,
  }: { context: RunSite; reader: PathReader; before: PathsBefore | undefined },
): Promise<PathsAfter> {
  if (!nics.some(({ state }) => state === 'Configured')) return { nics, warnings: [], lines: [] };
  const host = seen ?? (await observeLinks(context, context.macs));
  return judgePaths(nics, { ...run, host }, { site: context, reader, before });
}

/** Host with the MACs of NICs that the run may change. */
interface RunSite extends Host {
  readonly macs: ReadonlySet<string>;
  readonly clock: Clock;
}

function pathNics({ request, state, host }: PathRun): PathNic[] {
  const tables = new Map(state.nics.map(({ mac, table }) => [mac, table]));
  return request.interfaces.flatMap((entry) => {
    const link = linkOf(host, entry.mac);
    if (!link) return [];
    const usual = routingTable(indexOfName(link.name) ?? entry.index);
    return [{ entry, link, table: tables.get(entry.mac) ?? usual }];
  });
}

/** Returns links of requested and recorded NICs. */
function nicLinks({ state, host }: PathRun, nics: readonly PathNic[]) {
  const recorded = state.nics.flatMap(({ mac }) => linkOf(host, mac) ?? []);
  return [...nics.map(({ link }) => link), ...recorded];
}

function linesOf(
  lookups: readonly (Query | NodeLookup)[],
  found: PathAnswers | undefined,
): string[] {
  if (!found) return ['unknown: ip could not run'];
  return lookups.map((lookup, at) => {
    const purpose = 'purpose' in lookup ? ` (${lookup.purpose})` : '';
    return `${queryLine(lookup)}${purpose}: ${answerText(found.answers[at])}`;
  });
}

function answerText(answer: Answer | undefined): string {
  if (answer === undefined) return 'unknown';
  if (answer.kind === 'local') return 'local';
  if (answer.kind === 'refused') return answer.why;
  const { via, link, table } = answer;
  return `${via ? `via ${via} ` : ''}dev ${link} table ${table}`;
}
