import { describe, expect, it } from 'vitest';
import { labels } from '../../api/names.ts';
import { Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Secret } from '../../kube/core-resources.ts';
import { createLogger } from '../../process/log.ts';
import { Clusters, type Lookup } from './clusters.ts';

const lines: string[] = [];
const log = createLogger({
  part: 'test',
  level: 'warn',
  destination: { write: (line) => void lines.push(line) },
});

function registration(version: string, server = 'https://biz.example:6443'): Secret {
  const text = { server, token: 't' };
  const data = Object.entries(text).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ]);
  return {
    metadata: {
      name: 'biz',
      namespace: 'multinic-clusters',
      resourceVersion: version,
      labels: { [labels.providerId]: 'biz-1' },
    },
    data: Object.fromEntries(data) as Record<string, string>,
  };
}

/** Returns Clusters over a Secret store; `closed` records closed connections. */
function registry(listed = true) {
  const secrets = new Store<Secret>();
  const closed: string[] = [];
  const connect = ({ access }: { readonly access: { readonly server: string } }) => {
    const close = async (): Promise<void> => void closed.push(access.server);
    return { [Symbol.asyncDispose]: close } as unknown as KubeClient;
  };
  const clusters = new Clusters({ secrets, listed: () => listed, log, connect });
  return { clusters, secrets, closed };
}

const lookedUp = async (lookup: Lookup) => lookup;
const kindOf = async (lookup: Lookup) => lookup.kind;
const serverOf = async (lookup: Lookup) =>
  lookup.kind === 'found' ? lookup.cluster.server : lookup.kind;

describe('Clusters', () => {
  it('an unregistered cluster is `unknown`, but `unread` until the Secrets were listed', async () => {
    expect(await registry().clusters.use('biz-1', kindOf)).toBe('unknown');
    expect(await registry(false).clusters.use('biz-1', kindOf)).toBe('unread');
  });

  it('calls in flight keep their connection when the Secret changes', async () => {
    const { clusters, secrets, closed } = registry();
    secrets.upsert(registration('1'));
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const call = clusters.use('biz-1', async () => {
      started.resolve();
      await gate.promise;
      return [...closed];
    });
    await started.promise;
    secrets.upsert(registration('2', 'https://new.example:6443'));
    expect(await clusters.use('biz-1', serverOf)).toBe('https://new.example:6443');
    gate.resolve();
    expect(await call).toEqual([]);
    await expect.poll(() => closed).toEqual(['https://biz.example:6443']);
  });

  it('an idle connection is closed when its Secret is removed', async () => {
    const { clusters, secrets, closed } = registry();
    secrets.upsert(registration('1'));
    await clusters.use('biz-1', kindOf);
    secrets.remove(registration('1'));
    await expect.poll(() => closed).toHaveLength(1);
    expect(await clusters.use('biz-1', kindOf)).toBe('unknown');
  });

  it('an unusable Secret is reported and logged until corrected, and does not affect other clusters', async () => {
    const { clusters, secrets, closed } = registry();
    secrets.upsert({ ...registration('1'), data: {} });
    const other = registration('1', 'https://other.example:6443');
    const biz2 = { name: 'other', labels: { [labels.providerId]: 'biz-2' } };
    secrets.upsert({ ...other, metadata: { ...other.metadata, ...biz2 } });
    expect(await clusters.use('biz-1', lookedUp)).toEqual({
      kind: 'broken',
      message:
        'Secret multinic-clusters/biz: has neither kubeconfig nor server and token; add kubeconfig, or both others',
    });
    expect(lines.join()).toContain('"secretName":"multinic-clusters/biz"');
    expect(await clusters.use('biz-2', serverOf)).toBe('https://other.example:6443');
    secrets.upsert(registration('2'));
    expect(await clusters.use('biz-1', serverOf)).toBe('https://biz.example:6443');
    await clusters[Symbol.asyncDispose]();
    expect(closed).toHaveLength(2);
  });

  it('a failing call releases its connection', async () => {
    const { clusters, secrets, closed } = registry();
    secrets.upsert(registration('1'));
    const failed = clusters.use('biz-1', () => Promise.reject(new Error('no')));
    await expect(failed).rejects.toThrow('no');
    secrets.upsert(registration('2'));
    await expect.poll(() => closed).toHaveLength(1);
  });
});
