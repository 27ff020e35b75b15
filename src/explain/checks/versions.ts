import { doctorTexts } from '../../api/texts/doctor.ts';
import { filled } from '../../api/texts/text.ts';
import type { PartVersion } from '../facts.ts';
import { nextFor } from '../next-steps.ts';
import { same } from '../wording.ts';
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
      const { providerId } = part;
      const name =
        providerId === undefined
          ? same(part.part)
          : filled(doctorTexts.partOf, { part: part.part, providerId });
      const evidence = filled(doctorTexts.versionSkew, {
        name,
        version: part.version,
        operator: operator.version,
      });
      return { reason: 'VersionSkew', evidence, next: nextFor('VersionSkew', {}), part };
    });
}
