import { describe, expect, it } from 'vitest';
import type { ExistingNodeConfig, UnreadableNode } from '../../api/node-configs-http.ts';
import { listNodes } from './node-list.ts';

const source = { namespace: 'n', name: 'osc' };
const other = { namespace: 'n', name: 'other' };
const path = '/v1/k8s/multinic/node-configs?limit=200';
const ofSource = `${path}&source=n%2Fosc`;

function held(nodeName: string, instanceId: string, from = source): ExistingNodeConfig {
  const spec = { nodeName, instanceId };
  const stated = { ...from, uid: 'u', generation: 1 };
  return { nodeName, uid: `uid-${nodeName}`, generation: 1, source: stated, spec };
}

/** A Viola that selects, or one of an older version that answers everything. */
function violaWith(
  nodes: ExistingNodeConfig[],
  { selects = true, broken = [] as UnreadableNode[] } = {},
) {
  const asked: string[] = [];
  const readPage = async (url: string, isConcern: (raw: unknown) => boolean) => {
    asked.push(url);
    const { searchParams } = new URL(url, 'http://viola');
    const from = searchParams.get('source');
    const ids = searchParams.getAll('instanceId');
    const all = !selects || (from === null && ids.length === 0);
    const items = nodes.filter(
      (node) =>
        all ||
        `${node.source?.namespace}/${node.source?.name}` === from ||
        ids.includes(node.spec.instanceId ?? ''),
    );
    return { items: items.filter(isConcern), unreadable: broken, observedAt: 'now' };
  };
  return { asked, readPage };
}

const ids = Array.from({ length: 500 }, (_, n) => `i${n}`);
const own = ids.map((id) => held(`node-${id}`, id));
const foreign = Array.from({ length: 300 }, (_, n) => held(`foreign-${n}`, `f${n}`, other));
const query = { fresh: false, source, instanceIds: ids };

describe('nodes of more servers than a URL holds', () => {
  it('are read once, without those of others, when all of them are its own', async () => {
    const { asked, readPage } = violaWith([...foreign, ...own]);
    expect((await listNodes(query, readPage)).nodes).toEqual(own);
    expect(asked).toEqual([ofSource]);
  });

  it('are looked for among those of others when some are missing', async () => {
    const taken = held('taken', 'i499', other);
    const { asked, readPage } = violaWith([...foreign, ...own.slice(0, 498), taken]);
    const { nodes } = await listNodes(query, readPage);
    expect(nodes).toEqual([...own.slice(0, 498), taken]);
    expect(asked).toEqual([ofSource, `${path}&instanceId=i498&instanceId=i499`]);
  });

  it('are all read when more are missing than a URL holds', async () => {
    const taken = own
      .slice(100, 350)
      .map((node) => ({ ...node, source: { ...other, uid: 'u', generation: 1 } }));
    const nodes = [...foreign, ...own.slice(0, 100), ...taken];
    const { asked, readPage } = violaWith(nodes);
    const read = await listNodes({ ...query, fresh: true }, readPage);
    expect(read.nodes).toEqual([...own.slice(0, 100), ...taken]);
    expect(asked).toEqual([`${path}&fresh=true&source=n%2Fosc`, `${path}&fresh=true`]);
  });

  it('are known by ids of either case', async () => {
    const { asked, readPage } = violaWith(own);
    const instanceIds = ids.map((id) => id.toUpperCase());
    expect((await listNodes({ ...query, instanceIds }, readPage)).nodes).toHaveLength(500);
    expect(asked).toHaveLength(1);
  });

  it('are told once by a Viola that answers everything each time', async () => {
    const broken = [{ objectName: 'b', uid: 'u', generation: 1, message: 'spec: broken' }];
    const { readPage } = violaWith([...foreign, ...own.slice(1)], { selects: false, broken });
    const listed = await listNodes(query, readPage);
    expect(listed).toEqual({ nodes: own.slice(1), unreadable: broken });
  });

  it('are not forgotten when their object could not be read a moment ago', async () => {
    const broken = [{ objectName: 'b', uid: 'u', generation: 1, message: 'spec: broken' }];
    const { readPage } = violaWith(own.slice(1), { broken });
    const listed = await listNodes(query, async (url, isConcern) => {
      const page = await readPage(url, isConcern);
      return { ...page, unreadable: broken.splice(0) };
    });
    expect(listed.unreadable.map(({ objectName }) => objectName)).toEqual(['b']);
  });

  it('are taken as they were read last when one changes between the lists', async () => {
    const lists = [[held('a', 'i0')], [held('a', 'i1'), held('b', 'i2')]];
    const readPage = async () => ({ items: lists.shift() ?? [], observedAt: 'now' });
    const { nodes } = await listNodes({ ...query, instanceIds: ids.slice(0, 201) }, readPage);
    expect(nodes.map(({ spec }) => spec.instanceId)).toEqual(['i1', 'i2']);
  });
});
