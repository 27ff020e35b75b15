import { describe, expect, it } from 'vitest';
import { metricTable } from '../../api/metrics.ts';
import { labels } from '../../api/names.ts';
import { Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Secret } from '../../kube/core-resources.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Action } from '../../kube/rights.ts';
import { createLogger } from '../../process/log.ts';
import { createMetrics } from '../../process/metrics.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { Clusters } from './clusters.ts';
import { ClusterRights } from './rights-in-cluster.ts';

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

/** Starts ClusterRights for these clusters; `answers` sets each cluster's replies. */
function bench(...ids: readonly string[]) {
  const clock = createFakeClock();
  const metrics = createMetrics(metricTable);
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({
    part: 'viola',
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
  });
  const reviews: string[] = [];
  const answers = new Map<string, (action: Action) => 'yes' | 'no' | 'nothing' | KubeError>();
  const secrets = new Store<Secret>();
  for (const id of ids) secrets.upsert(registration(id));
  const connect = ({ providerId }: { readonly providerId: string }) => {
    const mayI: KubeClient['mayI'] = async (action, { signal } = {}) => {
      reviews.push(`${providerId} ${action.verb} in ${action.namespace}`);
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
    reviews,
    answers,
    secrets,
    rights,
    stop,
    done: rights.run(stop.signal),
    figures: async () => {
      const all = (await metrics.registry.metrics()).split('\n');
      return all.filter((line) => line.startsWith('multinic_cluster_rights_missing'));
    },
    errorMessages: () => lines.filter(({ level }) => level === 'error').map(({ msg }) => msg),
  };
}

describe('ClusterRights', () => {
  it("rights are checked every ten minutes in each cluster's namespace", async () => {
    const { clock, reviews, rights, figures, stop, done, errorMessages } = bench('a', 'b');
    await clock.advance(0);
    expect(reviews.filter((line) => line.startsWith('a')).toSorted()).toEqual(
      ['create', 'delete', 'get', 'list', 'patch'].map((verb) => `a ${verb} in multinic-system`),
    );
    expect(reviews).toHaveLength(10);
    expect(rights.of('a')).toMatchObject({ missing: [] });
    await clock.advance(9 * minute);
    expect(reviews).toHaveLength(10);
    await clock.advance(2 * minute);
    expect(reviews).toHaveLength(20);
    expect(await figures()).toEqual([
      'multinic_cluster_rights_missing{provider="a"} 0',
      'multinic_cluster_rights_missing{provider="b"} 0',
    ]);
    expect(errorMessages()).toEqual([]);
    stop.abort(new Error('stop'));
    await done;
  });

  it('a missing right is logged and counted, and its grant is noticed within a minute', async () => {
    const { clock, answers, rights, figures, lines, errorMessages } = bench('a', 'b');
    answers.set('b', ({ verb }) => (verb === 'delete' ? 'no' : 'yes'));
    await clock.advance(0);
    const what = 'delete multinicnodeconfigs.multinic.io in multinic-system';
    expect([rights.of('a')?.missing, rights.of('b')?.missing]).toEqual([[], [what]]);
    expect(errorMessages()).toEqual([`may not ${what}`]);
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
    expect(errorMessages()).toHaveLength(1);
  });

  it('rights are unknown, not missing, when a cluster is unreachable, hangs or refuses the review', async () => {
    const { clock, answers, rights, errorMessages } = bench('away', 'hangs', 'refuses', 'well');
    answers.set('away', () => error(0, 'Unreachable'));
    answers.set('hangs', () => 'nothing');
    answers.set('refuses', () => error(403, 'Forbidden'));
    await clock.advance(10_000);
    expect(['away', 'hangs', 'refuses'].map((id) => rights.of(id))).toEqual(
      Array.from({ length: 3 }),
    );
    expect(rights.of('well')?.missing).toEqual([]);
    expect(errorMessages()).toEqual([]);
  });

  it('rights follow the Secret: a changed Secret is checked again, a removed Secret has no metric', async () => {
    const { clock, secrets, reviews, rights, figures } = bench('a');
    await clock.advance(0);
    secrets.upsert(registration('a', '2', 'elsewhere'));
    await clock.advance(minute);
    expect(reviews.slice(5)).toContain('a list in elsewhere');
    secrets.remove(registration('a', '2', 'elsewhere'));
    await clock.advance(minute);
    expect(rights.of('a')).toBeUndefined();
    expect(await figures()).toEqual([]);
  });
});
