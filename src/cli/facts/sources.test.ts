import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { writeFakeKubectl } from '../../../test/fixtures/cli/fake-kubectl.ts';
import type { Fact, RequiredSource } from '../../explain/fact.ts';
import { cluster } from '../../explain/testing/healthy.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { Session } from '../access/session.ts';
import { readSystem } from './system-facts.ts';

const namespace = 'multinic-operator-system';
const lease = {
  metadata: { namespace, name: 'multinic-operator' },
  spec: { holderIdentity: 'operator-0_1', renewTime: '2026-01-01T00:00:00.000000Z' },
};

/** Sends a healthy API server's or operator's answer. */
function sendHealthy({ url = '' }: IncomingMessage, answer: ServerResponse): void {
  const list = { kind: 'List', metadata: { resourceVersion: '1' }, items: [] };
  const isOperator = url.startsWith('/v1/');
  const found = isOperator ? { items: url.startsWith('/v1/clusters') ? [cluster] : [] } : list;
  const isAbsent = url.includes('/configmaps/') || /\/multinic-system\/leases/.test(url);
  const absent = { kind: 'Status', code: 404, reason: 'NotFound', message: 'absent' };
  answer.writeHead(isAbsent ? 404 : 200, { 'content-type': 'application/json' });
  answer.end(JSON.stringify(isAbsent ? absent : url.includes('/leases/') ? lease : found));
}

/** A source's failures, with the cause's text. */
const failures = {
  refused: /refused|does not answer|ECONNREFUSED|socket hang up/i,
  hanging: /^did not answer within 10s$/,
  'an endless body': /^did not answer within 10s$/,
  401: /401/,
  403: /403/,
  garbage: /JSON/,
} as const;
type Failure = keyof typeof failures;
const failureNames = ['refused', 'hanging', 'an endless body', 401, 403, 'garbage'] as const;

function sendFailure(failure: Failure, answer: ServerResponse): void {
  if (failure === 'hanging') return;
  if (failure === 'an endless body') return void answer.writeHead(200).write('{"items": [');
  if (failure === 'garbage') return void answer.writeHead(200).end('<html>');
  if (failure === 'refused') {
    answer.writeHead(500).end('dial tcp 10.0.0.1:6443: connect: connection refused');
    return;
  }
  const message = 'User "jane" cannot list resource';
  answer.writeHead(failure, { 'content-type': 'application/json' });
  answer.end(JSON.stringify({ kind: 'Status', code: failure, reason: 'Refused', message }));
}

/** Starts a server with a failure for matching paths. */
async function serve(isFailing: (url: string) => boolean, failure: Failure): Promise<number> {
  const server = createServer((incoming, answer) => {
    if (isFailing(incoming.url ?? '')) sendFailure(failure, answer);
    else sendHealthy(incoming, answer);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

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
  const [, failure, failing, paths, required] = row;
  const serverOf = (name: string) => serve((url) => name === failing && paths.test(url), failure);
  const url = async (name: string) => ({
    url: `http://127.0.0.1:${await serverOf(name)}`,
    token: '',
  });
  const folder = await mkdtemp(join(tmpdir(), 'multinic-cli-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const kubectl = await writeFakeKubectl(folder, {
    servers: { prod: await url('management'), biz: await url('business') },
    operatorPort: await serverOf('operator'),
  });
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
