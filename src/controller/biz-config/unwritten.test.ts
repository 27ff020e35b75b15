import { afterEach, beforeEach, expect, it } from 'vitest';
import { BizSources, bizNode, conditionsOf, system } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/errors.ts';
import { nodeConfigs } from '../objects/stores.ts';

let fixture: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  sources = new BizSources(fixture);
});

afterEach(() => fixture[Symbol.asyncDispose]());

const list = (nics: readonly number[]) => [1, 2, 3].map((n) => bizNode(n, nics));

/** Creates and configures three nodes. */
async function threeNodes(): Promise<void> {
  for (const n of [1, 2, 3]) await fixture.addNode(`w-${n}`, `i-${n}`);
  await sources.create('all', list([1]));
  fixture.run();
  await sources.untilCondition('all', 'Ready True AllNodesConfigured');
}

it("a source is not Ready while an edited node's object is not written yet", async () => {
  let isTouched = true;
  fixture.through = (client) => {
    const apply: KubeClient['apply'] = async (resource, object, options) => {
      const { name } = object.metadata;
      if (!isTouched && name === 'w-1') {
        isTouched = true;
        const patch = { metadata: { annotations: { 'example.com/note': 'x' } } };
        await fixture.admin.patch(nodeConfigs, { namespace: system, name }, patch);
      }
      return client.apply(resource, object, options);
    };
    return { ...client, apply };
  };
  await threeNodes();
  // The minimum status write interval has passed.
  await fixture.pass(60);
  isTouched = false;
  const [first = {}, ...rest] = list([1]);
  await sources.edit('all', [
    { ...first, interfaces: bizNode(1, [1, 2]).interfaces ?? [] },
    ...rest,
  ]);
  const source = await sources.until('all', () => true);
  expect(isTouched).toBe(true);
  expect(conditionsOf(source)).toContain('Ready Unknown ProcessingNodes');
  await sources.untilCondition('all', 'Ready True AllNodesConfigured');
  expect((await fixture.get('w-1')).spec?.interfaces).toHaveLength(2);
});

it.each<['apply' | 'delete', string]>([
  ['apply', 'Ready False NodesFailed'],
  ['delete', 'Ready False NodeConfigRefused'],
])(
  'a forbidden %s on one object is reported and does not stop other nodes',
  async (verb, ready) => {
    let isForbidden = false;
    const check = (name: string): void => {
      const message = 'a policy forbids it';
      if (isForbidden && name === 'w-1')
        throw new KubeError({ status: 403, reason: 'Forbidden', message });
    };
    fixture.through = (client) => {
      const apply: KubeClient['apply'] = async (resource, object, options) => {
        if (verb === 'apply') check(object.metadata.name);
        return client.apply(resource, object, options);
      };
      const remove: KubeClient['delete'] = async (resource, ref, options) => {
        if (verb === 'delete') check(ref.name);
        return client.delete(resource, ref, options);
      };
      return { ...client, apply, delete: remove };
    };
    await threeNodes();
    isForbidden = true;
    await sources.edit('all', verb === 'apply' ? list([1, 2]) : list([1]).slice(2));
    const source = await sources.untilCondition('all', ready);
    expect(JSON.stringify(source.status)).toContain('a policy forbids it');
    if (verb === 'apply') await fixture.until('w-3', ({ spec }) => spec?.interfaces?.length === 2);
    else await fixture.untilGone('w-2');
    const writes = fixture.writes().length;
    await fixture.pass(100);
    expect(fixture.writes().length - writes).toBeLessThanOrEqual(8);
    isForbidden = false;
    await fixture.clock.advance(60_000);
    await sources.untilCondition('all', 'Ready True AllNodesConfigured');
  },
);
