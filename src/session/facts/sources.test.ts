import { afterEach, expect, it, vi } from 'vitest';
import {
  failureNames,
  failures,
  namespace,
  startSources,
} from '../../../test/fixtures/cli/sources.ts';
import type { Fact, RequiredSource } from '../../explain/fact.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { Session } from '../access/session.ts';
import { readSystem } from './system-facts.ts';

afterEach(() => void vi.unstubAllEnvs());

const management: RequiredSource = { source: 'management cluster', place: 'context prod' };
const operator: RequiredSource = {
  source: 'operator',
  place: `port-forward ${namespace}/operator-0`,
};
const business: RequiredSource = { source: 'business cluster', place: 'context biz' };

/** Sources: paths, and the source named in facts. */
const sources = [
  ['management API', 'management', /./, management],
  ['Deployments', 'management', /deployments/, management],
  ['Lease', 'management', /leases/, management],
  ['operator API', 'operator', /./, operator],
  ['business API', 'business', /./, business],
] as const;

const rows = sources.flatMap(([title, server, paths, required]) =>
  failureNames.map((failure) => [title, failure, server, paths, required] as const),
);

it.each(rows)('%s with %s is named, and no read outlives 10 s', async (...row) => {
  const [, failure, server, paths, required] = row;
  const kubectl = await startSources({ server, paths, failure });
  vi.stubEnv('MULTINIC_KUBECTL', kubectl);
  const clock = createFakeClock();
  const options = { context: 'prod', businessContext: new Map([['biz-1', 'biz']]) };
  await using session = new Session(options, new AbortController().signal, clock);

  const facts = await passingTime(clock, readSystem(session));
  const unread = factsIn(facts).flatMap((fact) => (fact.state === 'unread' ? [fact] : []));
  expect(unread.map((fact) => fact.required)).toEqual(unread.map(() => required));
  for (const { why } of unread) expect(why.en).toMatch(failures[failure]);
  expect(unread.length).toBeGreaterThan(0);
  expect(clock.monotonicMs()).toBeLessThanOrEqual(10_000);
});

function factsIn(facts: Awaited<ReturnType<typeof readSystem>>): Fact<unknown>[] {
  const { parts, configs, clusters, nodes, kubernetesNodes, nodeConfigs } = facts;
  return [
    parts,
    configs,
    clusters,
    nodes,
    ...kubernetesNodes.values(),
    ...nodeConfigs.values(),
    ...facts.clusterNetworks.values(),
  ];
}

/** Advances the clock at rest: children and answers need real time. */
async function passingTime<T>(
  clock: ReturnType<typeof createFakeClock>,
  work: Promise<T>,
): Promise<T> {
  const done = work.then(() => true);
  let waits = '';
  let since = performance.now();
  while (!(await Promise.race([done, pause()]))) {
    const current = clock.waits.join();
    if (current !== waits) since = performance.now();
    waits = current;
    if (performance.now() - since > 1_000) await clock.advance(10_000);
  }
  return work;
}

async function pause(): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return false;
}
