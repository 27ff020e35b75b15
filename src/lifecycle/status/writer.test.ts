import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../../rig/apiserver/server.ts';
import { crdDefinitions } from '../../api/crd/definition.ts';
import type { Effect } from '../../api/effects.ts';
import { createKubeClient } from '../../kube/client/http-client.ts';
import { type Crd, crds, namespaces } from '../../kube/core-resources.ts';
import { createPerform } from '../../process/effects.ts';
import { systemClock, systemRandom } from '../../time/clock.ts';
import { multiNicOperators, type OperatorObject, statusOf } from '../model/multinicoperator.ts';
import type { Outcome, Outcomes } from '../model/outcome.ts';
import { unchanged } from '../model/stage.ts';
import { observedOf } from '../testing/observed.ts';
import { createStatusWriter, type StatusWriter } from './writer.ts';

const ref = { namespace: 'multinic-system', name: 'production-system' };
const definition = crdDefinitions()['multinic.example.com_multinicoperators.yaml'];
const { signal } = new AbortController();

interface Version {
  readonly schema: {
    readonly openAPIV3Schema: {
      readonly properties: {
        readonly status: { readonly properties: { controllerStatus?: unknown } };
      };
    };
  };
}

let api: ApiServer;
let client: ReturnType<typeof createKubeClient>;
let writer: StatusWriter;
let writes: Effect[];

beforeEach(async () => {
  api = await startApiServer();
  client = createKubeClient(api.access, { clock: systemClock, random: systemRandom });
  await client.create(crds, definition as unknown as Crd);
  await client.create(namespaces, { metadata: { name: ref.namespace } });
  await client.create(multiNicOperators, { metadata: ref, spec: {} });
  writes = [];
  writer = createStatusWriter({
    client,
    perform: createPerform<Effect>((effect, phase) => {
      if (phase === 'before') writes.push(effect);
    }),
    clock: systemClock,
    webhookAnswers: () => true,
  });
});

afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

function stage<R>(report: R): Outcome<R> {
  return { plan: unchanged([], report), objects: new Map(), lost: new Map() };
}

const outcomes: Outcomes = {
  operation: stage({ waiting: [] }),
  credentials: stage(undefined),
  database: stage({ phase: 'Disabled' }),
  backup: stage({}),
  controller: stage({ phase: 'Ready', readyReplicas: 1, desiredReplicas: 1 }),
  triggers: stage(undefined),
  protection: stage({ configured: false }),
};

const read = (): Promise<OperatorObject> => client.get(multiNicOperators, ref);
const counted = async () => statusOf(await read()).protectionStatus?.preventedMutations;

describe('status writer', () => {
  it('write makes no request when the status is unchanged', async () => {
    await writer.write(observedOf(await read()), outcomes, signal);
    expect(statusOf(await read())).toMatchObject({ phase: 'Running' });
    writes.length = 0;
    await writer.write(observedOf(await read()), outcomes, signal);
    expect(writes).toEqual([]);
  });

  it('write starts the refusal count at 0 and leaves further counts to the replicas', async () => {
    const early = await read();
    await writer.write(observedOf(early), outcomes, signal);
    expect(await counted()).toBe(0);
    await client.patchStatus(multiNicOperators, ref, {
      status: { protectionStatus: { preventedMutations: 7 } },
    });
    // Repeat with an object read before the count.
    await writer.write(observedOf(early), outcomes, signal);
    expect(await counted()).toBe(7);
    const changed = { ...outcomes, controller: stage({ phase: 'Degraded' }) };
    await writer.write(observedOf(await read()), changed, signal);
    expect(statusOf(await read()).phase).toBe('Degraded');
    expect(await counted()).toBe(7);
  });

  it('write stores the remaining fields when the CRD lacks a field', async () => {
    const { spec } = structuredClone(definition) as unknown as { spec: { versions: [Version] } };
    delete spec.versions[0].schema.openAPIV3Schema.properties.status.properties.controllerStatus;
    const name = 'multinicoperators.multinic.example.com';
    await client.patch(crds, { name }, { spec: { versions: spec.versions } });
    await writer.write(observedOf(await read()), outcomes, signal);
    const { phase, conditions, controllerStatus } = statusOf(await read());
    expect(phase).toBe('Running');
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
    expect(controllerStatus).toBeUndefined();
  });

  it('refuse writes a refusal once', async () => {
    const problem = { field: 'metadata.name', message: 'another one is older' };
    const refuse = async () =>
      writer.refuse({ what: 'refused', operator: await read(), problem }, signal);
    await refuse();
    expect(statusOf(await read())).toMatchObject({ phase: 'Error', message: problem.message });
    writes.length = 0;
    await refuse();
    expect(writes).toEqual([]);
  });
});
