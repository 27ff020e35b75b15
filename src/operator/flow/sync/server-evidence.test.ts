import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerSelector } from '../../model/resolve/servers.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { attach } from '../../testing/scene.ts';
import { readServerEvidence, serversPerSync } from './server-evidence.ts';

const { signal } = new AbortController();
const random = () => 0.5;
let cloud: FakeCloud;
let observed: Set<string>;

beforeEach(() => {
  cloud = new FakeCloud();
  observed = new Set();
  const vm = { id: 's1', name: 'worker-1', status: 'ACTIVE', metadata: { pool: 'data' } };
  cloud.vms = [{ ...vm, tags: ['k8s', 'edge'] }];
});

async function evidenceOf(selector: Partial<ServerSelector>, ids: readonly string[] = ['s1']) {
  const whole = { ids: [], names: [], carrying: undefined, ...selector };
  const observedServers = { hasObservedOwn: (id: string) => observed.has(id) };
  return readServerEvidence({ cloud, observedServers }, whole, ids, random, signal);
}

async function verdictOf(selector: Partial<ServerSelector>) {
  return (await evidenceOf(selector)).serverEvidence[0]?.verdict;
}

describe('evidence for an existing server', () => {
  it.each<[Partial<ServerSelector>, string]>([
    [{}, 'left'],
    [{ names: ['worker'] }, 'left'],
    [{ names: ['worker-1'] }, 'selected'],
    [{ ids: ['s1'] }, 'selected'],
    [{ carrying: { metadata: { pool: 'data' }, tags: [] } }, 'selected'],
    [{ carrying: { metadata: { pool: 'other' }, tags: [] } }, 'left'],
    [{ carrying: { metadata: { pool: 'data' }, tags: ['edge', 'k8s'] } }, 'selected'],
    [{ carrying: { metadata: { pool: 'data' }, tags: ['edge', 'gone'] } }, 'left'],
    [{ names: ['worker-1'], carrying: { metadata: {}, tags: ['gone'] } }, 'selected'],
  ])('an existing server with selector %j gets verdict "%s"', async (selector, verdict) => {
    expect(await verdictOf(selector)).toBe(verdict);
  });

  it('an existing server costs no tag read when its metadata does not match', async () => {
    await evidenceOf({ carrying: { metadata: { pool: 'other' }, tags: ['k8s'] } });
    expect(cloud.log).toEqual(['server s1']);
  });

  it.each(['server', 'serverTags'])(
    'a failing %s read gives verdict unconfirmed and incomplete evidence',
    async (method) => {
      cloud.fail(method, 'timeout');
      expect(await evidenceOf({ carrying: { metadata: {}, tags: ['gone'] } })).toEqual({
        serverEvidence: [{ serverId: 's1', verdict: 'unconfirmed' }],
        complete: false,
      });
    },
  );

  it('readServerEvidence throws when the sync is aborted', async () => {
    const leaving = new AbortController();
    leaving.abort(new Error('gone'));
    const witness = { cloud, observedServers: { hasObservedOwn: () => false } };
    const selector = { ids: [], names: [], carrying: undefined };
    await expect(
      readServerEvidence(witness, selector, ['s1'], random, leaving.signal),
    ).rejects.toThrow('gone');
  });
});

describe('evidence for a 404 server', () => {
  it('a 404 server is deleted if the account observed the server before or Nova lists the deletion, otherwise unconfirmed', async () => {
    const carrying = { metadata: {}, tags: ['k8s'] };
    cloud.hidden.add('s1');
    expect(await verdictOf({ carrying })).toBe('unconfirmed');
    observed.add('s1');
    expect(await verdictOf({ carrying })).toBe('deleted');
    observed.clear();
    cloud.vms = cloud.vms.map((vm) => ({ ...vm, status: 'DELETED' }));
    expect(await verdictOf({ carrying })).toBe('deleted');
  });
});

describe('evidence for a 404 server that the account has observed', () => {
  const carrying = { metadata: {}, tags: ['k8s'] };

  beforeEach(() => {
    observed.add('s1');
    attach(cloud, 1, 1);
    cloud.ports = cloud.ports.map((port) => ({ ...port, deviceId: 's1' }));
  });

  it('an observed 404 server is not deleted while Neutron lists its ports: the account has lost access to Nova', async () => {
    cloud.hidden.add('s1');
    expect(await verdictOf({ carrying })).toBe('unconfirmed');
    cloud.ports = [];
    expect(await verdictOf({ carrying })).toBe('deleted');
  });

  it('an observed 404 server is deleted when Nova lists the deletion, even with leftover Neutron ports', async () => {
    cloud.vms = cloud.vms.map((vm) => ({ ...vm, status: 'DELETED' }));
    expect(await verdictOf({ carrying })).toBe('deleted');
  });
});

it('readServerEvidence reads at most serversPerSync servers, and reports incomplete evidence for more', async () => {
  const ids = Array.from({ length: serversPerSync + 1 }, (_, at) => `t${at}`);
  const { serverEvidence, complete } = await evidenceOf({}, ids);
  expect([serverEvidence.length, complete]).toEqual([serversPerSync, false]);
  const all = await evidenceOf({}, ids.slice(1));
  expect([all.serverEvidence.length, all.complete]).toEqual([serversPerSync, true]);
});
