import type { OperatorReason } from '../../api/reasons.ts';
import { parseDuration } from '../../process/duration.ts';

/** One field of an OpenstackConfig (or the setting behind it) that cannot be used. */
export interface FieldProblem {
  readonly reason: Extract<OperatorReason, 'ConfigError' | 'PolicyDenied' | 'SubnetRequired'>;
  readonly field: string;
  readonly message: string;
}

/** Reads fields and collects everything that is wrong with them, so that all of it is said at once. */
export class Fields {
  readonly #problems: FieldProblem[] = [];

  get problems(): readonly FieldProblem[] {
    return this.#problems;
  }

  /** Notes a field that cannot be used; its value goes into the message, so no secret may come here. */
  refuse(field: string, message: string, reason: FieldProblem['reason'] = 'ConfigError'): void {
    this.#problems.push({ reason, field, message: `${field} ${message}` });
  }

  /** Milliseconds of a duration in the CR, else the fallback. */
  duration(field: string, text: string | undefined, fallbackMs: number, minMs: number): number {
    const given = text?.trim();
    if (!given) return fallbackMs;
    const ms = parseDuration(given);
    if (ms === undefined) {
      this.refuse(field, `"${given}" is not a duration; write one such as 30s or 2m`);
    } else if (ms < minMs) {
      this.refuse(field, `"${given}" is too short; the least is ${minMs} ms`);
    } else return ms;
    return fallbackMs;
  }
}

/** The text without surrounding blanks; undefined when nothing is left. */
export function trimmed(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}
