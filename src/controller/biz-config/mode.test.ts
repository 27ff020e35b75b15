import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BizSources, bizNode, conditionsOf } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { findCondition } from '../../api/condition.ts';

let fixture: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  sources = new BizSources(fixture);
});

afterEach(() => fixture[Symbol.asyncDispose]());

const readOnly = 'ReadOnly True ReadOnly';
const mode = (value: string | null) => ({ 'multinic.io/biz-config-mode': value });

async function twoNodes(flags = {}): Promise<void> {
  await fixture.addNode('w-1', 'i-1');
  await sources.create('all', [bizNode(1, [1]), bizNode(2, [1])]);
  fixture.run(flags);
  await sources.until('all', ({ status }) => status?.summary?.configuredNodes === 1);
}

/**
 * Returns the objects' generations, which only the expansion changes: the controller writes finalizers and statuses.
 */
async function generations(): Promise<readonly (number | undefined)[]> {
  const found = await Promise.all(['w-1', 'w-2'].map((name) => fixture.find(name)));
  return found.map((config) => config?.metadata.generation);
}

describe('a read-only MultiNicBizConfig', () => {
  it.each([
    ['by its annotation', 'read-only', 'Accepted True Accepted'],
    ['by an unknown annotation value', 'foo', 'Accepted False UnknownMode'],
  ])(
    'a MultiNicBizConfig set read-only %s ignores edits, reports them in one event, and updates its status',
    async (_what, value, accepted) => {
      await twoNodes();
      await sources.annotate('all', mode(value));
      const source = await sources.untilCondition('all', readOnly);
      expect(conditionsOf(source)).toContain(accepted);
      expect(fixture.events()).not.toContain('ReadOnly');
      await sources.edit('all', [bizNode(1, [1, 2])]);
      const edited = await sources.until('all', ({ status }) => {
        const { message = '' } = findCondition(status?.conditions, 'ReadOnly') ?? {};
        return message.includes('2 nodes would change');
      });
      await fixture.addNode('w-2', 'i-2');
      await fixture.untilReady('w-2', 'True AllInterfacesConfigured');
      await fixture.pass(100);
      expect(edited.status?.summary?.totalNodes).toBe(1);
      expect(conditionsOf(edited)).toContain('Applied False ReadOnly');
      expect(await generations()).toEqual([1, 1]);
      expect(fixture.events().filter((reason) => reason === 'ReadOnly')).toHaveLength(1);
      // In mode active the edit is followed.
      await sources.annotate('all', mode(null));
      await fixture.until('w-1', ({ spec }) => spec?.interfaces?.length === 2);
      await fixture.eventually(
        async () => (await fixture.find('w-2')) === undefined,
        () => 'w-2 stays',
      );
      const active = await sources.untilCondition('all', 'Ready True AllNodesConfigured');
      expect(conditionsOf(active)).not.toContain(readOnly);
    },
  );

  it('an unknown mode value is named in the condition Accepted', async () => {
    await twoNodes();
    await sources.annotate('all', mode('Foo'));
    const source = await sources.untilCondition('all', 'Accepted False UnknownMode');
    expect(findCondition(source.status?.conditions, 'Accepted')?.message).toContain('"foo"');
  });
});

describe('the setting biz-config', () => {
  it('biz-config=read-only creates no object, whatever the annotation', async () => {
    await sources.create('all', [bizNode(1, [1])], { annotations: mode('active') });
    fixture.run({ 'biz-config': 'read-only' });
    await sources.untilCondition('all', readOnly);
    await fixture.pass(100);
    expect(fixture.api.objects('multinicnodeconfigs.multinic.io')).toEqual([]);
    expect(
      fixture.writes().filter((write) => !write.includes('multinicbizconfigs status')),
    ).toEqual([]);
  });

  it('biz-config=off reads and writes no MultiNicBizConfig', async () => {
    await sources.create('all', [bizNode(1, [1])]);
    fixture.run({ 'biz-config': 'off' });
    await fixture.pass(100);
    const asked = fixture.api.audit.filter(
      ({ user, resource }) => resource === 'multinicbizconfigs' && user.includes('multinic-agent'),
    );
    expect(asked).toEqual([]);
    expect((await sources.get('all')).status).toBeUndefined();
  });
});
