import { isDeepStrictEqual } from 'node:util';
import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { keyOf } from '../../explain/commands.ts';
import type { SystemFacts } from '../../explain/facts.ts';
import type { Finding, Section } from '../../explain/finding.ts';
import { groupedByCause } from '../../explain/findings.ts';
import { valueOf } from '../../explain/subject.ts';

type FindingGroup = ScreenAnswer<'fleet'>['findings'][number];
type SubjectLink = FindingGroup['findings'][number]['link'];

/** Shown findings per group: thousands of nodes have the same cause. */
const shownFindings = 10;

/** Names that tell a finding's subject. */
interface KnownSubjects {
  /** OpenstackConfigs as `namespace/name`. */
  readonly configs: ReadonlySet<string>;
  readonly providers: ReadonlySet<string>;
}

/** Groups findings by cause; each finding links to its subject's screen. */
export function shownGroups(findings: readonly Finding[], facts: SystemFacts): FindingGroup[] {
  const known = subjectsIn(facts);
  return groupedByCause(findings).flatMap((group) => groupOf(group, known));
}

function subjectsIn({ configs, clusters }: SystemFacts): KnownSubjects {
  return {
    configs: new Set((valueOf(configs) ?? []).map(keyOf)),
    providers: new Set((valueOf(clusters) ?? []).map(({ providerId }) => providerId)),
  };
}

function groupOf(group: readonly Finding[], known: KnownSubjects): FindingGroup[] {
  const next = sharedNext(group);
  return group.slice(0, 1).map(({ severity, section, reason }) => ({
    severity,
    section,
    reason,
    count: group.length,
    nics: group.reduce((sum, finding) => sum + nicsOf(finding), 0),
    findings: group.slice(0, shownFindings).map((finding) => ({
      subject: finding.subject,
      link: nicLink(finding) ?? linkOf(finding, known),
      evidence: finding.evidence,
      next: next === undefined ? finding.next : undefined,
    })),
    next,
  }));
}

/** Returns the next step of all findings; undefined: none, or several. */
function sharedNext([first, ...others]: readonly Finding[]): Finding['next'] {
  const isShared = others.every(({ next }) => isDeepStrictEqual(next, first?.next));
  return isShared ? first?.next : undefined;
}

function nicsOf({ affected, subject }: Finding): number {
  return affected?.length ?? Number(isNicName(subject.split('/')[2]));
}

/** Returns the only NIC behind a finding; undefined: none, or several. */
function nicLink({ affected = [] }: Finding): SubjectLink | undefined {
  const [first, ...others] = affected;
  if (first === undefined || others.length > 0) return undefined;
  const [providerId = '', nodeName = ''] = first.node.split('/');
  return { kind: 'nic', providerId, nodeName, nic: first.nic };
}

/** Sections with `provider/node` as subject. */
const aboutNodes: ReadonlySet<Section> = new Set(['nodes', 'network', 'bootFiles']);

/** Returns the screen of a finding's subject. */
export function linkOf(
  { section, subject }: Pick<Finding, 'section' | 'subject'>,
  { configs, providers }: KnownSubjects,
): SubjectLink {
  const [first = '', second, third] = subject.split('/');
  if (second === undefined || section === 'parts') return clusterLink(first, providers);
  if (isNicName(third)) return { kind: 'nic', providerId: first, nodeName: second, nic: third };
  const isOfNodes = aboutNodes.has(section);
  if (configs.has(subject) && !(isOfNodes && providers.has(first))) {
    return { kind: 'config', namespace: first, name: second };
  }
  const isNode = isOfNodes || providers.has(first);
  return isNode ? { kind: 'node', providerId: first, nodeName: second } : { kind: 'other' };
}

function clusterLink(name: string, providers: ReadonlySet<string>): SubjectLink {
  return providers.has(name) ? { kind: 'cluster', providerId: name } : { kind: 'other' };
}

function isNicName(text: string | undefined): text is string {
  return text !== undefined && /^multinic[0-9]$/.test(text);
}
