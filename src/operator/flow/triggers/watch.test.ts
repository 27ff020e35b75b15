import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../../../rig/apiserver/server.ts';
import { metricTable } from '../../../api/metrics.ts';
import { triggerConfigMap } from '../../../api/trigger-config.ts';
import { createKubeClient } from '../../../kube/client/http-client.ts';
import { configMaps, namespaces } from '../../../kube/core-resources.ts';
import type { EventNote } from '../../../kube/event-object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { createLogger } from '../../../process/log.ts';
import { createMetrics } from '../../../process/metrics.ts';
import { systemClock, systemRandom } from '../../../time/clock.ts';
import { until } from '../../../time/fake-clock.ts';
import type { TriggerPolicy } from '../../../triggers/policy.ts';
import { watchTriggers } from './watch.ts';

const home = 'multinic-operator-system';
const metadata = { namespace: home, name: triggerConfigMap.name };

let api: ApiServer;
let admin: ReturnType<typeof createKubeClient>;
let stop: AbortController;
let watching: Promise<void>;
const policies: TriggerPolicy[] = [];
const events: string[] = [];
const lines: string[] = [];
let metrics = createMetrics(metricTable);
const clock = systemClock;
const random = systemRandom;

beforeEach(async () => {
  metrics = createMetrics(metricTable);
  api = await startApiServer();
  admin = createKubeClient(api.access, { clock, random });
  await admin.create(namespaces, { metadata: { name: home } });
  stop = new AbortController();
  for (const list of [policies, events, lines]) list.length = 0;
});

afterEach(async () => {
  stop.abort(new Error('stop'));
  await watching;
  await admin[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

function record({ kind, metadata: { name } }: KubeObject, { message }: EventNote): void {
  events.push(`${kind} ${name}: ${message}`);
}

/** Starts the watch; resolves after the first list. */
async function follow(): Promise<void> {
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ part: 'test', level: 'info', destination });
  const reflector = watchTriggers({
    client: admin,
    namespace: home,
    recorder: { record },
    context: { clock, random, log, metrics },
    onPolicy: (policy) => void policies.push(policy),
  });
  watching = reflector.run(stop.signal);
  await reflector.synced;
}

const write = async (text: string, key: string = triggerConfigMap.key) =>
  admin.apply(configMaps, { metadata, data: { [key]: text } }, { fieldManager: 'test' });

async function usable(): Promise<string | undefined> {
  const text = await metrics.registry.metrics();
  return /^multinic_trigger_config_usable (\d)$/m.exec(text)?.[1];
}

it('an existing policy is read with the first list, and a foreign ConfigMap is ignored', async () => {
  await write('mode: manual');
  await admin.create(configMaps, {
    metadata: { namespace: home, name: 'another' },
    data: { [triggerConfigMap.key]: 'mode: webhook' },
  });
  await follow();
  expect(policies.map(({ mode }) => mode)).toEqual(['manual']);
});

it('a missing ConfigMap sets no policy and counts as usable', async () => {
  await follow();
  expect([policies, await usable()]).toEqual([[], '1']);
});

it('the log names the trigger configuration from the start, for kubectl logs | grep "trigger"', async () => {
  await follow();
  expect(lines.filter((line) => line.includes('trigger'))).toHaveLength(1);
});

it('the last usable policy stays while a new policy is unusable, and an Event names the problem', async () => {
  await write('mode: manual');
  await follow();
  await write('mode: often');
  await until('the flaw is told', () => events.length === 1);
  const message =
    'trigger.yaml: mode "often" cannot be used; set one of immediate, scheduled, manual, webhook; the previous configuration stays in use';
  expect(events).toEqual([`ConfigMap ${triggerConfigMap.name}: ${message}`]);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
    expect.objectContaining({ reason: 'TriggerConfigUnusable', msg: message }),
  );
  expect([policies.length, await usable()]).toEqual([1, '0']);

  await write('mode: webhook');
  await until('the next policy', () => policies.length === 2);
  expect([policies[1]?.mode, await usable()]).toEqual(['webhook', '1']);
});

it('an unusable first policy sets mode manual, because polling may be unwanted', async () => {
  await write('mode: manaul');
  await follow();
  expect(policies).toEqual([{ mode: 'manual', onChange: true, schedule: undefined }]);
  expect(events.join()).toContain(
    'until it is corrected, only changed objects and requests start a sync',
  );
  expect(await usable()).toBe('0');
  await write('mode: scheduled');
  await until('the policy that is meant', () => policies.length === 2);
  expect(policies[1]?.mode).toBe('scheduled');
});

it('a missing key is reported by name, and a deleted ConfigMap sets mode immediate', async () => {
  await write('mode: manual', 'triggers.yml');
  await follow();
  expect(events.join()).toContain(
    `ConfigMap ${triggerConfigMap.name} has no key trigger.yaml; add it`,
  );
  expect(await usable()).toBe('0');
  await admin.delete(configMaps, metadata);
  await until('the policy of old', () => policies.length === 2);
  expect([policies[1], await usable()]).toEqual([
    { mode: 'immediate', onChange: true, schedule: undefined },
    '1',
  ]);
});

it('a ConfigMap change outside the policy text sets no policy', async () => {
  await write('mode: manual');
  await follow();
  await admin.patch(configMaps, metadata, { metadata: { labels: { seen: 'yes' } } });
  await write('mode: webhook');
  await until('the next policy', () => policies.length > 1);
  expect(policies.map(({ mode }) => mode)).toEqual(['manual', 'webhook']);
});
