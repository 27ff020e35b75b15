import type { PartVersion } from '../facts.ts';
import { nextFor } from '../next-steps.ts';
import { say } from '../wording.ts';
import type { Hint } from './hint.ts';

/** A part whose version differs from the operator's. */
export interface Skew extends Hint {
  readonly part: PartVersion;
}

/** Returns the parts whose version differs from the operator's; none if the operator's is unknown. */
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
