import { afterEach, beforeEach, expect, it } from 'vitest';
import { BizSources, bizNode, conditionsOf, system } from '../../../test/fixtures/biz-samples.ts';
import { ControllerBed } from '../../../test/fixtures/controller-bed.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { nodeConfigs } from '../objects/stores.ts';

let bed: ControllerBed;
let sources: BizSources;

beforeEach(async () => {
  bed = await ControllerBed.start();
  sources = new BizSources(bed);
});

afterEach(() => bed[Symbol.asyncDispose]());

const list = (nics: readonly number[]) => [1, 2, 3].map((n) => bizNode(n, nics));

/** Three nodes that are configured. */
async function threeNodes(): Promise<void> {
  for (const n of [1, 2, 3]) await bed.addNode(`w-${n}`, `i-${n}`);
  await sources.create('all', list([1]));
  bed.run();
  await sources.untilCondition('all', 'Ready True AllNodesConfigured');
}

it('a source is not Ready while an object of an edited node is not written yet', async () => {
  let isTouched = true;
  bed.through = (client) => {
    const apply: KubeClient['apply'] = async (resource, object, options) => {
      const { name } = object.metadata;
      if (!isTouched && name === 'w-1') {
        isTouched = true;
        const patch = { metadata: { annotations: { 'example.com/note': 'x' } } };
        await bed.admin.patch(nodeConfigs, { namespace: system, name }, patch);
      }
      return client.apply(resource, object, options);
    };
    return { ...client, apply };
  };
  await threeNodes();
  // The next status may be written at once.
  await bed.pass(60);
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
  expect((await bed.get('w-1')).spec?.interfaces).toHaveLength(2);
});
