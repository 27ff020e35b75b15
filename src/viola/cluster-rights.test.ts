import { describe, expect, it } from 'vitest';
import { metricTable } from '../api/metrics.ts';
import { labels } from '../api/names.ts';
import { Store } from '../kube/cache/store.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { Secret } from '../kube/core-resources.ts';
import { KubeError } from '../kube/errors.ts';
import type { Action } from '../kube/rights.ts';
import { createLogger } from '../process/log.ts';
import { createMetrics } from '../process/metrics.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { ClusterRights } from './cluster-rights.ts';
import { Clusters } from './clusters.ts';

const minute = 60_000;
const random = () => 0.5;
const text = (value: string) => Buffer.from(value).toString('base64');

function registration(id: string, version = '1', namespace = 'multinic-system'): Secret {
  return {
    metadata: {
      name: id,
      namespace: 'multinic-clusters',
      resourceVersion: version,
      labels: { [labels.providerId]: id },
    },
    data: {
      server: text(`https://${id}.example:6443`),
      token: text('t'),
      namespace: text(namespace),
    },
  };
}

function error(status: number, reason: string): KubeError {
  return new KubeError({ status, reason, message: reason });
}

/** Viola with these clusters registered; each answers as `answers` says of it. */
function bench(...ids: readonly string[]) {
  const clock = createFakeClock();
  const metrics = createMetrics(metricTable);
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({
    part: 'viola',
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
  });
  const asked: string[] = [];
  const answers = new Map<string, (action: Action) => 'yes' | 'no' | 'nothing' | KubeError>();
  const secrets = new Store<Secret>();
  for (const id of ids) secrets.upsert(registration(id));
  const connect = ({ providerId }: { readonly providerId: string }) => {
    const mayI: KubeClient['mayI'] = async (action, { signal } = {}) => {
      asked.push(`${providerId} ${action.verb} in ${action.namespace}`);
      const answer = answers.get(providerId)?.(action) ?? 'yes';
      if (answer instanceof KubeError) throw answer;
      if (answer !== 'nothing') return answer;
      await clock.sleep(1e9, signal);
      return 'yes';
    };
    return { mayI, [Symbol.asyncDispose]: async () => undefined } as unknown as KubeClient;
  };
  const clusters = new Clusters({ secrets, listed: () => true, log, connect });
  const rights = new ClusterRights({ clusters, context: { clock, random, log, metrics } });
  const stop = new AbortController();
  return {
    clock,
    lines,
    asked,
    answers,
    secrets,
    rights,
    stop,
    done: rights.run(stop.signal),
    figures: async () => {
      const all = (await metrics.registry.metrics()).split('\n');
      return all.filter((line) => line.startsWith('multinic_cluster_rights_missing'));
    },
    said: () => lines.filter(({ level }) => level === 'error').map(({ msg }) => msg),
  };
}

describe('the rights of Viola in its business clusters', () => {
  it('are asked for once in ten minutes, of each cluster, in its namespace', async () => {
    const { clock, asked, rights, figures, stop, done, said } = bench('a', 'b');
    await clock.advance(0);
    expect(asked.filter((line) => line.startsWith('a')).toSorted()).toEqual(
      ['create', 'delete', 'get', 'list', 'patch'].map((verb) => `a ${verb} in multinic-system`),
    );
    expect(asked).toHaveLength(10);
    expect(rights.of('a')).toMatchObject({ missing: [] });
    await clock.advance(9 * minute);
    expect(asked).toHaveLength(10);
    await clock.advance(2 * minute);
    expect(asked).toHaveLength(20);
    expect(await figures()).toEqual([
      'multinic_cluster_rights_missing{provider="a"} 0',
      'multinic_cluster_rights_missing{provider="b"} 0',
    ]);
    expect(said()).toEqual([]);
    stop.abort(new Error('stop'));
    await done;
  });

  it('that are missing in one are told, and noticed within a minute when they are granted', async () => {
    const { clock, answers, rights, figures, lines, said } = bench('a', 'b');
    answers.set('b', ({ verb }) => (verb === 'delete' ? 'no' : 'yes'));
    await clock.advance(0);
    const what = 'delete multinicnodeconfigs.multinic.io in multinic-system';
    expect([rights.of('a')?.missing, rights.of('b')?.missing]).toEqual([[], [what]]);
    expect(said()).toEqual([`may not ${what}`]);
    expect(lines.find(({ level }) => level === 'error')).toMatchObject({
      reason: 'RightsMissing',
      providerId: 'b',
      role: 'Role viola in multinic-system',
      fix: expect.stringMatching(/^kubectl patch role viola -n multinic-system /) as unknown,
    });
    expect(await figures()).toContain('multinic_cluster_rights_missing{provider="b"} 1');
    answers.clear();
    await clock.advance(minute);
    expect(rights.of('b')?.missing).toEqual([]);
    expect(said()).toHaveLength(1);
  });

  it('are not missing because a cluster is away, hangs, or lets nobody ask', async () => {
    const { clock, answers, rights, said } = bench('away', 'hangs', 'refuses', 'well');
    answers.set('away', () => error(0, 'Unreachable'));
    answers.set('hangs', () => 'nothing');
    answers.set('refuses', () => error(403, 'Forbidden'));
    await clock.advance(10_000);
    expect(['away', 'hangs', 'refuses'].map((id) => rights.of(id))).toEqual(
      Array.from({ length: 3 }),
    );
    expect(rights.of('well')?.missing).toEqual([]);
    expect(said()).toEqual([]);
  });

  it('are those of the Secret as it is now: one that changes is asked anew, one that goes has none', async () => {
    const { clock, secrets, asked, rights, figures } = bench('a');
    await clock.advance(0);
    secrets.upsert(registration('a', '2', 'elsewhere'));
    await clock.advance(minute);
    expect(asked.slice(5)).toContain('a list in elsewhere');
    secrets.remove(registration('a', '2', 'elsewhere'));
    await clock.advance(minute);
    expect(rights.of('a')).toBeUndefined();
    expect(await figures()).toEqual([]);
  });
});
