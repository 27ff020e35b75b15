import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { namespace, postedNode, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { crdDefinitions } from '../../api/crd/definition.ts';
import { annotations } from '../../api/names.ts';
import { clusters } from '../../api/node-configs-http.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';

let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

const ref = { namespace, name: 'worker-1' };
const observe = { mode: 'Observe' } as const;

/** Posts the node onto the live object; returns status or error code, and clears the recorded writes. */
async function post(on: ViolaFixture, more: object = {}, path = ''): Promise<string> {
  const [live] = (await on.list('?fresh=true')).items;
  const base = live ? { uid: live.uid, generation: live.generation } : null;
  on.writes.length = 0;
  const { body } = await on.call('POST', path, {}, [{ ...postedNode, base, ...more }]);
  const { results = [], errors = [] } = body as { results?: Named[]; errors?: Named[] };
  return [...results, ...errors].map(({ status, code }) => status ?? code).join();
}

interface Named {
  readonly status?: string;
  readonly code?: string;
}

/** Returns `spec.mode`, the annotation multinic.io/paused, and pausedToObserve in Viola's answer. */
async function modeOf(on: ViolaFixture) {
  const { spec, metadata } = await on.stored();
  const [item] = (await on.list('?fresh=true')).items;
  return [spec.mode, metadata.annotations?.[annotations.paused], item?.pausedToObserve];
}

const annotate = (value: string | null, fieldManager = 'kubectl-annotate') =>
  bed.admin.patch(
    nodeConfigs,
    ref,
    { metadata: { annotations: { [annotations.paused]: value } } },
    { fieldManager },
  );

describe('mode Observe', () => {
  it('a node gets mode and pause in one write, and loses both by a POST without mode', async () => {
    expect(await post(bed, observe)).toBe('created');
    expect([await modeOf(bed), bed.writes]).toEqual([
      ['Observe', 'true', true],
      ['viola.node-config.apply'],
    ]);
    const { specHash } = (await bed.stored()).spec;
    expect([await post(bed, observe), bed.writes]).toEqual(['unchanged', []]);
    expect(await post(bed, {}, '/dry-run')).toBe('updated');
    expect(await modeOf(bed)).toEqual(['Observe', 'true', true]);
    expect([await post(bed), bed.writes.length]).toEqual(['updated', 1]);
    expect(await modeOf(bed)).toEqual([undefined, undefined, undefined]);
    expect((await bed.stored()).spec.specHash).toBe(specHash);
    expect([await post(bed, { mode: 'Apply' }), bed.writes]).toEqual(['unchanged', []]);
    expect(await post(bed, observe, '/dry-run')).toBe('updated');
    expect(await modeOf(bed)).toEqual([undefined, undefined, undefined]);
  });

  it("a node is paused again after a user removed the pause, and refused beside a user's different value", async () => {
    await post(bed, observe);
    await annotate(null);
    expect(await modeOf(bed)).toEqual(['Observe', undefined, undefined]);
    expect([await post(bed, observe), await modeOf(bed)]).toEqual([
      'updated',
      ['Observe', 'true', true],
    ]);
    await annotate('false');
    expect([await post(bed, observe), await modeOf(bed)]).toEqual([
      'FieldConflict',
      ['Observe', 'false', undefined],
    ]);
  });

  it.each([null, 'false'])(
    'a node leaves mode Observe after a user changed the pause to %s',
    async (value) => {
      await post(bed, observe);
      await annotate(value);
      const [item] = (await bed.list('?fresh=true')).items;
      expect([item?.pausedToObserve, item?.setToObserve]).toEqual([undefined, true]);
      expect(await post(bed)).toBe('updated');
      expect(await modeOf(bed)).toEqual([undefined, value ?? undefined, undefined]);
      expect([await post(bed), bed.writes]).toEqual(['unchanged', []]);
    },
  );

  it("a POST without mode leaves a user's pause and mode in place, without a write", async () => {
    await post(bed);
    await annotate('true');
    await bed.admin.patch(nodeConfigs, ref, { spec: observe }, { fieldManager: 'kubectl-edit' });
    expect([await post(bed), bed.writes]).toEqual(['unchanged', []]);
    await post(bed, observe);
    expect(await post(bed)).toBe('updated');
    expect(await modeOf(bed)).toEqual(['Observe', 'true', undefined]);
    expect([await post(bed), bed.writes]).toEqual(['unchanged', []]);
  });

  it('a POST without base and mode, as by a legacy operator, leaves an observed node unchanged', async () => {
    await post(bed, observe);
    expect(await post(bed, { base: undefined })).toBe('Fenced');
    expect(await modeOf(bed)).toEqual(['Observe', 'true', true]);
  });

  it('the cluster list names mode Observe as supported by each cluster', async () => {
    const { items } = clusters.parse((await bed.get('/v1/k8s/clusters')).body);
    expect(items.map(({ supports }) => supports?.includes('observe'))).toEqual([true]);
  });
});

/** Returns an earlier release's CRDs, without `spec.mode`. */
function earlierCrds() {
  const crds = structuredClone(crdDefinitions());
  for (const { schema } of crds['multinic.io_multinicnodeconfigs.yaml']?.spec.versions ?? []) {
    const { spec } = schema.openAPIV3Schema.properties as { spec: { properties?: object } };
    Reflect.deleteProperty(spec.properties ?? {}, 'mode');
  }
  return crds;
}

it('a node in mode Observe is paused despite an older CRD, until a POST without mode', async () => {
  await using older = await ViolaFixture.start({ crds: earlierCrds() });
  expect(await post(older, observe)).toBe('created');
  expect(await modeOf(older)).toEqual([undefined, 'true', true]);
  const { resourceVersion } = (await older.stored()).metadata;
  await post(older, observe);
  expect((await older.stored()).metadata.resourceVersion).toBe(resourceVersion);
  expect([await post(older), await modeOf(older)]).toEqual([
    'updated',
    [undefined, undefined, undefined],
  ]);
});
