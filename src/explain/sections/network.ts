import type { NodeView } from '../../api/read-http.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { amount, filled } from '../../api/texts/text.ts';
import { mtuDifferences } from '../checks/mtu.ts';
import { multinic } from '../commands.ts';
import type { Missing } from '../fact.ts';
import type { SystemFacts } from '../facts.ts';
import type { SectionReport } from '../finding.ts';
import { nextFor } from '../next-steps.ts';
import { bootWarningsOf } from '../node-messages.ts';
import { isObserved, nodeKey, valueOf } from '../subject.ts';
import { ageOf, joined, same } from '../wording.ts';
import { onFact, reportOf, warning } from './check.ts';
import { examinePaths } from './node-paths.ts';

/** Examines whether each network has a single MTU, and each NIC its own path. */
export function examineNetwork(facts: SystemFacts): SectionReport {
  const { nodes } = facts;
  const checked = onFact(nodes, (list) => ({
    findings: mtuDifferences(list).map(({ network, reason, evidence, next }) =>
      warning(network, reason, evidence, next),
    ),
    checks: list.some(({ nics }) => nics.length > 0) ? 1 : 0,
  }));
  const networks = new Set(
    (valueOf(nodes) ?? []).flatMap(({ nics }) => nics.map((nic) => nic.networkId)),
  );
  const summary = filled(doctorTexts.oneMtu, { networks: amount(networks.size, 'network') });
  return reportOf('network', summary, [checked, ...examinePaths(facts)]);
}

/** Examines whether a boot restores the NICs. */
export function examineBootFiles({ nodes, now }: SystemFacts): SectionReport {
  const checked = onFact(nodes, (list) => ({
    findings: list.flatMap((node) => {
      const byReason = Map.groupBy(bootWarningsOf(node), ({ reason }) => reason);
      return [...byReason].map(([reason, warnings]) => {
        const evidence = joined(warnings.map(({ text }) => same(text)));
        return warning(nodeKey(node), reason, evidence, nextFor(reason, {}));
      });
    }),
    checks: list.every((node) => isSilent(node) || isObserved(node)) ? 0 : 1,
    skipped: unread(list),
  }));
  // No agent has read the files of a node without status, or compared those of an observed node.
  const all = (valueOf(nodes) ?? []).filter((node) => !isSilent(node) && !isObserved(node));
  const oldest = all.flatMap(({ checkedAt }) => checkedAt ?? []).toSorted()[0];
  const age = ageOf(oldest, now);
  const since = age.en ? filled(doctorTexts.oldestCheck, { age }) : same('');
  const summary = filled(doctorTexts.bootFilesMatch, { nodes: amount(all.length, 'node'), since });
  return reportOf('bootFiles', summary, [checked]);
}

function isSilent({ state, nics }: NodeView): boolean {
  return state === 'Unknown' && nics.length > 0;
}

function unread(nodes: readonly NodeView[]): Missing[] {
  const count = nodes.filter(isSilent).length;
  if (count === 0) return [];
  const what = filled(doctorTexts.bootFilesOf, { nodes: amount(count, 'node') });
  const why = doctorTexts.noAgentReport;
  return [{ what, why, next: same(multinic('nodes', '--state', 'Unknown')) }];
}
