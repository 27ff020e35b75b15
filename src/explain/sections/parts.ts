import { doctorTexts } from '../../api/texts/doctor.ts';
import { amount, filled, type Wording } from '../../api/texts/text.ts';
import { versionSkews } from '../checks/versions.ts';
import type { PartHealth, SystemFacts } from '../facts.ts';
import type { SectionReport } from '../finding.ts';
import { nextFor } from '../next-steps.ts';
import { valueOf } from '../subject.ts';
import { same } from '../wording.ts';
import { type Checked, error, info, onFact, reportOf, warning } from './check.ts';

/** Examines whether the parts run, have a leader and share a version. */
export function examineParts({ parts, versions }: SystemFacts): SectionReport {
  const skews = onFact(versions, (list): Checked => {
    const findings = versionSkews(list).map(({ part, evidence, next }) => {
      const subject = part.providerId ?? part.part;
      // The CLI's own version changes nothing.
      return part.part === 'cli'
        ? info(subject, 'VersionSkew', evidence)
        : warning(subject, 'VersionSkew', evidence, next);
    });
    return { findings, checks: 1 };
  });
  return reportOf('parts', summaryOf(valueOf(parts) ?? []), [onFact(parts, unhealthy), skews]);
}

function unhealthy(parts: readonly PartHealth[]): Checked {
  const findings = parts.flatMap((part) => {
    const { readyReplicas, replicas } = part;
    const problem = problemOf(part);
    if (problem === undefined) return [];
    const evidence = filled(doctorTexts.partNotReady, { problem, readyReplicas, replicas });
    return [error(nameOf(part), 'PartNotReady', evidence, nextFor('PartNotReady', {}))];
  });
  return { findings, checks: parts.length };
}

function problemOf({ problem, part, leader }: PartHealth): Wording | undefined {
  if (problem !== undefined) return same(problem);
  const hasNone = part === 'operator' && leader === undefined;
  return hasNone ? doctorTexts.noReplicaLeads : undefined;
}

function nameOf({ part, providerId }: PartHealth): string {
  return providerId === undefined ? part : `${providerId}/${part}`;
}

function summaryOf(parts: readonly PartHealth[]): Wording {
  if (parts.length === 0) return same('');
  const names = [...new Set(parts.map(({ part }) => part))].join(', ');
  const leaders = parts.filter(({ leader }) => leader !== undefined).length;
  return filled(doctorTexts.sameVersions, { names, leaders: amount(leaders, 'leader') });
}
