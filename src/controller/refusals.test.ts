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
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  await fixture.addNode('worker-1');
  fixture.run();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function messageOf(name: string): Promise<string | undefined> {
  return findCondition((await fixture.get(name)).status?.conditions, 'Ready')?.message;
}

describe('requests refused by the API server', () => {
  it('a refused Job creation is shown in status and event until the API server allows it', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    fixture.api.faults.answer(quota);
    await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await fixture.untilReady('worker-1', 'False JobRefused');
    expect(await messageOf('worker-1')).toContain('exceeded quota');
    await fixture.eventually(
      () => fixture.events().includes('JobRefused'),
      () => fixture.events().join(),
    );
    fixture.api.faults.clear();
    await fixture.untilReady('worker-1', good);
  });

  it('a refused Job creation is retried with backoff even if the message changes each time', async () => {
    for (let used = 0; used < 100; used++) {
      fixture.api.faults.answer({ ...quota, message: `exceeded quota, used: ${used}`, times: 1 });
    }
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False JobRefused');
    await fixture.pass(100);
    // Attempts after 1 s, 2 s, 4 s …
    const tries = fixture.api.audit.filter(
      ({ resource, status }) => resource === 'jobs' && status === 403,
    );
    expect(tries.length).toBeGreaterThan(2);
    expect(tries.length).toBeLessThan(8);
    expect(await messageOf('worker-1')).toContain(`used: ${tries.length - 1}`);
  });

  it('a refusal with a very long message is truncated and causes no repeated writes', async () => {
    fixture.api.faults.answer({ ...quota, message: `denied: ${'😀'.repeat(4_000)}` });
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False JobRefused');
    // The message is cut inside a surrogate pair, yet repeated attempts cause no write.
    const writes = fixture.writes().length;
    await fixture.pass(100);
    expect(fixture.writes()).toHaveLength(writes);
  });

  it('a refusal is shown on an object without a status', async () => {
    fixture.api.faults.answer({
      ...quota,
      status: 404,
      reason: 'NotFound',
      message: 'no such namespace',
    });
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False JobRefused');
    expect(await messageOf('worker-1')).toContain('no such namespace');
  });

  it('a refusal is shown on an object in deletion', async () => {
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    fixture.api.faults.answer(quota);
    await fixture.delete('worker-1');
    await fixture.untilReady('worker-1', 'False JobRefused');
  });

  it('a refused ConfigMap creation is shown, and the prepared Job continues later', async () => {
    fixture.api.faults.answer({ ...quota, resource: 'configmaps', message: 'denied by a webhook' });
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False JobRefused');
    fixture.api.faults.clear();
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(1);
  });
});

describe('a foreign ConfigMap', () => {
  it("a foreign ConfigMap under the Job's name blocks the Job with a status message until deleted", async () => {
    fixture.api.faults.answer({ ...quota, resource: 'configmaps', message: 'not now' });
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'False JobRefused');
    const name = fixture.jobs()[0]?.metadata.name ?? '';
    const foreign = { metadata: { name, namespace: 'multinic-agents' }, data: {} };
    // A running controller may create its own ConfigMap first.
    await fixture.stop();
    fixture.api.faults.clear();
    await fixture.admin.create(configMaps, foreign);
    fixture.run();
    await fixture.eventually(
      async () => (await messageOf('worker-1'))?.includes('belongs to another Job') ?? false,
      () => 'not told',
    );
    expect(fixture.pods()).toEqual([]);
    await fixture.admin.delete(configMaps, { namespace: 'multinic-agents', name });
    await fixture.untilReady('worker-1', good);
  });
});

describe('a duplicate that refers to a node by name', () => {
  it('deleting a duplicate that refers to the node by name unblocks the remaining object', async () => {
    await fixture.apply('by-name', { nodeName: 'worker-1', instanceId: '', interfaces: [] });
    await fixture.untilReady('by-name', good);
    await fixture.apply('vm-a', { nodeName: 'vm-a', interfaces: [entry(0)] });
    await fixture.untilReady('vm-a', 'False DuplicateInstanceId');
    await fixture.delete('by-name');
    await fixture.untilGone('by-name');
    await fixture.untilReady('vm-a', good);
  });
});
