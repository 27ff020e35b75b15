import type { OperatorReason } from '../../../api/reasons.ts';
import { parseDuration } from '../../../process/duration.ts';

/** An unusable field of an OpenstackConfig, or the setting behind the field. */
export interface FieldProblem {
  readonly reason: Extract<OperatorReason, 'ConfigError' | 'PolicyDenied' | 'SubnetRequired'>;
  readonly field: string;
  readonly message: string;
}

/** Four hanging calls block a cloud's lane for all its OpenstackConfigs. */
export const longestTimeoutMs = 5 * 60_000;

/** Reads fields and collects all problems, for a single report. */
export class Fields {
  readonly #problems: FieldProblem[] = [];
  readonly #capped: string[] = [];

  get problems(): readonly FieldProblem[] {
    return this.#problems;
  }

  /** Values reduced to a limit, with the limit. */
  get capped(): readonly string[] {
    return this.#capped;
  }

  /**
   * Returns a timeout (ms) from the CR, else from the operator's setting. Limited, because a hanging call keeps its
   * connection.
   */
  timeout(key: 'contrabassTimeout' | 'openstackTimeout', text: string | undefined, ownMs: number) {
    const field = `spec.settings.${key}`;
    const ms = this.duration(field, text, ownMs, 1);
    if (ms <= longestTimeoutMs) return ms;
    const given = text?.trim() ? `${field} "${text.trim()}"` : `the operator's setting ${key}`;
    this.#capped.push(`${given} is reduced to 5m, the longest timeout`);
    return longestTimeoutMs;
  }

  /** Records an unusable field. The message contains the value, so never pass a secret. */
  refuse(field: string, message: string, reason: FieldProblem['reason'] = 'ConfigError'): void {
    this.#problems.push({ reason, field, message: `${field} ${message}` });
  }

  /** Returns a duration (ms) from the CR, else the fallback. */
  duration(field: string, text: string | undefined, fallbackMs: number, minMs: number): number {
    const given = text?.trim();
    if (!given) return fallbackMs;
    const ms = parseDuration(given);
    if (ms === undefined) {
      this.refuse(field, `"${given}" is not a duration; write one such as 30s or 2m`);
    } else if (ms < minMs) {
      this.refuse(field, `"${given}" is too short; the minimum is ${minMs} ms`);
    } else return ms;
    return fallbackMs;
  }
}

/** Returns the text without surrounding blanks; undefined: nothing is left. */
export function trimmed(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}
