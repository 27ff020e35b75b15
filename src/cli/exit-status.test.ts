import { expect, it } from 'vitest';
import { AccessError } from '../kube/access/access-error.ts';
import { exitStatusOf, type RunResult } from './exit-status.ts';
import { Refusal, WrongUsage } from './refusal.ts';

const viola = {
  source: 'Viola',
  place: 'biz-1',
  why: { en: 'timeout', ko: '' },
  next: [],
} as const;
const all: RunResult = { severities: ['error'], hasChanges: true, unread: [viola] };
const unread: RunResult = { severities: ['warning', 'info'], unread: [viola] };

it.each([
  { status: 2, title: 'wrong usage', result: { ...all, error: new WrongUsage('a', 'b') } },
  {
    status: 2,
    title: 'no usable kubeconfig',
    result: { ...all, error: new AccessError('a', 'b') },
  },
  { status: 3, title: 'a refusal', result: { ...all, error: new Refusal('a', 'b') } },
  { status: 1, title: 'another error', result: { ...all, error: new Error('a') } },
  { status: 1, title: 'nothing read', result: { ...all, isFailed: true } },
  { status: 5, title: 'an error among findings', result: all },
  { status: 5, title: 'a warning that counts', result: unread, tolerance: { failOn: 'warning' } },
  { status: 4, title: 'changes beside warnings', result: { ...unread, hasChanges: true } },
  { status: 6, title: 'a silent source beside warnings', result: unread },
  { status: 0, title: '--allow-incomplete', result: unread, tolerance: { allowIncomplete: true } },
  { status: 0, title: '--fail-on never', result: unread, tolerance: { failOn: 'never' } },
  { status: 0, title: 'a warning alone', result: { severities: ['warning'] } },
] as const)('a run ends with $status for $title', ({ status, result, ...rest }) => {
  expect(exitStatusOf(result, 'tolerance' in rest ? rest.tolerance : {})).toBe(status);
});
