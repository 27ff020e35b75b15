import type { Command } from 'commander';

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

/** Sets the exit status for a command without an error; default `done`. */
export type EndWith = (status: ExitStatus) => void;

/** Defines a command for users. */
export type Define = (endWith: EndWith) => Command;
