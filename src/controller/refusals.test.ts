import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry } from '../../test/fixtures/controller-samples.ts';
import { findCondition } from '../api/condition.ts';
import { configMaps } from '../kube/core-resources.ts';

const good = 'True AllInterfacesConfigured';
const quota = {
  verb: 'create',
  resource: 'jobs.batch',
  status: 403,
  reason: 'Forbidden',
  message: 'exceeded quota: agents, requested: count/jobs.batch=1',
  times: 1e9,
} as const;
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  await bed.addNode('worker-1');
  bed.run();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

async function messageOf(name: string): Promise<string | undefined> {
  return findCondition((await bed.get(name)).status?.conditions, 'Ready')?.message;
}

describe('what the API server refuses', () => {
  it('is told in status and event, and is over when the server allows it', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    bed.api.faults.answer(quota);
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await bed.untilReady('worker-1', 'False JobRefused');
    expect(await messageOf('worker-1')).toContain('exceeded quota');
    await bed.eventually(
      () => bed.events().includes('JobRefused'),
      () => bed.events().join(),
    );
    bed.api.faults.clear();
    await bed.untilReady('worker-1', good);
  });

  it('is tried again with a pause, in whatever words it is refused each time', async () => {
    for (let used = 0; used < 100; used++) {
      bed.api.faults.answer({ ...quota, message: `exceeded quota, used: ${used}`, times: 1 });
    }
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'False JobRefused');
    await bed.pass(100);
    // After 1 s, 2 s, 4 s …
    const tries = bed.api.audit.filter(
      ({ resource, status }) => resource === 'jobs' && status === 403,
    );
    expect(tries.length).toBeGreaterThan(2);
    expect(tries.length).toBeLessThan(8);
    expect(await messageOf('worker-1')).toContain(`used: ${tries.length - 1}`);
  });

  it('is told however long the words are', async () => {
    bed.api.faults.answer({ ...quota, message: `denied: ${'😀'.repeat(4_000)}` });
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'False JobRefused');
    // Cut in the middle of a character, and the same at each look all the same.
    const writes = bed.writes().length;
    await bed.pass(100);
    expect(bed.writes()).toHaveLength(writes);
  });

  it('is told of an object that never had a status', async () => {
    bed.api.faults.answer({
      ...quota,
      status: 404,
      reason: 'NotFound',
      message: 'no such namespace',
    });
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'False JobRefused');
    expect(await messageOf('worker-1')).toContain('no such namespace');
  });

  it('is told of an object that is being deleted', async () => {
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    bed.api.faults.answer(quota);
    await bed.delete('worker-1');
    await bed.untilReady('worker-1', 'False JobRefused');
  });

  it('is told of a ConfigMap, and the Job that waits for it goes on later', async () => {
    bed.api.faults.answer({ ...quota, resource: 'configmaps', message: 'denied by a webhook' });
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'False JobRefused');
    bed.api.faults.clear();
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(1);
  });
});

describe('a ConfigMap that is somebody else’s', () => {
  it('is given to no agent: it is told, and the agent waits until it is gone', async () => {
    bed.api.faults.answer({ ...quota, resource: 'configmaps', message: 'not now' });
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', 'False JobRefused');
    const name = bed.jobs()[0]?.metadata.name ?? '';
    const foreign = { metadata: { name, namespace: 'multinic-agents' }, data: {} };
    bed.api.faults.clear();
    await bed.admin.create(configMaps, foreign);
    await bed.eventually(
      async () => (await messageOf('worker-1'))?.includes('belongs to another Job') ?? false,
      () => 'not told',
    );
    expect(bed.pods()).toEqual([]);
    await bed.admin.delete(configMaps, { namespace: 'multinic-agents', name });
    await bed.untilReady('worker-1', good);
  });
});

describe('a duplicate that means a node by its name', () => {
  it('wakes the object that is left when it goes', async () => {
    await bed.apply('by-name', { nodeName: 'worker-1', instanceId: '', interfaces: [] });
    await bed.untilReady('by-name', good);
    await bed.apply('vm-a', { nodeName: 'vm-a', interfaces: [entry(0)] });
    await bed.untilReady('vm-a', 'False DuplicateInstanceId');
    await bed.delete('by-name');
    await bed.untilGone('by-name');
    await bed.untilReady('vm-a', good);
  });
});
