import { describe, expect, test } from 'vitest';
import { resourceQuotas } from '../../../rig/chain/kinds.ts';
import { configMaps, namespaces, nodes, secrets } from '../../../src/kube/core-resources.ts';
import {
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  KubeError,
} from '../../../src/kube/errors.ts';
import { eventually } from './eventually.ts';
import { refusalOf } from './refusal.ts';
import { gadgets } from './widget.ts';
import type { KubeFixture } from './world.ts';

export function objectsContract(world: () => KubeFixture): void {
  describe('objects', () => {
    test('O01 create gives identity and version, get gives the same object', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      const created = await client.create(configMaps, { metadata, data: { a: '1' } });
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(created.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
      expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(await client.get(configMaps, metadata)).toEqual(created);
      expect(created).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } });
    });

    test('O02 create of an existing name is refused as AlreadyExists, not as a conflict', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      await client.create(configMaps, { metadata });
      const error = await refusalOf(client.create(configMaps, { metadata }));
      expect(error).toMatchObject({ status: 409, reason: 'AlreadyExists' });
      expect([isAlreadyExists(error), isConflict(error)]).toEqual([true, false]);
    });

    test('O03 get of a missing object is NotFound, find gives undefined', async () => {
      const { client, namespace } = world();
      const ref = { namespace: await namespace(), name: 'missing' };
      const error = await refusalOf(client.get(configMaps, ref));
      expect(error).toMatchObject({ status: 404, reason: 'NotFound' });
      expect(error.message).toContain('"missing" not found');
      expect(await client.find(configMaps, ref)).toBeUndefined();
    });

    test('O04 create in a missing namespace is NotFound and names the namespace', async () => {
      const { client } = world();
      const metadata = { namespace: 'no-such-namespace', name: 'one' };
      const error = await refusalOf(client.create(configMaps, { metadata }));
      expect(isNotFound(error)).toBe(true);
      expect(error.message).toContain('no-such-namespace');
    });

    test('O05 an unserved resource is NotFound', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      expect(isNotFound(await refusalOf(client.list(gadgets, { namespace: inside })))).toBe(true);
      const metadata = { namespace: inside, name: 'one' };
      expect(isNotFound(await refusalOf(client.create(gadgets, { metadata })))).toBe(true);
    });

    test('O06 a name that is no DNS name is Invalid and the cause names the field', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'Not_Valid' };
      const error = await refusalOf(client.create(configMaps, { metadata }));
      expect(isInvalid(error)).toBe(true);
      expect(error.causes.map(({ field }) => field)).toContain('metadata.name');
    });

    test('O07 a label that is no label value is Invalid and the cause names the field', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one', labels: { tier: 'a b' } };
      const error = await refusalOf(client.create(configMaps, { metadata }));
      expect(isInvalid(error)).toBe(true);
      expect(error.causes.map(({ field }) => field)).toContain('metadata.labels');
    });

    test('O08 a Secret keeps its data and is Opaque by default', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      const data = { token: Buffer.from('s3cret').toString('base64') };
      expect(await client.create(secrets, { metadata, data })).toMatchObject({
        type: 'Opaque',
        data,
      });
    });

    test('O09 merge patch sets, deletes by null and leaves the rest', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      await client.create(configMaps, { metadata, data: { a: '1', b: '2', c: '3' } });
      const patched = await client.patch(configMaps, metadata, { data: { a: '9', b: null } });
      expect(patched.data).toEqual({ a: '9', c: '3' });
    });

    test('O10 merge patch with an old resourceVersion is a conflict and changes nothing', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      const { resourceVersion } = (await client.create(configMaps, { metadata })).metadata;
      const locked = (a: string) => ({ metadata: { resourceVersion }, data: { a } });
      const first = await client.patch(configMaps, metadata, locked('1'));
      const error = await refusalOf(client.patch(configMaps, metadata, locked('2')));
      expect(error).toMatchObject({ status: 409, reason: 'Conflict' });
      expect(isConflict(error)).toBe(true);
      expect(await client.get(configMaps, metadata)).toEqual(first);
    });

    test('O11 a merge patch for a missing object is NotFound', async () => {
      const { client, namespace } = world();
      const ref = { namespace: await namespace(), name: 'missing' };
      expect(isNotFound(await refusalOf(client.patch(configMaps, ref, { data: {} })))).toBe(true);
    });

    test('O12 a write without changes leaves the resourceVersion unchanged', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      const created = await client.create(configMaps, { metadata, data: { a: '1' } });
      const patched = await client.patch(configMaps, metadata, { data: { a: '1' } });
      expect(patched.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    });

    test('O13 a dry run is answered as if done and stores nothing', async () => {
      const { client, namespace } = world();
      const metadata = { namespace: await namespace(), name: 'one' };
      const tried = await client.create(configMaps, { metadata }, { dryRun: true });
      expect(tried.metadata.uid).toBeDefined();
      expect(await client.find(configMaps, metadata)).toBeUndefined();
      const applied = { metadata, data: { a: '1' } };
      await client.apply(configMaps, applied, { fieldManager: 'me', dryRun: true });
      expect(await client.find(configMaps, metadata)).toBeUndefined();
      const created = await client.create(configMaps, { metadata });
      await client.patch(configMaps, metadata, { data: { a: '1' } }, { dryRun: true });
      expect(await client.get(configMaps, metadata)).toEqual(created);
    });

    test('O14 a Namespace is Active and holds objects', async () => {
      const { client, namespace } = world();
      const name = await namespace();
      const read = await client.get(namespaces, { name });
      expect(read.status?.phase).toBe('Active');
    });

    test('O15 a status patch leaves the spec of a Node unchanged, and a spec patch the status', async () => {
      const { client, name } = world();
      const ref = { name: name('node') };
      await client.create(nodes, { metadata: { ...ref, labels: { zone: 'a' } } });
      const nodeInfo = { systemUUID: 'F00D', bootID: 'b1' };
      const conditions = [{ type: 'Ready', status: 'True' }];
      await client.patchStatus(nodes, ref, { status: { nodeInfo, conditions } });
      await client.patch(nodes, ref, { spec: { unschedulable: true }, status: { nodeInfo: null } });
      const read = await client.get(nodes, ref);
      expect(read.spec?.unschedulable).toBe(true);
      expect(read.metadata.labels).toMatchObject({ zone: 'a' });
      expect(read.status?.nodeInfo).toMatchObject(nodeInfo);
      expect(read.status?.conditions).toMatchObject(conditions);
      await client.delete(nodes, ref);
    });

    test('O16 the server returns the Kubernetes version', async () => {
      expect((await world().client.version()).gitVersion).toMatch(/^v1\.\d+\.\d+/);
    });

    test('O17 create beyond an object count quota is Forbidden and names quota and usage', async () => {
      const { client, namespace } = world();
      const inside = await namespace();
      const quota = { namespace: inside, name: 'few' };
      const secret = { metadata: { namespace: inside, name: 'one' } };
      /** Returns the refusal; undefined: the Secret would be created. */
      const refusal = async (): Promise<KubeError | undefined> => {
        try {
          await client.create(secrets, secret, { dryRun: true });
          return undefined;
        } catch (error) {
          if (error instanceof KubeError && error.status === 403) return error;
          throw error;
        }
      };
      const spec = { hard: { 'count/secrets': '0' } };
      await client.create(resourceQuotas, { metadata: quota, spec });
      // The admission plugin watches quotas, and refuses every request until the quota has a status.
      const refused = await eventually('the quota is counted', async () => {
        const error = await refusal();
        return error?.message.includes('exceeded quota') && error;
      });
      expect(refused).toMatchObject({ status: 403, reason: 'Forbidden' });
      expect(refused.message).toContain(
        'secrets "one" is forbidden: exceeded quota: few, requested: count/secrets=1, used: count/secrets=0, limited: count/secrets=0',
      );
      await client.delete(resourceQuotas, quota);
      await eventually('the quota is gone', async () => (await refusal()) === undefined);
    });
  });
}
