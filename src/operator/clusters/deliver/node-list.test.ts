import { describe, expect, it } from 'vitest';
import type { ExistingNodeConfig, UnreadableNode } from '../../../api/node-configs-http.ts';
import { listNodes } from './node-list.ts';

const source = { namespace: 'n', name: 'osc' };
const other = { namespace: 'n', name: 'other' };
const path = '/v1/k8s/multinic/node-configs?limit=200';
const ofSource = `${path}&source=n%2Fosc`;

function existing(nodeName: string, instanceId: string, from = source): ExistingNodeConfig {
  const spec = { nodeName, instanceId };
  const stated = { ...from, uid: 'u', generation: 1 };
  return { nodeName, uid: `uid-${nodeName}`, generation: 1, source: stated, spec };
}

/** Returns a fake Viola; `selects: false` is an older version that returns every node. */
function violaWith(
  nodes: ExistingNodeConfig[],
  { selects = true, broken = [] as UnreadableNode[] } = {},
) {
  const paths: string[] = [];
  const readPage = async (url: string, isConcern: (raw: unknown) => boolean) => {
    paths.push(url);
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
  return { paths, readPage };
}

const ids = Array.from({ length: 500 }, (_, n) => `i${n}`);
const own = ids.map((id) => existing(`node-${id}`, id));
const foreign = Array.from({ length: 300 }, (_, n) => existing(`foreign-${n}`, `f${n}`, other));
const query = { fresh: false, source, instanceIds: ids };

describe('listNodes with more servers than a URL holds', () => {
  it('listNodes reads only own nodes when every server has an own node', async () => {
    const { paths, readPage } = violaWith([...foreign, ...own]);
    expect((await listNodes(query, readPage)).nodes).toEqual(own);
    expect(paths).toEqual([ofSource]);
  });

  it('listNodes reads servers without an own node by instance id', async () => {
    const taken = existing('taken', 'i499', other);
    const { paths, readPage } = violaWith([...foreign, ...own.slice(0, 498), taken]);
    const { nodes } = await listNodes(query, readPage);
    expect(nodes).toEqual([...own.slice(0, 498), taken]);
    expect(paths).toEqual([ofSource, `${path}&instanceId=i498&instanceId=i499`]);
  });

  it('listNodes reads the whole cluster when more servers lack an own node than a URL holds', async () => {
    const taken = own
      .slice(100, 350)
      .map((node) => ({ ...node, source: { ...other, uid: 'u', generation: 1 } }));
    const nodes = [...foreign, ...own.slice(0, 100), ...taken];
    const { paths, readPage } = violaWith(nodes);
    const read = await listNodes({ ...query, fresh: true }, readPage);
    expect(read.nodes).toEqual([...own.slice(0, 100), ...taken]);
    expect(paths).toEqual([`${path}&fresh=true&source=n%2Fosc`, `${path}&fresh=true`]);
  });

  it('listNodes matches instance ids of either case', async () => {
    const { paths, readPage } = violaWith(own);
    const instanceIds = ids.map((id) => id.toUpperCase());
    expect((await listNodes({ ...query, instanceIds }, readPage)).nodes).toHaveLength(500);
    expect(paths).toHaveLength(1);
  });

  it('listNodes returns each node once when an older Viola ignores the selection', async () => {
    const broken = [{ objectName: 'b', uid: 'u', generation: 1, message: 'spec: broken' }];
    const { readPage } = violaWith([...foreign, ...own.slice(1)], { selects: false, broken });
    const listed = await listNodes(query, readPage);
    expect(listed).toEqual({ nodes: own.slice(1), unreadable: broken });
  });

  it('listNodes keeps an unreadable object when only the first list contains the object', async () => {
    const broken = [{ objectName: 'b', uid: 'u', generation: 1, message: 'spec: broken' }];
    const { readPage } = violaWith(own.slice(1), { broken });
    const listed = await listNodes(query, async (url, isConcern) => {
      const page = await readPage(url, isConcern);
      return { ...page, unreadable: broken.splice(0) };
    });
    expect(listed.unreadable.map(({ objectName }) => objectName)).toEqual(['b']);
  });

  it('listNodes returns the later version when a node changes between two lists', async () => {
    const lists = [[existing('a', 'i0')], [existing('a', 'i1'), existing('b', 'i2')]];
    const readPage = async () => ({ items: lists.shift() ?? [], observedAt: 'now' });
    const { nodes } = await listNodes({ ...query, instanceIds: ids.slice(0, 201) }, readPage);
    expect(nodes.map(({ spec }) => spec.instanceId)).toEqual(['i1', 'i2']);
  });
});
