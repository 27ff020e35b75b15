import { type Backoff, backoffMs } from '../../time/backoff.ts';
import type { Random } from '../../time/clock.ts';
import { isGone, KubeError } from '../errors.ts';

/** Backoff from kube-rs and client-go: quick after an API server restart, never a storm. */
const restartBackoff: Backoff = { baseMs: 800, maxMs: 30_000 };

/** Failed watches without events from one version, before a relist. */
const triesPerVersion = 5;

/** A reflector's activity, current or after waiting. */
type Active =
  | {
      readonly name: 'listing';
      /** Version for resuming the watch this relist verifies. */
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

/** A reflector step's result. */
export type StepResult =
  | { readonly kind: 'listed'; readonly resourceVersion: string }
  /** The server ended the watch; `healthy`: events arrived, or the watch lasted long enough. */
  | { readonly kind: 'ended'; readonly resourceVersion: string; readonly healthy: boolean }
  | { readonly kind: 'relistDue' }
  | {
      readonly kind: 'failed';
      readonly error: unknown;
      /** The watch's last version; undefined while listing. */
      readonly resourceVersion?: string;
      readonly healthy: boolean;
    }
  | { readonly kind: 'waited' }
  | { readonly kind: 'aborted' };

export const firstState: RunningState = { name: 'listing', failures: 0 };

/**
 * Reflector state transitions:
 *
 *     listing  ── listed ──▶ watching ── ended, healthy ──▶ watching (last version)
 *        │                      │  └── relist due ──▶ listing
 *        │ failed               │ failed, or ended at once
 *        ▼                      ▼
 *     waiting ◀─────────────────┘      ── waited ──▶ watching; listing after 410 or a failed list
 *
 * After a failed relist the watch resumes: it works, and the server may fail only lists. An abort leads to
 * `stopped` from every state.
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
  // Keeps the failure count: a working list and a failing watch must not alternate without a pause.
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
  const isSuspect = failures % triesPerVersion === triesPerVersion - 1;
  return resourceVersion === undefined || isGone(error) || isSuspect
    ? { name: 'listing' }
    : { name: 'watching', resourceVersion };
}

function waiting(
  failures: number,
  next: Active,
  random: Random,
  error?: unknown,
): Extract<ReflectorState, { name: 'waiting' }> {
  const requestedMs = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
  const waitMs = Math.max(backoffMs(failures, restartBackoff, random), requestedMs);
  return { name: 'waiting', failures: failures + 1, waitMs, next };
}
