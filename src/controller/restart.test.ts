import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry } from '../../test/fixtures/controller-samples.ts';
import type { Effect } from '../api/effects.ts';

const good = 'True AllInterfacesConfigured';
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  await fixture.addNode('worker-1');
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

/** Stops the controller once at this effect; `restartWhenStopped` then starts a new process. */
function stopAt(effect: Effect, phase: 'before' | 'after'): { readonly happened: () => boolean } {
  let happened = false;
  fixture.onEffect = (name, when) => {
    if (happened || name !== effect || when !== phase) return;
    happened = true;
    throw new Error(`stopped ${phase} ${effect}`);
  };
  return { happened: () => happened };
}

async function restartWhenStopped(): Promise<void> {
  await fixture.eventually(
    () => fixture.stopped,
    () => 'the controller went on',
  );
  await fixture.stop();
  fixture.run();
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
  'controller.removals.write',
  'controller.finalizer.remove',
  'controller.job.delete',
] as const;

describe.each(['before', 'after'] as const)('a controller killed %s', (phase) => {
  it.each(whileApplying)(
    '%s ends with the same objects and status after a restart',
    async (effect) => {
      const { happened } = stopAt(effect, phase);
      fixture.run();
      await fixture.apply('worker-1', { interfaces: [entry(0)] });
      await restartWhenStopped();
      const { metadata, status } = await fixture.untilReady('worker-1', good);
      expect(happened()).toBe(true);
      expect(metadata.finalizers).toEqual(['multinic.io/cleanup']);
      expect(status?.state).toBe('Configured');
      expect(fixture.agents.requests.map(({ attempt }) => attempt)).toEqual([1]);
      expect([fixture.created('jobs'), fixture.created('configmaps')]).toEqual([1, 1]);
    },
  );

  it.each(whileCleaning)(
    '%s during a clean-up releases the object exactly once',
    async (effect) => {
      fixture.run();
      await fixture.apply('worker-1', { interfaces: [entry(0)] });
      await fixture.untilReady('worker-1', good);
      const { happened } = stopAt(effect, phase);
      await fixture.delete('worker-1');
      await restartWhenStopped();
      await fixture.untilGone('worker-1');
      expect(happened()).toBe(true);
      expect(fixture.agents.requests.map(({ action }) => action)).toEqual(['apply', 'cleanup']);
      expect([fixture.created('jobs'), fixture.created('configmaps')]).toEqual([2, 2]);
      await fixture.eventually(
        () => fixture.jobs().length === 0,
        () => 'Jobs stay',
      );
    },
  );
});

describe('a controller that loses responses', () => {
  it.each(['jobs.batch', 'configmaps', 'multinicnodeconfigs.multinic.io'])(
    'a lost response to a write on %s causes no duplicate object',
    async (resource) => {
      for (const verb of ['create', 'patch'] as const) {
        fixture.api.faults.lose({ verb, resource, when: 'after', times: 2 });
      }
      fixture.run();
      await fixture.admin.version();
      await fixture.apply('worker-1', { interfaces: [entry(0)] }).catch(ignoreLostResponse);
      await fixture.untilReady('worker-1', good);
      expect(fixture.agents.requests).toHaveLength(1);
    },
  );

  it('a Job created with a lost response is recognised before the watch event arrives', async () => {
    fixture.api.faults.onWatchEvent((_event, resource) =>
      resource === 'jobs.batch' ? { delayMs: 2_000 } : 'send',
    );
    fixture.api.faults.lose({ verb: 'create', resource: 'jobs.batch', when: 'after' });
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(1);
    expect(fixture.api.audit).toContainEqual(
      expect.objectContaining({ verb: 'create', resource: 'jobs', status: 409 }),
    );
    expect(fixture.api.audit.filter(({ status }) => status === 403)).toEqual([]);
  });

  it('delayed watch events cause no duplicate run', async () => {
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', good);
    fixture.api.faults.onWatchEvent(() => ({ delayMs: 200 }));
    await fixture.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await fixture.untilReady('worker-1', good);
    expect(fixture.created('jobs')).toBe(2);
  });

  it('attempt numbers continue after a controller restart', async () => {
    fixture.agents.answer = () => '';
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.eventually(
      () => fixture.agents.requests.length >= 3,
      () => 'no third attempt',
    );
    await fixture.stop();
    const before = fixture.agents.requests.length;
    fixture.run();
    await fixture.eventually(
      () => fixture.agents.requests.length > before,
      () => 'no further attempt',
    );
    const attempts = fixture.agents.requests.map(({ attempt }) => attempt);
    expect(attempts).toEqual(attempts.map((_, at) => at + 1));
  });
});

/** The API server stored the object although its response was lost. */
function ignoreLostResponse(error: unknown): void {
  expect(error).toMatchObject({ reason: 'Unreachable' });
}
