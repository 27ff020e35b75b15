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

/** A command's result. */
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

/** Results accepted by the user. */
interface Tolerance extends Pick<CommonOptions, 'allowIncomplete'> {
  /** Default: `error`. */
  readonly failOn?: FailOn;
}

/** Ends a command with its result; a command without a call ends with `done`. */
export type EndWith = (result: RunResult, tolerance?: Tolerance) => void;

/** Defines a command for users. */
export type Define = (endWith: EndWith) => Command;

/** Returns a run's exit status: the first applicable status. */
export function exitStatusOf(result: RunResult, tolerance: Tolerance = {}): ExitStatus {
  if (result.error !== undefined) return statusOfError(result.error);
  if (result.isFailed === true) return exit.failed;
  if (hasFindings(result, tolerance)) return exit.findings;
  if (result.hasChanges === true) return exit.changes;
  return isIncomplete(result, tolerance) ? exit.incomplete : exit.done;
}

function statusOfError(error: unknown): ExitStatus {
  if (error instanceof WrongUsage || error instanceof AccessError) return exit.usage;
  return error instanceof Refusal ? exit.refused : exit.failed;
}

function hasFindings({ severities = [] }: RunResult, { failOn = 'error' }: Tolerance): boolean {
  if (failOn === 'never') return false;
  return severities.some((severity) => severity === 'error' || severity === failOn);
}

function isIncomplete({ unread = [] }: RunResult, tolerance: Tolerance): boolean {
  const { failOn, allowIncomplete = false } = tolerance;
  return unread.length > 0 && !allowIncomplete && failOn !== 'never';
}
