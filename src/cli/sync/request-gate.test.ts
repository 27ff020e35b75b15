import { expect, it } from 'vitest';
import { annotations } from '../../api/names.ts';
import { config } from '../../explain/testing/healthy.ts';
import { requestGate } from './request-gate.ts';

const failing = { type: 'Ready', status: 'False', reason: 'KeystoneError', message: 'refused' };
const silent = { ...failing, reason: 'ViolaPostError', message: 'ViolaUnavailable: viola: x' };
const ready = { type: 'Ready', status: 'True', reason: 'NoChange', message: '' };
const attempt = { reconcileAt: 'earlier', at: '2026-11-26T05:00:00Z' };

/** Reads by second: Ready condition, the last attempt that the operator reports, and annotations. */
type Reads = readonly (readonly [
  second: number,
  condition: object,
  lastAttempt?: object,
  values?: Readonly<Record<string, string>>,
])[];

it.each<[string, 'sync' | 'check', Reads, string]>([
  [
    'Ready False of an older operator has not changed for 30 s',
    'sync',
    [
      [0, failing],
      [30, failing],
    ],
    'failing',
  ],
  [
    'Ready False of an older operator changed 29 s ago',
    'sync',
    [
      [0, ready],
      [1, failing],
      [30, failing],
    ],
    'open',
  ],
  [
    'Ready False changes its message',
    'sync',
    [
      [0, failing],
      [20, { ...failing, message: 'again' }],
      [40, { ...failing, message: 'again' }],
    ],
    'open',
  ],
  [
    'Ready is True',
    'sync',
    [
      [0, ready],
      [90, ready],
    ],
    'open',
  ],
  [
    'the operator reports attempts, the last for an earlier request',
    'sync',
    [
      [0, failing, attempt],
      [90, failing, attempt],
    ],
    'open',
  ],
  [
    'the operator reports an attempt for the request',
    'sync',
    [[0, failing, { ...attempt, reconcileAt: 'own' }]],
    'handled',
  ],
  [
    'Viola has not answered for 30 s',
    'check',
    [
      [0, silent, attempt],
      [30, silent, attempt],
    ],
    'failing',
  ],
  [
    'Ready False has another cause',
    'check',
    [
      [0, failing],
      [30, failing],
    ],
    'open',
  ],
  [
    'Ready False has a reason of a newer operator',
    'check',
    [
      [0, { ...failing, reason: 'Newer' }],
      [30, { ...failing, reason: 'Newer' }],
    ],
    'failing',
  ],
  [
    'another request has the annotation',
    'sync',
    [[0, ready, attempt, { [annotations.reconcileAt]: 'other' }]],
    'replaced',
  ],
  [
    'another check has the annotation',
    'check',
    [[0, ready, attempt, { [annotations.checkNodes]: 'other' }]],
    'replaced',
  ],
  [
    'another request follows the handled one',
    'sync',
    [[0, ready, { ...attempt, reconcileAt: 'own' }, { [annotations.reconcileAt]: 'other' }]],
    'handled',
  ],
  [
    'a user pauses the OpenstackConfig',
    'sync',
    [[0, ready, attempt, { [annotations.reconcileAt]: 'own', [annotations.paused]: 'true' }]],
    'paused',
  ],
])('%4$s: %s (%2$s)', (_, kind, reads, state) => {
  const gate = requestGate({ kind, value: 'own', text: 'own' });
  const states = reads.map(([second, condition, lastAttempt, values = {}]) => {
    const status = { conditions: [condition], ...(lastAttempt ? { lastAttempt } : {}) };
    const metadata = { ...config.metadata, annotations: values };
    return gate({ ...config, metadata, status } as never, second * 1_000);
  });
  expect(states.at(-1)).toBe(state);
});
