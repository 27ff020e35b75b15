import type { NodeView } from '../../api/read-http.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { existingNicsTexts } from '../../api/texts/existing-nics.ts';
import { amount, filled, type Language, type Wording } from '../../api/texts/text.ts';
import type { Finding } from '../../explain/finding.ts';
import { isObstacle, isRefused, wouldChange } from '../../explain/obstacles.ts';
import { refusedNics } from '../../explain/sections/refused-nics.ts';
import { isObserved } from '../../explain/subject.ts';
import { ageOf } from '../../explain/wording.ts';
import type { AccessOptions } from '../../session/access/options.ts';
import { commandInContext, inContext } from '../../session/in-context.ts';
import { findingRows } from '../output/finding-groups.ts';

/** NICs of a plan on their nodes, by the last check of each node. */
export interface OnNodes {
  readonly findings: readonly Finding[];
  readonly observed: readonly NodeView[];
  /** Oldest of the last checks; undefined: no node was checked. */
  readonly checkedAt: string | undefined;
}

/** Returns the findings about NICs with foreign configuration, with next steps for the user's clusters. */
export function onNodes(nodes: readonly NodeView[], options: AccessOptions): OnNodes {
  const findings = refusedNics(nodes)
    .filter(({ reason }) => isObstacle(reason))
    .map((finding): Finding => {
      const [provider] = finding.subject.split('/');
      return { section: 'nodes', ...finding, next: inContext(finding.next, options, provider) };
    });
  const [checkedAt] = nodes.flatMap((node) => node.checkedAt ?? []).toSorted();
  return { findings, observed: nodes.filter(isObserved), checkedAt };
}

/** Returns the lines about the nodes; empty: no obstacle, and no observed node. */
export function onNodesLines(
  { findings, observed, checkedAt }: OnNodes,
  { now, options, lang }: { now: Date; options: AccessOptions; lang: Language },
): string[] {
  if (findings.length === 0 && observed.length === 0) return [];
  const complete = (command: string) => commandInContext(command, options);
  const rows = findingRows(findings, lang, complete);
  return [
    filled(existingNicsTexts.lastChecks, { since: sinceText(checkedAt, now) })[lang],
    ...rows.flatMap(({ head, below }) => [`  ${head}`, ...below.map((line) => `        ${line}`)]),
    ...(observed.length > 0 ? [`  ${observedText(observed, lang)}`] : []),
  ];
}

/** Returns " (oldest check AGE ago)"; empty: the time is unknown. */
function sinceText(checkedAt: string | undefined, now: Date): Wording {
  const age = ageOf(checkedAt, now);
  return age.en === '' ? age : filled(doctorTexts.oldestCheck, { age });
}

function observedText(observed: readonly NodeView[], lang: Language): string {
  const nics = observed.flatMap((node) => node.nics);
  const done = nics.filter(({ state }) => state === 'Configured').length;
  const refused = nics.filter(isRefused).length;
  const changed = nics.filter(wouldChange).length;
  const counts = { done, refused, changed, all: amount(nics.length, 'NIC') };
  return filled(existingNicsTexts.observedNics, counts)[lang];
}
