import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { namespace, postedNode, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { crdDefinitions } from '../../api/crd/definition.ts';
import { clusters } from '../../api/node-configs-http.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';

let fixture: ViolaFixture;

beforeAll(async () => {
  fixture = await ViolaFixture.start();
});

afterEach(() => fixture.reset());

afterAll(() => fixture[Symbol.asyncDispose]());

const ref = { namespace, name: 'worker-1' };
const adopt = { existingConfiguration: 'Adopt' } as const;

/** Posts the node onto the live object; returns status or error code, and clears the recorded writes. */
async function post(on: ViolaFixture, more: object = {}): Promise<string> {
  const [live] = (await on.list('?fresh=true')).items;
  const base = live ? { uid: live.uid, generation: live.generation } : null;
  on.writes.length = 0;
  const { body } = await on.call('POST', '', {}, [{ ...postedNode, base, ...more }]);
  const { results = [], errors = [] } = body as { results?: Named[]; errors?: Named[] };
  return [...results, ...errors].map(({ status, code }) => status ?? code).join();
}

interface Named {
  readonly status?: string;
  readonly code?: string;
}

/** Returns `spec.existingConfiguration`, and setToAdopt in Viola's answer. */
async function consentOf(on: ViolaFixture) {
  const { spec } = await on.stored();
  const [item] = (await on.list('?fresh=true')).items;
  return [spec.existingConfiguration, item?.setToAdopt];
}

const supports = async (on: ViolaFixture) =>
  clusters.parse((await on.get('/v1/k8s/clusters')).body).items.map((item) => item.supports);

it('a POST with Adopt writes the consent once, outside specHash, and a POST without it removes the field', async () => {
  expect(await post(fixture)).toBe('created');
  const before = await fixture.stored();
  expect(Object.keys(before.spec)).not.toContain('existingConfiguration');
  expect(await post(fixture, adopt)).toBe('updated');
  expect(await consentOf(fixture)).toEqual(['Adopt', true]);
  expect([await post(fixture, adopt), fixture.writes]).toEqual(['unchanged', []]);
  expect((await fixture.stored()).spec.specHash).toBe(before.spec.specHash);
  expect(await post(fixture, { existingConfiguration: 'Refuse' })).toBe('updated');
  expect((await fixture.stored()).spec).toEqual(before.spec);
  expect([await post(fixture), fixture.writes]).toEqual(['unchanged', []]);
});

it.each(['Adopt', 'Refuse'] as const)(
  "a user's own value %s stays, and differs from a POST with Adopt only if it is Refuse",
  async (value) => {
    await post(fixture);
    const spec = { existingConfiguration: value };
    await fixture.admin.patch(nodeConfigs, ref, { spec }, { fieldManager: 'kubectl-edit' });
    expect([await post(fixture), fixture.writes]).toEqual(['unchanged', []]);
    expect(await consentOf(fixture)).toEqual([value, undefined]);
    expect(await post(fixture, adopt)).toBe(value === 'Adopt' ? 'updated' : 'FieldConflict');
    expect(await consentOf(fixture)).toEqual([value, value === 'Adopt' ? true : undefined]);
  },
);

it('the cluster list names the feature adopt if the CRD declares spec.existingConfiguration', async () => {
  expect(await supports(fixture)).toEqual([['observe', 'adopt']]);
  const { items } = await fixture.list('?fresh=true');
  expect(items).toEqual([]);
});

/** Returns an earlier release's CRDs, without the field. */
function earlierCrds() {
  const crds = structuredClone(crdDefinitions());
  for (const { schema } of crds['multinic.io_multinicnodeconfigs.yaml']?.spec.versions ?? []) {
    const { spec } = schema.openAPIV3Schema.properties as { spec: { properties?: object } };
    Reflect.deleteProperty(spec.properties ?? {}, 'existingConfiguration');
  }
  return crds;
}

it('an older CRD lists no adopt, and a POST with Adopt is written without the consent', async () => {
  await using older = await ViolaFixture.start({ crds: earlierCrds() });
  expect(await supports(older)).toEqual([['observe']]);
  expect(await post(older, adopt)).toBe('created');
  expect(await consentOf(older)).toEqual([undefined, undefined]);
  expect(await post(older, { ...adopt, mode: 'Observe' })).toBe('updated');
  expect((await older.stored()).spec.mode).toBe('Observe');
});
