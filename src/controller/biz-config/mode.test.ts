import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BizSources, bizNode, conditionsOf } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { findCondition } from '../../api/condition.ts';

let bed: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  sources = new BizSources(bed);
});

afterEach(() => bed[Symbol.asyncDispose]());

const readOnly = 'ReadOnly True ReadOnly';
const mode = (value: string | null) => ({ 'multinic.io/biz-config-mode': value });

async function twoNodes(flags = {}): Promise<void> {
  await bed.addNode('w-1', 'i-1');
  await sources.create('all', [bizNode(1, [1]), bizNode(2, [1])]);
  bed.run(flags);
  await sources.until('all', ({ status }) => status?.summary?.configuredNodes === 1);
}

/** Writes of the expansion to MultiNicNodeConfigs: the controller itself writes their finalizers and statuses only. */
async function generations(): Promise<readonly (number | undefined)[]> {
  const found = await Promise.all(['w-1', 'w-2'].map((name) => bed.find(name)));
  return found.map((config) => config?.metadata.generation);
}

describe('a read-only MultiNicBizConfig', () => {
  it.each([
    ['by its annotation', 'read-only', 'Accepted True Accepted'],
    ['by an annotation that is no mode', 'foo', 'Accepted False UnknownMode'],
  ])(
    '%s follows no edit, reports it with one Event, and keeps its status up to date',
    async (_what, value, accepted) => {
      await twoNodes();
      await sources.annotate('all', mode(value));
      const source = await sources.untilCondition('all', readOnly);
      expect(conditionsOf(source)).toContain(accepted);
      expect(bed.events()).not.toContain('ReadOnly');
      await sources.edit('all', [bizNode(1, [1, 2])]);
      const edited = await sources.until('all', ({ status }) => {
        const { message = '' } = findCondition(status?.conditions, 'ReadOnly') ?? {};
        return message.includes('2 nodes would change');
      });
      await bed.addNode('w-2', 'i-2');
      await bed.untilReady('w-2', 'True AllInterfacesConfigured');
      await bed.pass(100);
      expect(edited.status?.summary?.totalNodes).toBe(1);
      expect(conditionsOf(edited)).toContain('Applied False ReadOnly');
      expect(await generations()).toEqual([1, 1]);
      expect(bed.events().filter((reason) => reason === 'ReadOnly')).toHaveLength(1);
      // Active again, the edit is followed.
      await sources.annotate('all', mode(null));
      await bed.until('w-1', ({ spec }) => spec?.interfaces?.length === 2);
      await bed.eventually(
        async () => (await bed.find('w-2')) === undefined,
        () => 'w-2 stays',
      );
      const active = await sources.untilCondition('all', 'Ready True AllNodesConfigured');
      expect(conditionsOf(active)).not.toContain(readOnly);
    },
  );

  it('names a value that is no mode', async () => {
    await twoNodes();
    await sources.annotate('all', mode('Foo'));
    const source = await sources.untilCondition('all', 'Accepted False UnknownMode');
    expect(findCondition(source.status?.conditions, 'Accepted')?.message).toContain('"foo"');
  });
});

describe('the setting', () => {
  it('read-only creates no object, whatever the annotation', async () => {
    await sources.create('all', [bizNode(1, [1])], { annotations: mode('active') });
    bed.run({ 'biz-config': 'read-only' });
    await sources.untilCondition('all', readOnly);
    await bed.pass(100);
    expect(bed.api.objects('multinicnodeconfigs.multinic.io')).toEqual([]);
    expect(bed.writes().filter((write) => !write.includes('multinicbizconfigs status'))).toEqual(
      [],
    );
  });

  it('off reads and writes nothing of the kind', async () => {
    await sources.create('all', [bizNode(1, [1])]);
    bed.run({ 'biz-config': 'off' });
    await bed.pass(100);
    const asked = bed.api.audit.filter(
      ({ user, resource }) => resource === 'multinicbizconfigs' && user.includes('multinic-agent'),
    );
    expect(asked).toEqual([]);
    expect((await sources.get('all')).status).toBeUndefined();
  });
});
