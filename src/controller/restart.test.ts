import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry } from '../../test/fixtures/controller-samples.ts';
import type { Effect } from '../api/effects.ts';

const good = 'True AllInterfacesConfigured';
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  await bed.addNode('worker-1');
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

/** Stops the controller once, at this effect, and starts another one as soon as it has ended. */
function stopAt(effect: Effect, phase: 'before' | 'after'): { readonly happened: () => boolean } {
  let happened = false;
  bed.onEffect = (name, when) => {
    if (happened || name !== effect || when !== phase) return;
    happened = true;
    throw new Error(`stopped ${phase} ${effect}`);
  };
  return { happened: () => happened };
}

async function restartWhenStopped(): Promise<void> {
  await bed.eventually(
    () => bed.stopped,
    () => 'the controller went on',
  );
  await bed.stop();
  bed.run();
}

const whileApplying = [
  'controller.finalizer.add',
  'controller.job.create',
  'controller.config-map.create',
  'controller.job.unsuspend',
  'controller.status.write',
] as const;

const whileCleaning = [
  'controller.job.create',
  'controller.config-map.create',
  'controller.job.unsuspend',
  'controller.finalizer.remove',
  'controller.job.delete',
] as const;

describe.each(['before', 'after'] as const)('a controller that is killed %s', (phase) => {
  it.each(whileApplying)('%s ends in the same state with the same objects', async (effect) => {
    const { happened } = stopAt(effect, phase);
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await restartWhenStopped();
    const { metadata, status } = await bed.untilReady('worker-1', good);
    expect(happened()).toBe(true);
    expect(metadata.finalizers).toEqual(['multinic.io/cleanup']);
    expect(status?.state).toBe('Configured');
    expect(bed.agents.requests.map(({ attempt }) => attempt)).toEqual([1]);
    expect([bed.created('jobs'), bed.created('configmaps')]).toEqual([1, 1]);
  });

  it.each(whileCleaning)('%s of a cleanup lets the object go once', async (effect) => {
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    const { happened } = stopAt(effect, phase);
    await bed.delete('worker-1');
    await restartWhenStopped();
    await bed.untilGone('worker-1');
    expect(happened()).toBe(true);
    expect(bed.agents.requests.map(({ action }) => action)).toEqual(['apply', 'cleanup']);
    expect([bed.created('jobs'), bed.created('configmaps')]).toEqual([2, 2]);
    await bed.eventually(
      () => bed.jobs().length === 0,
      () => 'Jobs stay',
    );
  });
});

describe('a controller whose answers get lost', () => {
  it.each(['jobs.batch', 'configmaps', 'multinicnodeconfigs.multinic.io'])(
    'creates nothing twice when a write to %s took effect unheard',
    async (resource) => {
      for (const verb of ['create', 'patch'] as const) {
        bed.api.faults.lose({ verb, resource, when: 'after', times: 2 });
      }
      bed.run();
      await bed.admin.version();
      await bed.apply('worker-1', { interfaces: [entry(0)] }).catch(() => undefined);
      await bed.untilReady('worker-1', good);
      expect(bed.agents.requests).toHaveLength(1);
    },
  );

  it('takes the Job that it created unheard for its own while no watch has told of it', async () => {
    bed.api.faults.onWatchEvent((_event, resource) =>
      resource === 'jobs.batch' ? { delayMs: 2_000 } : 'send',
    );
    bed.api.faults.lose({ verb: 'create', resource: 'jobs.batch', when: 'after' });
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(1);
    expect(bed.api.audit).toContainEqual(
      expect.objectContaining({ verb: 'create', resource: 'jobs', status: 409 }),
    );
    expect(bed.api.audit.filter(({ status }) => status === 403)).toEqual([]);
  });

  it('starts nothing twice when its watches lag', async () => {
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    bed.api.faults.onWatchEvent(() => ({ delayMs: 200 }));
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await bed.untilReady('worker-1', good);
    expect(bed.created('jobs')).toBe(2);
  });

  it('counts attempts on where the last controller stood', async () => {
    bed.agents.answer = () => '';
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.eventually(
      () => bed.agents.requests.length >= 3,
      () => 'no third attempt',
    );
    await bed.stop();
    const before = bed.agents.requests.length;
    bed.run();
    await bed.eventually(
      () => bed.agents.requests.length > before,
      () => 'no further attempt',
    );
    const attempts = bed.agents.requests.map(({ attempt }) => attempt);
    expect(attempts).toEqual(attempts.map((_, at) => at + 1));
  });
});
