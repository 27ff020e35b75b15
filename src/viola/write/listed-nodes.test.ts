import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { namespace, postedNode, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { annotations } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createPerform } from '../../process/effects.ts';
import { systemClock as clock } from '../../time/clock.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';
import { postNodes } from './post-nodes.ts';
import { fewNodes } from './read-ahead.ts';

let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

const ref = { namespace, name: 'worker-1' };
const source = { namespace: 'n', name: 'osc', uid: 'u-osc', generation: 1 };
const mac = 'fa:16:3e:00:00:09';
const nothing = async () => undefined;
const patch = (change: object, fieldManager = 'viola') =>
  bed.admin.patch(nodeConfigs, ref, change, { fieldManager });
const recreate = async () => {
  await bed.admin.delete(nodeConfigs, ref);
  await bed.post([postedNode]);
};
/** Starts a deletion held by a finalizer. */
const startDeletion = async () => {
  await patch({ metadata: { finalizers: ['multinic.io/test'] } });
  await bed.admin.delete(nodeConfigs, ref);
};

interface Case {
  /** Before the POST; runs after the object was created with one NIC. */
  readonly before?: () => Promise<unknown>;
  /** Between the read and the write. */
  readonly meanwhile?: () => Promise<unknown>;
  /** Added to the posted node with the created object's `base`. */
  readonly posted?: object;
  readonly result: string;
}

const cases: Readonly<Record<string, Case>> = {
  'is unchanged since the base': { result: 'updated' },
  'has another uid': { before: recreate, result: 'StaleBase' },
  'has another generation': {
    before: () => patch({ spec: { instanceId: 'x' } }),
    result: 'StaleBase',
  },
  'is being deleted': { before: startDeletion, result: 'Deleting' },
  'is fenced and the caller sends no base': {
    posted: { base: undefined, source },
    result: 'Fenced',
  },
  'exists and the base is null': { posted: { base: null }, result: 'StaleBase' },
  'belongs to another provider': {
    before: () => patch({ spec: { providerId: 'biz-9' } }),
    posted: { base: undefined },
    result: 'Fenced',
  },
  'has a field of another manager': {
    before: () => patch({ metadata: { annotations: { [annotations.source]: '{}' } } }, 'kim'),
    posted: { source },
    result: 'FieldConflict',
  },
  'has a field of kubectl': {
    before: () =>
      patch(
        { metadata: { annotations: { [annotations.source]: '{}' } } },
        'kubectl-client-side-apply',
      ),
    posted: { source },
    result: 'FieldConflict',
  },
  'has a field of a MultiNicBizConfig': {
    before: () =>
      patch({ metadata: { annotations: { [annotations.source]: '{}' } } }, 'biz-config'),
    posted: { source },
    result: 'updated',
  },
  'gets a status after the read': {
    meanwhile: () => bed.admin.patchStatus(nodeConfigs, ref, { status: { state: 'Configured' } }),
    result: 'updated',
  },
  'gets another spec after the read': {
    meanwhile: () => patch({ spec: { instanceId: 'x' } }),
    result: 'StaleBase',
  },
  'is deleted after the read': {
    meanwhile: () => bed.admin.delete(nodeConfigs, ref),
    result: 'StaleBase',
  },
  'is recreated after the read': { meanwhile: recreate, result: 'StaleBase' },
  'begins its deletion after the read': { meanwhile: startDeletion, result: 'Deleting' },
};

/** Posts the changed node, alone or in a listed set; returns the result and the number of GETs. */
async function post(isListed: boolean, body: object, meanwhile: () => Promise<unknown>) {
  let [gets, isOver] = [0, false];
  const once = async (): Promise<void> => {
    if (!isOver) await meanwhile();
    isOver = true;
  };
  const find: KubeClient['find'] = async (kind, of, options) => {
    const found = await bed.admin.find(kind, of, options);
    if (of.name !== ref.name) return found;
    gets += 1;
    await once();
    return found;
  };
  const list: KubeClient['list'] = async (...request) => {
    const page = await bed.admin.list(...request);
    await once();
    return page;
  };
  const others = Array.from({ length: isListed ? fewNodes : 0 }, (_, n) => ({
    nodeName: `other-${n}`,
  }));
  const { results, errors } = await postNodes(
    { client: { ...bed.admin, find, list }, namespace, providerId: 'biz-1', server: '' },
    [body, ...others],
    {
      acceptUnfenced: false,
      takeOver: false,
      clock,
      parallel: 1,
      perform: createPerform(() => undefined),
      signal: new AbortController().signal,
    },
  );
  const of = { nodeName: postedNode.nodeName };
  const result = results.find(({ nodeName }) => nodeName === of.nodeName)?.status;
  return { gets, result: result ?? errors.find(({ nodeName }) => nodeName === of.nodeName)?.code };
}

describe.each([
  ['single', false],
  ['listed', true],
] as const)('POST with a %s node', (_, isListed) => {
  it.each(Object.entries(cases))(
    'POST is as strict as on a live object when the object %s',
    async (_what, { before = nothing, meanwhile = nothing, posted, result }) => {
      await bed.post([{ ...postedNode, source }]);
      const { uid, generation } = (await bed.stored()).metadata;
      await bed.admin.patch(nodeConfigs, ref, {
        metadata: { annotations: { [annotations.fenced]: 'true' } },
      });
      await before();
      const body = { ...postedNode, source, base: { uid, generation }, interfaces: [], ...posted };
      expect((await post(isListed, body, meanwhile)).result).toBe(result);
      const stored = await bed.admin.find(nodeConfigs, ref);
      if (result === 'updated') expect(stored?.spec.interfaces).toEqual([]);
      else if (stored) expect(stored.spec.interfaces).toHaveLength(1);
    },
  );

  it("POST writes the consent for the object's uid", async () => {
    await bed.post([{ ...postedNode, source }]);
    const { uid, generation } = (await bed.stored()).metadata;
    const removals = { proven: [], consented: [mac] };
    const body = { ...postedNode, source, base: { uid, generation }, interfaces: [], removals };
    const report = () =>
      bed.admin.patchStatus(nodeConfigs, ref, { status: { state: 'Configured' } });
    expect((await post(isListed, body, report)).result).toBe('updated');
    const text = (await bed.stored()).metadata.annotations?.[annotations.removalConsent] ?? '';
    expect(JSON.parse(text)).toMatchObject({ uid, proven: [], consented: [mac] });
  });
});

it('POST reads a listed object again only after a conflict', async () => {
  await bed.post([postedNode]);
  const { uid, generation } = (await bed.stored()).metadata;
  const body = { ...postedNode, base: { uid, generation }, interfaces: [] };
  expect(await post(true, body, nothing)).toEqual({ gets: 0, result: 'updated' });
  const next = { ...postedNode, base: { uid, generation: 2 } };
  const report = () => bed.admin.patchStatus(nodeConfigs, ref, { status: { state: 'Configured' } });
  expect(await post(true, next, report)).toEqual({ gets: 1, result: 'updated' });
});
