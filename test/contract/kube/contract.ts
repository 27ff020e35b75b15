import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyContract } from './apply.ts';
import { deletionContract } from './deletion.ts';
import { identitiesContract } from './identities.ts';
import { jobsContract } from './jobs.ts';
import { jsonPatchContract } from './json-patch.ts';
import { listsContract } from './lists.ts';
import { objectsContract } from './objects.ts';
import { rightsContract } from './rights.ts';
import { runtimeContract } from './runtime.ts';
import { schemasContract } from './schemas.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import { statusContract } from './status.ts';
import { watchesContract } from './watches.ts';
import { createWorld, type KubeFixture } from './world.ts';

/** Kubernetes behaviour that our runtime relies on: the same tests, with the same ids, for every supported server. */
export function kubeContract(name: string, open: () => Promise<ServerUnderTest>): void {
  describe(`kube contract on ${name}`, () => {
    let opened: KubeFixture | undefined;
    const world = (): KubeFixture => {
      if (!opened) throw new Error('the server under test did not start');
      return opened;
    };

    beforeAll(async () => {
      opened = await createWorld(await open());
    });
    afterAll(async () => {
      await opened?.close();
    });

    objectsContract(world);
    jsonPatchContract(world);
    listsContract(world);
    applyContract(world);
    statusContract(world);
    schemasContract(world);
    deletionContract(world);
    watchesContract(world);
    identitiesContract(world);
    rightsContract(world);
    jobsContract(world);
    runtimeContract(world);

    test('Z01 the suite calls every method of the client', () => {
      const { calls, methods } = world();
      const counts = methods.map((method) => `${method} ${calls.get(method) ?? 0}`);
      console.info(`calls on ${name}: ${counts.join(', ')}`);
      expect(methods.filter((method) => !calls.has(method))).toEqual([]);
    });
  });
}
