import { describe, expect, it } from 'vitest';
import { metricTable } from '../../api/metrics.ts';
import { configMaps, validatingWebhookConfigurations } from '../../kube/core-resources.ts';
import type { EventNote } from '../../kube/event-object.ts';
import { type KubeObject, keyOf } from '../../kube/object.ts';
import { createLogger } from '../../process/log.ts';
import { createMetrics } from '../../process/metrics.ts';
import type { Accepted, ProtectionWanted } from '../model/accepted.ts';
import { desired } from '../model/desired.ts';
import type { OperatorObject } from '../model/multinicoperator.ts';
import { type Observed, unchanged } from '../model/stage.ts';
import { mayRecover } from '../recovery/may-recover.ts';
import { BreakGlassAnnouncer } from '../stages/protection/break-glass.ts';
import type { Applier, EnsuredObject } from './applier.ts';
import { createCarryOut } from './carry-out.ts';

const now = new Date('2026-11-26T12:00:00Z');
const until = new Date('2026-11-26T13:00:00Z');
const wanted: ProtectionWanted = { preventsMutations: true, recovers: true, allowed: new Set() };
const { signal } = new AbortController();
const operator: OperatorObject = { metadata: { name: 'production', namespace: 'ns', uid: '1' } };
const problem = { field: 'spec.protection.allowedOperations', message: 'unusable' };
const lost = { paths: ['.data.a'], managers: ['kubectl-edit'] };

function observed(protection: Accepted['protection'], spec: unknown = {}): Observed {
  const objects = { find: () => ({ metadata: { name: 'a', namespace: 'ns', uid: '2' } }) };
  return {
    operator: { ...operator, spec },
    accepted: { protection },
    objects,
    now,
  } as unknown as Observed;
}

function reported() {
  const metrics = createMetrics(metricTable);
  const events: string[] = [];
  const record = (involved: KubeObject, { type, reason, message }: EventNote): void => {
    events.push(`${type} ${involved.kind ?? ''} ${keyOf(involved)}: ${reason}: ${message}`);
  };
  return { metrics, recorder: { record }, events };
}

const one = (name: string) => desired(configMaps, { metadata: { name, namespace: 'ns' } });

describe('carryOut', () => {
  it('carryOut reports lost fields, counts repairs, and requeues a contested object', async () => {
    const results: EnsuredObject[] = [
      { ensured: 'repaired', lost },
      { ensured: 'contested', lost, waitMs: 20_000 },
      { ensured: 'drifted', lost },
      { ensured: 'repaired', lost },
      { ensured: 'changed' },
    ];
    const { metrics, recorder, events } = reported();
    const applier = { ensure: async () => results.shift() } as unknown as Applier;
    const log = createLogger({ part: 'test', level: 'fatal' });
    const carryOut = createCarryOut({ applier, recorder, metrics, log });
    const cluster = desired(validatingWebhookConfigurations, { metadata: { name: 'd' } });
    const apply = [one('a'), one('b'), one('c'), cluster, one('e')];
    const plan = { ...unchanged([], undefined), apply };
    const outcome = await carryOut(observed({ value: wanted }), plan, signal);
    expect([...outcome.objects.values()]).toEqual([
      'repaired',
      'contested',
      'drifted',
      'repaired',
      'changed',
    ]);
    expect(outcome).toMatchObject({ requeueAfterMs: 20_000 });
    expect([...outcome.lost.keys()]).toEqual([
      'ConfigMap a',
      'ConfigMap b',
      'ConfigMap c',
      'ValidatingWebhookConfiguration d',
    ]);
    expect(events).toEqual([
      'Warning ConfigMap ns/a: ObjectRecovered: ConfigMap a: kubectl-edit changed .data.a',
      'Warning ConfigMap ns/a: Contested: ConfigMap b: kubectl-edit changed .data.a',
      'Warning ConfigMap ns/a: RecoveryOff: ConfigMap c: kubectl-edit changed .data.a',
      'Warning  ns/production: ObjectRecovered: ValidatingWebhookConfiguration d: kubectl-edit changed .data.a',
    ]);
    expect(await metrics.registry.metrics()).toContain(
      'multinic_operator_recoveries_total{kind="ConfigMap"} 1',
    );
  });
});

describe('recovery', () => {
  it.each<[string, Accepted['protection'], unknown, boolean]>([
    ['is on', { value: wanted }, {}, true],
    ['is off', { value: { ...wanted, recovers: false } }, {}, false],
    ['pauses during break-glass', { value: { ...wanted, breakGlassUntil: until } }, {}, false],
    ['continues after break-glass', { value: { ...wanted, breakGlassUntil: now } }, {}, true],
    ['stays on with an error in another field', { problems: [problem] }, {}, true],
    [
      'stays off with an error in another field',
      { problems: [problem] },
      { protection: { enableAutoRecovery: false } },
      false,
    ],
  ])('recovery %s', (_, protection, spec, recovers) => {
    expect(mayRecover(observed(protection, spec))).toBe(recovers);
  });
});

describe('break-glass', () => {
  it('break-glass is announced once per start', async () => {
    const { metrics, recorder, events } = reported();
    const announcer = new BreakGlassAnnouncer({ recorder, metrics });
    const broken = { value: { ...wanted, breakGlassUntil: until } };
    for (const state of [broken, broken, { value: wanted }, broken])
      announcer.note(observed(state));
    const line = `Warning  ns/production: BreakGlass: protection and recovery of managed objects are paused until ${until.toISOString()}`;
    expect(events).toEqual([line, line]);
    expect(await metrics.registry.metrics()).toContain(
      'multinic_operator_protection_events_total{event="break_glass"} 2',
    );
  });
});
