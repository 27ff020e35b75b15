import type { OperatorReason } from '../../api/reasons.ts';
import { parseDuration } from '../../process/duration.ts';

/** One field of an OpenstackConfig (or the setting behind it) that cannot be used. */
export interface FieldProblem {
  readonly reason: Extract<OperatorReason, 'ConfigError' | 'PolicyDenied' | 'SubnetRequired'>;
  readonly field: string;
  readonly message: string;
}

/** Four calls that hang keep a cloud's lane for all its OpenstackConfigs. */
export const longestTimeoutMs = 5 * 60_000;

/** Reads fields and collects everything that is wrong with them, so that all of it is said at once. */
export class Fields {
  readonly #problems: FieldProblem[] = [];
  readonly #capped: string[] = [];

  get problems(): readonly FieldProblem[] {
    return this.#problems;
  }

  /** Values that count as less, with what they count as. */
  get capped(): readonly string[] {
    return this.#capped;
  }

  /** Milliseconds of a timeout in the CR, else of the operator's setting: a call that hangs keeps a connection for so long. */
  timeout(key: 'contrabassTimeout' | 'openstackTimeout', text: string | undefined, ownMs: number) {
    const field = `spec.settings.${key}`;
    const ms = this.duration(field, text, ownMs, 1);
    if (ms <= longestTimeoutMs) return ms;
    const given = text?.trim() ? `${field} "${text.trim()}"` : `the operator's setting ${key}`;
    this.#capped.push(`${given} counts as 5m, the longest timeout`);
    return longestTimeoutMs;
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
