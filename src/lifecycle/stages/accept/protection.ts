import type { MultiNicOperatorSpec } from '../../../api/multinicoperator.ts';
import { annotations } from '../../../api/names.ts';
import type { Checked, Problem, ProtectionWanted } from '../../model/accepted.ts';
import type { OperatorObject } from '../../model/multinicoperator.ts';
import { checked, unusable } from './checked.ts';

type Protection = NonNullable<MultiNicOperatorSpec['protection']>;

/** Admission operation per word; undefined for reads, which admission never sees. */
const operations = new Map<string, 'update' | 'delete' | 'scale' | undefined>([
  ['get', undefined],
  ['list', undefined],
  ['watch', undefined],
  ['update', 'update'],
  ['patch', 'update'],
  ['delete', 'delete'],
  ['scale', 'scale'],
]);

const longestMs = 4 * 3_600_000;

/** Checks the protection fields; an unusable break-glass time is ignored. */
export function acceptProtection(
  protection: Protection,
  breakGlassUntil: Date | undefined,
): Checked<ProtectionWanted> {
  const {
    enableMutationPrevention: preventsMutations = false,
    enableAutoRecovery: recovers = true,
    allowedOperations = [],
  } = protection;
  const unknown = allowedOperations.flatMap((word, at) =>
    operations.has(word)
      ? []
      : [
          unusable(
            `spec.protection.allowedOperations[${at}]`,
            word,
            `is not known; use ${[...operations.keys()].join(', ')}`,
          ),
        ],
  );
  const allowed = new Set(allowedOperations.flatMap((word) => operations.get(word) ?? []));
  const until = breakGlassUntil === undefined ? {} : { breakGlassUntil };
  return checked({ preventsMutations, recovers, allowed, ...until }, unknown);
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const field = `metadata.annotations[${annotations.breakGlass}]`;

/** Reads the end time of a break-glass pause. */
export function readBreakGlass(
  { metadata }: OperatorObject,
  now: Date,
): { readonly until?: Date; readonly problems: readonly Problem[] } {
  const text = metadata.annotations?.[annotations.breakGlass];
  if (text === undefined) return { problems: [] };
  const until = new Date(rfc3339.test(text) ? text : Number.NaN);
  const ahead = until.getTime() - now.getTime();
  if (Number.isNaN(ahead)) {
    return { problems: [refused(text, 'is not a time')] };
  }
  if (ahead <= 0) return { problems: [refused(text, 'is in the past')] };
  if (ahead > longestMs) return { problems: [refused(text, 'is more than 4 hours ahead')] };
  return { until, problems: [] };
}

/** Without the current time in the message, which would change the status on every reconcile. */
function refused(text: string, what: string): Problem {
  const next =
    'protection stays active; remove the annotation, or set an RFC 3339 time at most 4 hours ahead of the clock of lifecycle';
  return unusable(field, text, `${what}; ${next}`);
}
