import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerSelector } from '../../model/resolve/servers.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { chooseServers } from './servers.ts';

const { signal } = new AbortController();
let cloud: FakeCloud;

beforeEach(() => {
  cloud = new FakeCloud();
  cloud.vms = [
    { id: 's1', name: 'worker-1', metadata: { pool: 'data', zone: 'a' }, tags: ['k8s'] },
    { id: 's2', name: 'worker-10', metadata: { pool: 'data' }, tags: ['k8s', 'edge'] },
    { id: 's3', name: 'Worker-1', metadata: { pool: 'DATA', toString: 'x' } },
    { id: 's4', name: 'twin', metadata: {} },
    { id: 's5', name: 'twin', metadata: {} },
  ].map((vm) => ({ status: 'ACTIVE', ...vm }));
});

async function chosen(selector: Partial<ServerSelector>, before: readonly string[] = []) {
  const whole = { ids: [], names: [], carrying: undefined, ...selector };
  return chooseServers(whole, { cloud, since: Number.POSITIVE_INFINITY, before }, signal);
}

describe('chooseServers with an unreadable server', () => {
  beforeEach(() => {
    cloud.vms = cloud.vms.map((vm) =>
      vm.id === 's1' ? { ...vm, name: '', metadata: {}, flaw: 'status: received null' } : vm,
    );
  });

  it.each([
    ['by name', { names: ['worker-10'] }],
    ['by metadata', { carrying: { metadata: { pool: 'data' }, tags: [] } }],
    ['by tags', { carrying: { metadata: {}, tags: ['k8s'] } }],
  ])(
    'an unreadable server is reported, and stays selected %s only if selected before',
    async (_, selector) => {
      const flaws = [
        { reason: 'NovaServerError', message: expect.stringContaining('server s1') as unknown },
      ];
      const unknown = { complete: false, flaws };
      expect(await chosen(selector)).toMatchObject({ ids: ['s2'], ...unknown });
      expect(await chosen(selector, ['s1'])).toMatchObject({ ids: ['s2', 's1'], ...unknown });
    },
  );
});

describe('chooseServers by id', () => {
  it('chooseServers makes no call for ids, and only an edit changes the selection', async () => {
    expect(await chosen({ ids: ['s9'] }, ['s1'])).toEqual({
      ids: ['s9'],
      complete: true,
      pinned: true,
      problems: [],
      flaws: [],
    });
    expect(cloud.log).toEqual([]);
  });
});

describe('chooseServers by name', () => {
  it('chooseServers selects servers with exactly the given name, using a single list for all names', async () => {
    expect(await chosen({ ids: ['s9'], names: ['worker-1', 'worker-10'] })).toEqual({
      ids: ['s9', 's1', 's2'],
      complete: true,
      pinned: false,
      problems: [],
      flaws: [],
    });
    expect(cloud.log).toEqual(['projectServers ']);
  });

  it.each(['worker', 'worker-.*', '^worker-1$', 'WORKER-1', ''])(
    'chooseServers reports ServerNotFound and an incomplete selection for the unknown name "%s"',
    async (name) => {
      const found = await chosen({ ids: ['s9'], names: [name] });
      expect(found).toMatchObject({ ids: ['s9'], complete: false });
      expect(found.problems).toMatchObject([{ reason: 'ServerNotFound' }]);
      expect(found.problems[0]?.message).toContain(`"${name}"`);
    },
  );

  it('chooseServers reports ServerNotUnique with both ids when two servers share a name', async () => {
    const found = await chosen({ names: ['twin', 'worker-1'] });
    expect(found).toMatchObject({ ids: ['s1'], complete: false });
    expect(found.problems).toEqual([
      {
        reason: 'ServerNotUnique',
        message:
          '2 servers are named "twin" (spec.vmNames): s4, s5; use the id of the server instead',
      },
    ]);
  });

  it('chooseServers lists at most five ids when 300 servers share a name', async () => {
    cloud.vms = Array.from({ length: 300 }, (_, at) => ({
      id: `t${at}`,
      name: 'twin',
      status: 'ACTIVE',
      metadata: {},
    }));
    const { problems } = await chosen({ names: ['twin'] });
    expect(problems[0]?.message).toContain('300 servers are named "twin"');
    expect(problems[0]?.message).toContain('t0, t1, t10, t100, t101 and 295 more;');
  });
});

describe('chooseServers by metadata and tags', () => {
  it.each([
    [{ metadata: { pool: 'data' }, tags: [] }, ['s1', 's2']],
    [{ metadata: { pool: 'data', zone: 'a' }, tags: [] }, ['s1']],
    [{ metadata: {}, tags: ['k8s'] }, ['s1', 's2']],
    [{ metadata: {}, tags: ['k8s', 'edge'] }, ['s2']],
    [{ metadata: { zone: 'a' }, tags: ['k8s'] }, ['s1']],
  ])('chooseServers selects the servers with all of %j', async (carrying, ids) => {
    expect(await chosen({ carrying })).toMatchObject({ ids, complete: true, problems: [] });
    expect(cloud.log).toEqual([`projectServers ${carrying.tags.join()}`]);
  });

  it('chooseServers combines ids, names and tags without duplicates, using at most two lists', async () => {
    const carrying = { metadata: {}, tags: ['k8s'] };
    const found = await chosen({ ids: ['s1'], names: ['worker-10', 'Worker-1'], carrying });
    expect(found.ids).toEqual(['s1', 's2', 's3']);
    expect(cloud.log).toEqual(['projectServers ', 'projectServers k8s']);
    cloud.log.length = 0;
    await chosen({ names: ['worker-10'], carrying: { metadata: { pool: 'data' }, tags: [] } });
    expect(cloud.log).toEqual(['projectServers ']);
  });

  it('chooseServers reports ServerNotFound, and a complete selection, when no server matches', async () => {
    const carrying = { metadata: { pool: 'none', valueOf: 'x' }, tags: [] };
    expect(await chosen({ carrying })).toMatchObject({
      ids: [],
      complete: true,
      problems: [{ reason: 'ServerNotFound' }],
    });
  });

  it('chooseServers keeps earlier servers and reports an incomplete selection when Nova fails', async () => {
    cloud.fail('projectServers', 'timeout');
    const carrying = { metadata: { pool: 'data' }, tags: [] };
    expect(await chosen({ ids: ['s9'], carrying }, ['s1', 's9'])).toMatchObject({
      ids: ['s9', 's1'],
      complete: false,
      pinned: false,
      problems: [{ reason: 'NovaServerError' }],
    });
  });

  it('chooseServers throws the abort reason when the caller aborts', async () => {
    const leaving = new AbortController();
    leaving.abort(new Error('gone'));
    cloud.fail('projectServers', 'timeout');
    const selector = { ids: [], names: ['x'], carrying: undefined };
    const options = { cloud, since: 0, before: [] };
    await expect(chooseServers(selector, options, leaving.signal)).rejects.toThrow('gone');
  });
});
