import { expect } from 'vitest';
import type { JobResult } from '../../src/api/job.ts';
import { type NodeConfigStatus, nodeConfigStatus } from '../../src/api/multinicnodeconfig.ts';
import type { Situation } from '../../src/controller/conditions.ts';
import { acceptSpec } from '../../src/controller/request.ts';
import type { Run, Verdict } from '../../src/controller/runner.ts';
import { statusOf } from '../../src/controller/status.ts';
import type { NodeConfig } from '../../src/controller/stores.ts';
import { jobResult, nodeConfig, order } from './controller-samples.ts';

/** Situations of an object and the status that they give. */

export const now = new Date('2026-01-01T12:00:00Z');
export const endedAt = new Date('2026-01-01T11:59:00Z');
export const same = { kind: 'same' } as const;

export function run(change: Partial<Run> = {}): Run {
  const made = order(change);
  return {
    ...made,
    name: 'job-1',
    phase: 'running',
    trouble: undefined,
    ended: undefined,
    ...change,
  };
}

export function ended(verdict: Verdict, change: Partial<Run> = {}): Situation {
  return { kind: 'ended', job: run(change).name, at: endedAt, verdict };
}

export function reported(change: Partial<JobResult> = {}, ofRun: Partial<Run> = {}): Situation {
  return ended({ kind: 'result', result: jobResult(change) }, ofRun);
}

export function status(
  situation: Situation,
  config: NodeConfig = nodeConfig(),
  at = now,
): NodeConfigStatus {
  const next = statusOf({ config, spec: acceptSpec(config), name: same, situation, now: at });
  expect(nodeConfigStatus.parse(next)).toEqual(next);
  return next;
}

export function conditionsIn(next: NodeConfigStatus): Record<string, string> {
  return Object.fromEntries(
    (next.conditions ?? []).map(({ type, status: holds, reason }) => [type, `${holds} ${reason}`]),
  );
}

export function lines(next: NodeConfigStatus) {
  return next.interfaceStatuses?.map(
    ({ name, status: word, reason }) => `${name} ${word} ${reason}`,
  );
}
