import { describe, expect, it } from 'vitest';
import { managedObjects } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { secrets } from '../../kube/core-resources.ts';
import { type KubeObject, keyOf } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { systemClock } from '../../time/clock.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { accept } from '../stages/accept/accept.ts';
import { secretWith } from '../testing/database-scene.ts';
import { operatorWith } from '../testing/observed.ts';
import { createObserve } from './observe.ts';
import { createStores } from './stores.ts';

const namespace = 'multinic-system';
const rotate = (value: string) => ({ 'multinic.io/rotate-credentials': value });

function secretOf(password: string, resourceVersion: string, request: string) {
  const secret = secretWith(['root', password, 'salt']);
  return {
    ...secret,
    metadata: { ...secret.metadata, resourceVersion, annotations: rotate(request) },
  };
}

/** Observes while the watch shows `watched`, and the API server has `stored`. */
async function observed(watched: KubeObject, stored: KubeObject, request: string) {
  const stores = createStores(namespace);
  const operator = operatorWith({ database: { enabled: true } }, { annotations: rotate(request) });
  stores.operators.replace([operator]);
  stores.credentials.replace([watched]);
  const reads: string[] = [];
  const find = async ({ kind }: Resource<KubeObject>): Promise<KubeObject | undefined> => {
    reads.push(kind);
    return kind === secrets.kind ? stored : undefined;
  };
  const observe = createObserve({
    client: { find, listAll: async () => ({ items: [] }) } as unknown as KubeClient,
    stores,
    namespace,
    kubernetesMinor: 37,
    clock: systemClock,
  });
  const observation = await observe(keyOf(operator), accept, AbortSignal.timeout(5_000));
  if (observation.what !== 'wanted') throw new Error(observation.what);
  return { found: observation.observed.objects.find(secrets, managedObjects.credentials), reads };
}

describe('Pod mariadb-0 in deletion', () => {
  it("databaseEndingMs counts from this process's first observation, ignoring the API server's clock", async () => {
    const stores = createStores(namespace);
    const operator = operatorWith({});
    stores.operators.replace([operator]);
    const clock = createFakeClock();
    const client = { find: async () => undefined, listAll: async () => ({ items: [] }) };
    const observe = createObserve({
      client: client as unknown as KubeClient,
      stores,
      namespace,
      kubernetesMinor: 37,
      clock,
    });
    const endingMs = async () => {
      const observation = await observe(keyOf(operator), accept, AbortSignal.timeout(5_000));
      return observation.what === 'wanted'
        ? observation.observed.databaseEndingMs
        : observation.what;
    };
    expect(await endingMs()).toBeUndefined();
    const deletionTimestamp = '2000-01-01T00:00:00Z';
    const metadata = { namespace, name: 'mariadb-0', uid: 'one', deletionTimestamp };
    stores.pods.replace([{ metadata }]);
    expect(await endingMs()).toBe(0);
    await clock.advance(30_000);
    expect(await endingMs()).toBe(30_000);
    stores.pods.replace([{ metadata: { ...metadata, uid: 'two' } }]);
    expect(await endingMs()).toBe(0);
  });
});

describe('Secret mariadb-credentials', () => {
  it('the Secret is read from the API server while a lagging watch shows it before a rotation', async () => {
    const rotated = secretOf('new', '12', 'b');
    const { found } = await observed(secretOf('old', '11', 'a'), rotated, 'b');
    expect(found).toEqual(rotated);
  });

  it('the Secret is not read when the watch shows the request as handled', async () => {
    const secret = secretOf('new', '12', 'b');
    const { found, reads } = await observed(secret, secret, 'b');
    expect(found).toEqual(secret);
    expect(reads).not.toContain(secrets.kind);
  });
});
