import { doctorTexts } from '../../api/texts/doctor.ts';
import { amount, filled, type Wording } from '../../api/texts/text.ts';
import { versionSkews } from '../checks/versions.ts';
import type { ControllerFacts, PartHealth, PartVersion, SystemFacts } from '../facts.ts';
import type { SectionReport } from '../finding.ts';
import { nextFor } from '../next-steps.ts';
import { problemOf, resultOf } from '../part-health.ts';
import { valueOf } from '../subject.ts';
import { type Checked, error, info, onFact, reportOf, warning } from './check.ts';

/** Examines whether the parts run, have a leader and share a version. */
export function examineParts({ parts, versions, controllers }: SystemFacts): SectionReport {
  const skews = onFact(versions, (list): Checked => {
    const findings = versionSkews(list).map(({ part, evidence, next }) => {
      const subject = part.providerId ?? part.part;
      // The CLI's own version changes nothing.
      return part.part === 'cli'
        ? info(subject, 'VersionSkew', evidence)
        : warning(subject, 'VersionSkew', evidence, next);
    });
    return { findings, checks: isComparable(list) ? 1 : 0 };
  });
  const found = [...(valueOf(parts) ?? []), ...controllerHealth(controllers)];
  const summary = summaryOf(found, isComparable(valueOf(versions) ?? []));
  const ofControllers = [...controllers.values()].map((fact) =>
    onFact(fact, ({ health }) => unhealthy(health)),
  );
  return reportOf('parts', summary, [onFact(parts, unhealthy), skews, ...ofControllers]);
}

/** Returns the health of all readable controllers. */
export function controllerHealth(controllers: ControllerFacts): PartHealth[] {
  return [...controllers.values()].flatMap((fact) => [...(valueOf(fact)?.health ?? [])]);
}

/** True if the operator's version and a further part's version are known. */
function isComparable(versions: readonly PartVersion[]): boolean {
  const parts = versions.filter(({ part }) => part !== 'cli');
  return parts.length > 1 && parts.some(({ part }) => part === 'operator');
}

function unhealthy(parts: readonly PartHealth[]): Checked {
  const findings = parts.flatMap((part) => [...severalOf(part), ...findingsOf(part)]);
  return { findings, checks: parts.length };
}

/** Two operators change the same ports; the facts are about the first namespace. */
function severalOf(part: PartHealth): Checked['findings'] {
  const [examined, ...others] = part.homes ?? [];
  if (examined === undefined) return [];
  const evidence = filled(doctorTexts.severalOperators, { examined, others: others.join(', ') });
  return [error(nameOf(part), 'SeveralOperators', evidence, nextFor('SeveralOperators', {}))];
}

function findingsOf(part: PartHealth): Checked['findings'] {
  const { readyReplicas, replicas, installed } = part;
  const name = nameOf(part);
  const problem = problemOf(part);
  if (installed === 'None' && problem) {
    return [error(name, 'NotInstalled', problem, nextFor('NotInstalled', {}))];
  }
  const isProcess = installed === 'Process';
  const outside = isProcess ? [info(name, 'OutsideCluster', doctorTexts.runsOutside)] : [];
  if (problem === undefined) return outside;
  const evidence = isProcess
    ? problem
    : filled(doctorTexts.partNotReady, { problem, readyReplicas, replicas });
  const make = resultOf(part) === 'warn' ? warning : error;
  return [...outside, make(name, 'PartNotReady', evidence, nextFor('PartNotReady', { part }))];
}

function nameOf({ part, providerId }: PartHealth): string {
  return providerId === undefined ? part : `${providerId}/${part}`;
}

function summaryOf(parts: readonly PartHealth[], areComparable: boolean): Wording {
  const names = [...new Set(parts.map(({ part }) => part))].join(', ');
  const leaders = parts.filter(({ leader }) => leader !== undefined).length;
  const text = areComparable ? doctorTexts.sameVersions : doctorTexts.unknownVersions;
  return filled(text, { names, leaders: amount(leaders, 'leader') });
}
