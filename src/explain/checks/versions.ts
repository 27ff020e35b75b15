import type { PartVersion } from '../facts.ts';
import { nextFor } from '../next-steps.ts';
import { say } from '../wording.ts';
import type { CheckWarning } from './check-warning.ts';

/** Part with a version unlike the operator's. */
export interface Skew extends CheckWarning {
  readonly part: PartVersion;
}

/** Returns parts with a version unlike the operator's; empty: equal, or the operator's version is unknown. */
export function versionSkews(versions: readonly PartVersion[]): readonly Skew[] {
  const operator = versions.find(({ part }) => part === 'operator');
  if (!operator) return [];
  return versions
    .filter(({ version }) => version !== operator.version)
    .map((part) => {
      const where = part.providerId === undefined ? '' : ` of ${part.providerId}`;
      const whereKo = part.providerId === undefined ? '' : `${part.providerId}의 `;
      const evidence = say(
        `${part.part}${where} ${part.version}, operator ${operator.version}`,
        `${whereKo}${part.part} ${part.version}, operator ${operator.version}`,
      );
      return { reason: 'VersionSkew', evidence, next: nextFor('VersionSkew', {}), part };
    });
}
