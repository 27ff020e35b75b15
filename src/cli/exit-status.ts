import type { Command } from 'commander';
import type { UnreadSource } from '../explain/conclusion.ts';
import type { Severity } from '../explain/finding.ts';
import { AccessError } from '../kube/access/access-error.ts';
import type { CommonOptions, FailOn } from './options.ts';
import { Refusal, WrongUsage } from './refusal.ts';

/** Exit statuses of commands for users. */
export const exit = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  /** `plan`, `diff`: planned changes or differences. */
  changes: 4,
  /** `status`, `why`, `doctor`: findings at or above `--fail-on`. */
  findings: 5,
  /** A required source was not read. */
  incomplete: 6,
} as const;

type ExitStatus = (typeof exit)[keyof typeof exit];

/** Result of a command. */
export interface RunResult {
  /** Error that ended the command. */
  readonly error?: unknown;
  /** Nothing was read, or the requested action failed. */
  readonly isFailed?: boolean;
  readonly severities?: readonly Severity[];
  /** Planned changes or differences. */
  readonly hasChanges?: boolean;
  /** Required sources without an answer. */
  readonly unread?: readonly UnreadSource[];
}

/** Results that the user accepts. */
interface Tolerance extends Pick<CommonOptions, 'allowIncomplete'> {
  /** Default: `error`. */
  readonly failOn?: FailOn;
}

/** Ends a command with its result; a command without a call ends with `done`. */
export type EndWith = (result: RunResult, tolerance?: Tolerance) => void;

/** Defines a command for users. */
export type Define = (endWith: EndWith) => Command;

/** Returns the exit status of a run: the first status that applies. */
export function exitStatusOf(result: RunResult, tolerance: Tolerance = {}): ExitStatus {
  if (result.error !== undefined) return statusOfError(result.error);
  if (result.isFailed === true) return exit.failed;
  const { severities = [], hasChanges = false, unread = [] } = result;
  const { failOn = 'error', allowIncomplete = false } = tolerance;
  if (severities.some((severity) => counts(severity, failOn))) return exit.findings;
  if (hasChanges) return exit.changes;
  const isAllowed = allowIncomplete || failOn === 'never';
  return unread.length > 0 && !isAllowed ? exit.incomplete : exit.done;
}

function statusOfError(error: unknown): ExitStatus {
  if (error instanceof WrongUsage || error instanceof AccessError) return exit.usage;
  return error instanceof Refusal ? exit.refused : exit.failed;
}

function counts(severity: Severity, failOn: FailOn): boolean {
  if (failOn === 'never') return false;
  return severity === 'error' || severity === failOn;
}
