import { type Backoff, backoffMs } from '../../time/backoff.ts';
import type { Random } from '../../time/clock.ts';
import { isGone, KubeError } from '../errors.ts';

/** kube-rs' and client-go's values: quick enough after a restart of the API server, never a storm. */
const restartBackoff: Backoff = { baseMs: 800, maxMs: 30_000 };

/** So often a watch may fail without having given anything before its starting point is doubted too. */
const triesFromOneVersion = 5;

/** What a reflector does, and what it will do when it has waited. */
export type Active =
  | {
      readonly name: 'listing';
      /** Where a watch stands that works, and that this list is only to check. */
      readonly resumeFrom?: string;
    }
  | { readonly name: 'watching'; readonly resourceVersion: string };

export type RunningState =
  | (Active & { readonly failures: number })
  | {
      readonly name: 'waiting';
      readonly failures: number;
      readonly waitMs: number;
      readonly next: Active;
    };

export type ReflectorState = RunningState | { readonly name: 'stopped' };

/** How a step of a reflector ended. */
export type StepResult =
  | { readonly kind: 'listed'; readonly resourceVersion: string }
  /** The server ended the watch; `healthy`: it told something or lasted a while. */
  | { readonly kind: 'ended'; readonly resourceVersion: string; readonly healthy: boolean }
  | { readonly kind: 'relistDue' }
  | {
      readonly kind: 'failed';
      readonly error: unknown;
      /** Where the watch stood; undefined while listing. */
      readonly resourceVersion?: string;
      readonly healthy: boolean;
    }
  | { readonly kind: 'waited' }
  | { readonly kind: 'aborted' };

export const firstState: RunningState = { name: 'listing', failures: 0 };

/**
 * The transitions of a reflector:
 *
 *     listing  ── listed ──▶ watching ── ended, healthy ──▶ watching (from where it stood)
 *        │                      │  └── relist due ──▶ listing
 *        │ failed               │ failed, or ended at once
 *        ▼                      ▼
 *     waiting ◀─────────────────┘      ── waited ──▶ watching; listing after 410 or a failed list
 *
 * When a list fails that was due, the watch that it was to check goes on: it works, and a server may have trouble with
 * lists alone. An abort leads from everywhere to stopped.
 */
export function transition(
  state: RunningState,
  result: StepResult,
  random: Random,
): ReflectorState {
  if (result.kind === 'aborted') return { name: 'stopped' };
  if (result.kind === 'relistDue') return dueList(state);
  if (result.kind === 'waited') return afterWaiting(state);
  if (result.kind === 'failed') {
    const failures = result.healthy ? 0 : state.failures;
    return waiting(failures, afterFailure(state, result, failures), random, result.error);
  }
  const watching = { name: 'watching', resourceVersion: result.resourceVersion } as const;
  // The failures stay: a list that works and a watch that does not must not alternate without a pause.
  if (result.kind === 'listed') return { ...watching, failures: state.failures };
  return result.healthy ? { ...watching, failures: 0 } : waiting(state.failures, watching, random);
}

function afterWaiting(state: RunningState): ReflectorState {
  return state.name === 'waiting' ? { ...state.next, failures: state.failures } : firstState;
}

function dueList(state: RunningState): RunningState {
  return state.name === 'watching'
    ? { name: 'listing', failures: 0, resumeFrom: state.resourceVersion }
    : firstState;
}

function afterFailure(
  state: RunningState,
  { error, resourceVersion }: Extract<StepResult, { kind: 'failed' }>,
  failures: number,
): Active {
  if (state.name === 'listing' && state.resumeFrom !== undefined) {
    return { name: 'watching', resourceVersion: state.resumeFrom };
  }
  const doubted = failures % triesFromOneVersion === triesFromOneVersion - 1;
  return resourceVersion === undefined || isGone(error) || doubted
    ? { name: 'listing' }
    : { name: 'watching', resourceVersion };
}

function waiting(
  failures: number,
  next: Active,
  random: Random,
  error?: unknown,
): Extract<ReflectorState, { name: 'waiting' }> {
  const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
  const waitMs = Math.max(backoffMs(failures, restartBackoff, random), asked);
  return { name: 'waiting', failures: failures + 1, waitMs, next };
}
