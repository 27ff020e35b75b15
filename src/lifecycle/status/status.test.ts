import { describe, expect, it } from 'vitest';
import { findCondition } from '../../api/condition.ts';
import { type MultiNicOperatorStatus, multiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { reasons } from '../../api/reasons.ts';
import type { Outcome, Outcomes } from '../model/outcome.ts';
import { type Notice, unchanged } from '../model/stage.ts';
import { accept } from '../stages/accept/accept.ts';
import { operatorWith, testTime } from '../testing/observed.ts';
import { refusedStatus } from './refused.ts';
import { statusAfter } from './status.ts';

interface Case {
  readonly spec?: object;
  readonly annotations?: Record<string, string>;
  readonly outcomes?: Partial<Outcomes>;
  readonly before?: MultiNicOperatorStatus;
  readonly webhookAnswers?: boolean;
  readonly now?: Date;
}

function stage<R>(report: R, more: Partial<Outcome<R>> = {}, notices: readonly Notice[] = []) {
  const plan = { ...unchanged([], report), notices };
  return { plan, objects: new Map(), lost: new Map(), ...more } as Outcome<R>;
}

const running: Outcomes = {
  operation: stage({ waiting: [] }),
  credentials: stage(undefined),
  database: stage({ phase: 'Ready', readyReplicas: 1, version: '10.11.19-MariaDB' }),
  backup: stage({}),
  controller: stage({ phase: 'Ready', readyReplicas: 2, desiredReplicas: 2 }),
  triggers: stage(undefined),
  protection: stage({ configured: true }),
};
const whole = {
  database: { enabled: true },
  controller: { replicas: 2 },
  protection: { enableMutationPrevention: true },
};

function statusOf(given: Case = {}): MultiNicOperatorStatus {
  const { spec = whole, annotations = {}, before = {}, webhookAnswers = true } = given;
  const operator = operatorWith(spec, { annotations });
  const now = given.now ?? testTime;
  const accepted = accept(operator, now);
  const stages = Object.keys(running) as (keyof Outcomes)[];
  const outcomes = Object.fromEntries(
    stages.map((name) => {
      const outcome: Outcome = given.outcomes?.[name] ?? running[name];
      const { problems = outcome.plan.problems } = name === 'operation' ? {} : accepted[name];
      return [name, { ...outcome, plan: { ...outcome.plan, problems } }];
    }),
  ) as unknown as Outcomes;
  return statusAfter({ operator, before, accepted, outcomes, webhookAnswers, now });
}

/** Returns condition statuses by type. */
function conditionsOf({ conditions = [] }: MultiNicOperatorStatus): Record<string, string> {
  return Object.fromEntries(conditions.map(({ type, status }) => [type, status]));
}

/** Returns a case with a ready controller whose Deployment is in this state. */
function withDeployment(ensured: string): Case {
  const name = 'Deployment multinic-controller';
  const lost = new Map([[name, { managers: ['hpa'], paths: ['.spec.replicas'] }]]);
  const more = { objects: new Map([[name, ensured]]), lost };
  return { outcomes: { controller: stage({ phase: 'Ready' }, more as Partial<Outcome<object>>) } };
}

const drifted = withDeployment('drifted');
const contested = withDeployment('contested');
const later = new Date(testTime.getTime() + 60_000);

describe('status of a MultiNicOperator', () => {
  it('the phase is Running when every component is ready', () => {
    const status = statusOf();
    expect(status).toMatchObject({
      observedGeneration: 3,
      phase: 'Running',
      message: 'All components are running successfully',
      lastUpdated: '2026-11-26T10:00:00Z',
      controllerStatus: { phase: 'Ready', readyReplicas: 2, desiredReplicas: 2 },
      databaseStatus: { phase: 'Ready', readyReplicas: 1, version: '10.11.19-MariaDB' },
      protectionStatus: { active: true, preventedMutations: 0 },
    });
    expect(conditionsOf(status)).toEqual({ Ready: 'True', Accepted: 'True' });
    expect(findCondition(status.conditions, 'Ready')?.reason).toBe('AllComponentsReady');
  });

  it('the status is unchanged if nothing changed, including foreign conditions and refusal counts', () => {
    const foreign = { type: 'Custom', status: 'True' } as const;
    const counts = { preventedMutations: 4, lastProtectionEvent: '2026-11-26T09:00:00Z' };
    const before = statusOf({ before: { conditions: [foreign], protectionStatus: counts } });
    expect(before.protectionStatus).toEqual({ active: true, ...counts });
    expect(before.conditions).toContainEqual(foreign);
    expect(statusOf({ before, now: later })).toEqual(before);
  });

  it('lastUpdated changes with another field', () => {
    const before = statusOf();
    const outcomes = { controller: stage({ phase: 'Degraded', readyReplicas: 1 }) };
    expect(statusOf({ before, outcomes, now: later }).lastUpdated).toBe('2026-11-26T10:01:00Z');
  });

  it.each<[string, Case, string, RegExp]>([
    [
      'a component starts',
      { outcomes: { controller: stage({ phase: 'Progressing', message: 'ImagePullBackOff' }) } },
      'Pending',
      /^Some components are not ready: controller Progressing \(ImagePullBackOff\)$/,
    ],
    [
      'a component lost a replica',
      { outcomes: { database: stage({ phase: 'Degraded' }) } },
      'Degraded',
      /database Degraded/,
    ],
    [
      'a component refuses to start',
      { outcomes: { database: stage({ phase: 'Error', message: 'newer data' }) } },
      'Error',
      /database Error \(newer data\)/,
    ],
    ['the webhook does not answer', { webhookAnswers: false }, 'Pending', /protection Pending/],
    [
      'the webhook has no certificate',
      { outcomes: { protection: stage({ configured: false, message: 'Secret is foreign' }) } },
      'Pending',
      /protection Pending \(Secret is foreign\)/,
    ],
    [
      'the webhook is not configured',
      { outcomes: { protection: stage({ configured: false }) } },
      'Pending',
      /protection Pending/,
    ],
    [
      'the API server refuses an object',
      { outcomes: { backup: stage({}, { error: new Error('quota exceeded') }) } },
      'Error',
      /^backup: quota exceeded$/,
    ],
    [
      'a field cannot be used',
      { spec: { ...whole, database: { enabled: true, storageSize: 'lots' } } },
      'Error',
      /^spec\.database\.storageSize "lots" is not a quantity/,
    ],
    [
      'a stage stalls',
      {
        outcomes: {
          database: stage({ phase: 'Ready' }, {}, [
            { condition: 'Stalled', reason: 'BaseUnusable', message: 'no growth' },
          ]),
        },
      },
      'Error',
      /^no growth$/,
    ],
    [
      'a backup failed and every component is ready',
      {
        outcomes: {
          backup: stage({}, {}, [
            { condition: 'Degraded', reason: 'BackupFailed', message: 'volume full' },
          ]),
        },
      },
      'Degraded',
      /^volume full$/,
    ],
    [
      'a backup failed and a component starts',
      {
        outcomes: {
          database: stage({ phase: 'Progressing' }),
          backup: stage({}, {}, [
            { condition: 'Degraded', reason: 'BackupFailed', message: 'volume full' },
          ]),
        },
      },
      'Degraded',
      /database Progressing; volume full$/,
    ],
    [
      'another field manager contests an object',
      contested,
      'Degraded',
      /hpa changed \.spec\.replicas/,
    ],
  ])('phase and message show the cause when %s', (_what, given, phase, message) => {
    const status = statusOf(given);
    expect(status.phase).toBe(phase);
    expect(status.message).toMatch(message);
    expect(findCondition(status.conditions, 'Ready')).toMatchObject({ status: 'False' });
    expect(multiNicOperatorStatus.parse(status)).toEqual(status);
  });

  it('the phase is Running without the webhook during break-glass, or with protection disabled', () => {
    const outcomes = { protection: stage({ configured: false }) };
    const annotations = { 'multinic.io/break-glass': '2026-11-26T11:00:00Z' };
    expect(statusOf({ outcomes, annotations }).phase).toBe('Running');
    expect(statusOf({ outcomes, spec: {} }).phase).toBe('Running');
  });

  it.each(['Disabled', 'External'])(
    'an installation with database phase %s is Running',
    (phase) => {
      const status = statusOf({ outcomes: { database: stage({ phase }) }, spec: {} });
      expect(status.databaseStatus?.phase).toBe(phase);
      expect(status.phase).toBe('Running');
    },
  );

  it('the status keeps the last backup and restore while the stage reads none', () => {
    const lastBackup = { at: '2026-11-26T03:00:00Z', file: 'a.sql', bytes: 1, verified: true };
    const lastRestore = { request: 'latest', result: 'Succeeded' };
    const before = statusOf({ outcomes: { backup: stage({ lastBackup, lastRestore }) } });
    expect(statusOf({ before }).databaseStatus).toMatchObject({ lastBackup, lastRestore });
  });
});

describe('conditions of a MultiNicOperator', () => {
  const notice = (condition: Notice['condition']) => ({
    outcomes: {
      credentials: stage(undefined, {}, [{ condition, reason: 'SecretInSpec', message: 'm' }]),
    },
  });

  it.each<[string, Case]>([
    ['Reconciling', { webhookAnswers: false }],
    ['Reconciling', { outcomes: { backup: stage({}, { error: new Error('503') }) } }],
    ['Stalled', { spec: { controller: { replicas: -1 } } }],
    ['SecretInSpec', notice('SecretInSpec')],
    ['OtherControllerActive', notice('OtherControllerActive')],
    ['Contested', contested],
    ['Drifted', drifted],
  ])('%s appears with its cause and becomes False afterwards', (type, given) => {
    const before = statusOf(given);
    expect(conditionsOf(before)[type]).toBe('True');
    const after = statusOf({ before, now: later });
    expect(conditionsOf(after)[type]).toBe('False');
    expect(statusOf({ before: after, now: later })).toEqual(after);
    expect(conditionsOf(statusOf())[type]).toBeUndefined();
  });

  it('Stalled is True and Reconciling False for problems only a user can fix', () => {
    const before = statusOf({ webhookAnswers: false });
    const after = statusOf({ before, spec: { controller: { replicas: 2 } } });
    expect(conditionsOf(after)).toMatchObject({ Stalled: 'True', Reconciling: 'False' });
  });

  it('Accepted lists every field once, and a correction makes it True', () => {
    const spec = { database: { enabled: true, image: '', storageSize: 'lots' } };
    const before = statusOf({ spec });
    const accepted = findCondition(before.conditions, 'Accepted');
    expect(accepted).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
    expect(accepted?.message?.match(/spec\.database\.(image|storageSize) "/g)).toHaveLength(2);
    expect(conditionsOf(statusOf({ before }))['Accepted']).toBe('True');
  });

  it('Accepted names an expired break-glass time, and the phase stays Running', () => {
    const annotations = { 'multinic.io/break-glass': '2026-11-26T09:00:00Z' };
    const status = statusOf({ annotations });
    expect(status.phase).toBe('Running');
    expect(findCondition(status.conditions, 'Accepted')).toMatchObject({
      status: 'False',
      reason: 'InvalidAnnotation',
    });
    expect(statusOf({ before: status, annotations, now: later })).toEqual(status);
  });

  it("the legacy operator's conditions are updated only if an object has them", () => {
    const old = { type: 'databaseReady', status: 'True', reason: 'Ready' } as const;
    const outcomes = { database: stage({ phase: 'Pending' }) };
    const status = statusOf({ before: { conditions: [old] }, outcomes });
    expect(conditionsOf(status)).toMatchObject({ databaseReady: 'False' });
    expect(conditionsOf(status)['controllerReady']).toBeUndefined();
  });

  it('all condition reasons are in the reasons table', () => {
    const all = [
      statusOf(),
      statusOf({ webhookAnswers: false }),
      statusOf({ spec: { controller: { replicas: -1 } } }),
      statusOf(drifted),
    ];
    const used = all.flatMap(({ conditions = [] }) => conditions.map(({ reason = '' }) => reason));
    expect(used.filter((reason) => !(reason in reasons))).toEqual([]);
  });
});

describe('status of a MultiNicOperator ignored by lifecycle', () => {
  const problem = { field: 'metadata.name', message: 'a cluster has one MultiNicOperator' };
  const operator = operatorWith({});

  it('a refused status shows the reason, is stable, and keeps refusal counts', () => {
    const counted = { protectionStatus: { active: true, preventedMutations: 2 } };
    const status = refusedStatus(operator, counted, problem, testTime);
    expect(status).toMatchObject({ phase: 'Error', message: problem.message });
    expect(status.protectionStatus).toEqual({ preventedMutations: 2 });
    expect(conditionsOf(status)).toEqual({ Ready: 'False', Accepted: 'False', Stalled: 'True' });
    expect(refusedStatus(operator, status, problem, later)).toEqual(status);
  });
});
