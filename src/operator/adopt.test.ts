import { afterEach, beforeEach, expect, it } from 'vitest';
import type { OpenstackConfigSpec } from '../api/openstackconfig.ts';
import { RequestError } from '../requests/request-error.ts';
import { delivered, environment, type Scene, setScene } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => {
  await scene[Symbol.asyncDispose]();
});

const adopt: Partial<OpenstackConfigSpec> = { settings: { existingConfiguration: 'Adopt' } };
/** Returns the nodes' consents in each POST since `from`. */
const posted = (from = 0) =>
  scene.viola.posts
    .slice(from)
    .map((nodes) => nodes.map(({ existingConfiguration }) => existingConfiguration));
const both = ['Adopt', 'Adopt'];
const neither = [undefined, undefined];
/** Edits the object, syncs five times, and returns the new POSTs. */
async function after(change: Partial<OpenstackConfigSpec>) {
  const before = scene.viola.posts.length;
  scene.edit(change);
  for (let n = 0; n < 5; n++) await scene.look(60_000);
  return posted(before);
}

it('a POST per node follows consent to adopt, and a second POST follows Refuse', async () => {
  await delivered(scene);
  expect(await after(adopt)).toEqual([both]);
  expect(scene.viola.nodes.get('worker-1')?.spec.existingConfiguration).toBe('Adopt');
  expect(await after({})).toEqual([neither]);
  expect(await after({ settings: { existingConfiguration: 'Refuse' } })).toEqual([]);
});

it('a POST without consent has the same fields as before', async () => {
  await delivered(scene);
  expect(scene.viola.posts.flat().map((node) => Object.keys(node).toSorted())).toEqual(
    Array.from({ length: 2 }, () => ['base', 'instanceId', 'interfaces', 'nodeName', 'source']),
  );
});

it('EXISTING_CONFIGURATION is the default for objects without the setting', async () => {
  await scene[Symbol.asyncDispose]();
  scene = await setScene({ ...environment, EXISTING_CONFIGURATION: 'Adopt' });
  await delivered(scene);
  expect(posted()).toEqual([both]);
  expect(await after({ settings: { existingConfiguration: 'Refuse' } })).toEqual([neither]);
});

it("a user's own consent in the business cluster stays without a POST", async () => {
  await delivered(scene);
  const node = scene.viola.nodes.get('worker-1');
  if (node) scene.viola.put({ ...node, spec: { ...node.spec, existingConfiguration: 'Adopt' } });
  expect(await after({ settings: { existingConfiguration: 'Refuse' } })).toEqual([]);
});

it('a Viola without the feature gets nodes without consent, and Ready names the next step', async () => {
  scene.viola.features = ['observe'];
  await delivered(scene);
  expect(await after(adopt)).toEqual([]);
  expect(scene.ready()).toMatch(/^False AdoptUnsupported: .* upgrade Viola and the CRDs/);
  scene.viola.features = ['observe', 'adopt'];
  const before = scene.viola.posts.length;
  for (let n = 0; n < 5; n++) await scene.look(60_000);
  expect(posted(before)).toEqual([both]);
  expect(scene.ready()).not.toMatch(/AdoptUnsupported/);
});

it.each(['Adopt', 'Refuse'] as const)(
  'nodes delivered with %s keep their consent while the cluster list is unreadable',
  async (consent) => {
    await delivered(scene);
    await after({ settings: { existingConfiguration: consent } });
    scene.viola.featuresOutage = new RequestError('no answer', {
      service: 'viola',
      kind: 'unreachable',
    });
    expect(await after(adopt)).toEqual([]);
  },
);
