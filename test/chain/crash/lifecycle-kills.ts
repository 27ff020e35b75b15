import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mortalEnv } from '../../../rig/parts/mortal.ts';
import { annotations, managedObjects } from '../../../src/api/names.ts';
import { deployments } from '../../../src/kube/core-resources.ts';
import { multiNicOperators, statusOf } from '../../../src/lifecycle/multinicoperator.ts';
import { scaled } from '../../speed.ts';
import type { KillPoint } from './kill-points.ts';
import { type LifecycleFixture, namespace, openLifecycleFixture } from './lifecycle-fixture.ts';

const patience = { timeout: scaled(60_000), interval: 50 };

/** All objects of an installation, after it was changed and after it was deleted. */
interface Life {
  readonly installed: unknown;
  readonly left: unknown;
}

/** A life of a MultiNicOperator for each moment at which lifecycle can die: it ends as one in which it does not. */
export function killLifecycle(points: readonly KillPoint[]): void {
  let bed: LifecycleFixture;
  let clean: Life;

  beforeAll(async () => {
    bed = await openLifecycleFixture();
    clean = await live(bed);
  });

  afterAll(() => bed?.[Symbol.asyncDispose]());

  describe('a life in which lifecycle dies', () => {
    it.each(points)('at $id', async ({ at }) => {
      const { parts } = bed;
      await parts.stop('lifecycle');
      // It makes its certificates as soon as they are missing.
      await bed.clear();
      // It may die before it is ready.
      void parts.restart('lifecycle', { ...mortalEnv, KILL_AT: String(at) }).catch(() => undefined);
      const ended = parts.ending('lifecycle');
      const life = live(bed);
      // The last write of a life ends the life before the process has died of it.
      const late = life.then(async () => wait(5_000, 'never hit'));
      const how = await Promise.race([ended, late]);
      expect(how).toBe('ended with SIGKILL');
      await parts.restart('lifecycle', { ...mortalEnv, KILL_AT: '' });
      expect(await life).toEqual(clean);
    });
  });
}

/** Installed in place of the legacy system, tampered with, restored and deleted. */
async function live(bed: LifecycleFixture): Promise<Life> {
  await bed.install();
  const made = { namespace, name: managedObjects.controller };
  await until(async () => (await bed.client.find(deployments, made)) !== undefined);
  await bed.startMariadb();
  await bed.annotate({ [annotations.restore]: 'latest' });
  await until(async () => Object.keys(bed.objects()).some((name) => name.startsWith('jobs.batch')));
  await bed.client.patch(deployments, made, { spec: { replicas: 7, paused: true } });
  const changed = { spec: { template: { metadata: { labels: { app: 'other' } } } } };
  await bed.client.patch(deployments, made, changed);
  await until(async () => {
    const { spec } = await bed.client.get(deployments, made);
    return spec?.template?.metadata?.labels?.['app'] === managedObjects.controller;
  });
  await until(async () => (await bed.refuse()) && (await refusals(bed)) > 0);
  const installed = bed.objects();

  await bed.client.delete(multiNicOperators, bed.ref);
  await until(async () => (await bed.client.find(multiNicOperators, bed.ref)) === undefined);
  const left = bed.objects();
  await bed.clear();
  return { installed, left };
}

async function refusals(bed: LifecycleFixture): Promise<number> {
  const object = await bed.client.get(multiNicOperators, bed.ref);
  return statusOf(object).protectionStatus?.preventedMutations ?? 0;
}

async function until(isReached: () => Promise<boolean>): Promise<void> {
  await vi.waitFor(async () => expect(await isReached()).toBe(true), patience);
}
