import { describe, expect, it } from 'vitest';
import type { Effect } from '../../api/effects.ts';
import { finalizers } from '../../api/names.ts';
import type { DeleteOptions } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { createPerform } from '../../process/effects.ts';
import { systemClock } from '../../time/clock.ts';
import type { OperatorObject } from '../model/multinicoperator.ts';
import { Applier } from '../objects/applier.ts';
import { createStores } from '../objects/stores.ts';
import { createDeletion } from './deletion.ts';

const namespace = 'ns';
const { signal } = new AbortController();
const deleting = { deletionTimestamp: '2026-11-26T12:00:00Z' };

function operator(metadata: Partial<OperatorObject['metadata']> = {}): OperatorObject {
  const held = ['example.com/other', finalizers.multiNicOperator];
  return {
    metadata: { name: 'ours', namespace, resourceVersion: '7', finalizers: held, ...metadata },
  };
}

const managed = (name: string, of = 'ours') => ({
  metadata: { name, namespace, labels: { 'multinic.example.com/managed-by-operator': of } },
});

/** Creates a deletion on a cluster with managed objects of two MultiNicOperators; `calls`: writes in order. */
function fixture({
  configurationOf = 'ours',
  isNamespaceEnding = false,
  items = [] as readonly OperatorObject[],
} = {}) {
  const calls: string[] = [];
  const policies = new Set<DeleteOptions['propagationPolicy']>();
  const stores = createStores(namespace);
  stores.deployments.upsert(managed('multinic-controller'));
  stores.deployments.upsert(managed('other', 'theirs'));
  stores.statefulSets.upsert(managed('mariadb'));
  stores.services.upsert(managed('mariadb'));
  stores.configMaps.upsert(managed('triggers'));
  stores.claims.upsert(managed('mysql-storage-mariadb-0'));
  stores.credentials.upsert(managed('mariadb-credentials'));
  const found: Record<string, KubeObject> = {
    ValidatingWebhookConfiguration: managed('multinic-protection', configurationOf),
    Namespace: { metadata: { name: namespace, ...(isNamespaceEnding ? deleting : {}) } },
  };
  const client = {
    find: async ({ kind }: Resource<KubeObject>) => found[kind],
    listAll: async () => ({ items, resourceVersion: '1' }),
    delete: async (
      { kind }: Resource<KubeObject>,
      { name }: { name: string },
      { propagationPolicy }: DeleteOptions,
    ) => {
      calls.push(`delete ${kind} ${name}`);
      policies.add(propagationPolicy);
      throw new KubeError({ status: 404, reason: 'NotFound', message: 'deleted meanwhile' });
    },
    patch: async (_: Resource<KubeObject>, { name }: { name: string }, patch: unknown) =>
      void calls.push(`patch ${name} ${JSON.stringify(patch)}`),
  } as never;
  const perform = createPerform<Effect>(() => undefined);
  const applier = new Applier({ client, perform, live: stores.live, clock: systemClock });
  return {
    deletion: createDeletion({ client, applier, stores, namespace, perform }),
    calls,
    policies,
  };
}

const released =
  'patch ours {"metadata":{"resourceVersion":"7","finalizers":["example.com/other"]}}';
const configuration = 'delete ValidatingWebhookConfiguration multinic-protection';

describe('deletion of a MultiNicOperator', () => {
  it('finish deletes the webhook configuration first, keeps claims and passwords, and ends with the finalizer', async () => {
    const { deletion, calls } = fixture();
    await deletion.finish(operator(deleting), signal);
    expect(calls).toEqual([
      configuration,
      'delete Deployment multinic-controller',
      'delete StatefulSet mariadb',
      'delete Service mariadb',
      'delete ConfigMap triggers',
      released,
    ]);
  });

  it('finish deletes Jobs and Deployments together with their Pods', async () => {
    const { deletion, policies } = fixture();
    await deletion.finish(operator(deleting), signal);
    expect([...policies]).toEqual(['Background']);
  });

  it.each<[string, Parameters<typeof fixture>[0], OperatorObject, readonly string[]]>([
    [
      'deletes no other MultiNicOperator’s configuration',
      { configurationOf: 'theirs' },
      operator({ ...deleting, name: 'third' }),
      [released.replace('ours', 'third')],
    ],
    [
      'deletes nothing for a MultiNicOperator in another namespace with the legacy finalizer',
      {},
      operator({ ...deleting, namespace: 'other' }),
      [released],
    ],
    [
      'leaves objects to the namespace controller in a terminating namespace',
      {},
      operator(),
      [configuration, released],
    ],
    [
      'writes nothing when the finalizer is already removed',
      { configurationOf: 'theirs' },
      operator({ ...deleting, name: 'third', finalizers: [] }),
      [],
    ],
  ])('finish %s', async (_, options, deleted, writes) => {
    const { deletion, calls } = fixture(options);
    await deletion.finish(deleted, signal);
    expect(calls).toEqual(writes);
  });

  it.each([
    [
      'deletes the configuration of a MultiNicOperator deleted without its finalizer',
      'ours',
      [configuration],
    ],
    ['keeps another MultiNicOperator’s configuration', 'third', []],
  ])('clean %s', async (_, name, writes) => {
    const { deletion, calls } = fixture();
    await deletion.clean({ namespace, name }, signal);
    expect(calls).toEqual(writes);
  });

  it('hold adds the finalizer once and preserves foreign finalizers', async () => {
    const { deletion, calls } = fixture();
    await deletion.addFinalizer(operator(), signal);
    await deletion.addFinalizer(operator({ finalizers: [] }), signal);
    const held = JSON.stringify([finalizers.multiNicOperator]);
    expect(calls).toEqual([`patch ours {"metadata":{"resourceVersion":"7","finalizers":${held}}}`]);
  });

  it.each([
    [true, [configuration, released]],
    [false, []],
  ])(
    'leave releases the MultiNicOperator if the namespace is terminating (%s)',
    async (isNamespaceEnding, writes) => {
      const { deletion, calls } = fixture({ isNamespaceEnding, items: [operator()] });
      await deletion.releaseAtExit(signal);
      expect(calls).toEqual(writes);
    },
  );
});
