import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BizSources, bizNode, conditionsOf, statesOf } from '../../../test/fixtures/biz-samples.ts';
import { ControllerBed } from '../../../test/fixtures/controller-bed.ts';

let bed: ControllerBed;
let sources: BizSources;

beforeEach(async () => {
  bed = await ControllerBed.start();
  sources = new BizSources(bed);
});

afterEach(() => bed[Symbol.asyncDispose]());

describe('a MultiNicBizConfig', () => {
  it('becomes one MultiNicNodeConfig per entry, whose states it reports', async () => {
    for (const n of [1, 2]) await bed.addNode(`w-${n}`, `i-${n}`);
    await sources.create('all', [bizNode(1, [1, 2]), bizNode(2, [1])]);
    bed.run();
    const source = await sources.untilCondition('all', 'Ready True AllNodesConfigured');
    expect(statesOf(source)).toEqual(['w-1 Configured', 'w-2 Configured']);
    expect(conditionsOf(source)).toEqual([
      'Ready True AllNodesConfigured',
      'Accepted True Accepted',
      'Applied True AllNodesConfigured',
      'InProgress False AllNodesConfigured',
    ]);
    const { metadata, spec } = await bed.get('w-1');
    expect(metadata).toMatchObject({
      labels: { 'multinic.io/biz-config': 'all', 'multinic.io/instance-id': 'i-1' },
      annotations: {
        'multinic.io/biz-source': JSON.stringify({
          group: 'multinic.io',
          name: 'all',
          uid: source.metadata.uid,
          generation: 1,
        }),
      },
    });
    expect(metadata.ownerReferences).toBeUndefined();
    expect(spec?.interfaces).toMatchObject([{ id: 0 }, { id: 1 }]);
  });
});
