import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type CliFixture, home, startScene } from '../../../test/fixtures/cli/scene.ts';
import { operatorLease } from '../../api/names.ts';
import { leases } from '../../kube/core-resources.ts';
import { readConfigs } from '../facts/management-facts.ts';
import { readNodes } from '../facts/operator-facts.ts';
import type { ConnectionReport } from './connection-report.ts';
import { LiveSession } from './live-session.ts';

interface Started {
  readonly pid: number;
  /** Pod of a port-forward; undefined: a proxy. */
  readonly pod: string | undefined;
}

/** Starts a scene with a kubectl wrapper (writes each start to a file), and a live session. */
async function startLive() {
  const scene = await startScene({ leader: 'operator-0_1' });
  const [starts, blocker, wrapper] = ['starts', 'blocker', 'wrapper'].map((name) =>
    join(scene.folder, name),
  ) as [string, string, string];
  await writeFile(starts, '');
  const script = [
    '#!/bin/sh',
    `echo "$$ $*" >> ${starts}`,
    `test -e ${blocker} && . ${blocker}`,
    `exec ${process.env['MULTINIC_KUBECTL']} "$@"`,
  ];
  await writeFile(wrapper, script.join('\n'), { mode: 0o700 });
  vi.stubEnv('MULTINIC_KUBECTL', wrapper);
  const live = new LiveSession({ businessContext: new Map([['biz-1', 'biz-context']]) });
  onTestFinished(() => live[Symbol.asyncDispose]());
  const startsSoFar = async (): Promise<Started[]> =>
    (await readFile(starts, 'utf8'))
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ pid: Number.parseInt(line), pod: / pod\/(\S+)/.exec(line)?.[1] }));
  return { scene, live, blocker, starts: startsSoFar };
}

type Live = Awaited<ReturnType<typeof startLive>>;

const { signal } = new AbortController();

function reportOn(live: LiveSession, source: ConnectionReport['source']): ConnectionReport {
  const report = live.reports().find((each) => each.source === source);
  if (!report) throw new Error(`no report of ${source}`);
  return report;
}

/** Resolves when a connection has a phase. */
async function reached(
  live: LiveSession,
  source: ConnectionReport['source'],
  phase: ConnectionReport['phase'],
): Promise<ConnectionReport> {
  const { promise, resolve } = Promise.withResolvers<ConnectionReport>();
  const look = () => {
    const report = reportOn(live, source);
    if (report.phase === phase) resolve(report);
  };
  const stop = live.onChange(look);
  look();
  const report = await promise;
  stop();
  return report;
}

const podsOf = async ({ starts }: Live) => (await starts()).flatMap(({ pod }) => pod ?? []);

async function end({ starts }: Live, isEnded: (started: Started) => boolean): Promise<void> {
  const [started] = (await starts()).filter(isEnded);
  if (started) process.kill(started.pid, 'SIGKILL');
}

async function moveLease({ scene }: Live): Promise<void> {
  const spec = { holderIdentity: 'operator-1_1' };
  await scene.client.patch(leases, { namespace: home, name: operatorLease }, { spec });
}

const notLeading = { status: 503, code: 'NotLeading', detail: 'operator-1 leads' };

/** Refuses requests like a replica without the Lease. */
function refuse({ scene }: Live, path: string): () => void {
  const before = scene.answers.get(path);
  scene.answers.set(path, notLeading);
  return () => void scene.answers.set(path, before ?? {});
}

it.each<[string, (live: Live) => Promise<void>, string[]]>([
  [
    'SIGKILL to the port-forward',
    (live) => end(live, ({ pod }) => pod !== undefined),
    ['operator-0', 'operator-0'],
  ],
  [
    'the port-forward ends and a new replica leads',
    async (live) => {
      await moveLease(live);
      await end(live, ({ pod }) => pod !== undefined);
    },
    ['operator-0', 'operator-1'],
  ],
  [
    'the replica behind the port-forward loses the Lease',
    async (live) => {
      const restore = ['GET /v1/nodes', 'GET /v1/clusters'].map((path) => refuse(live, path));
      await moveLease(live);
      expect(await readNodes(live.live.read({ signal }))).toMatchObject({ state: 'unread' });
      await reached(live.live, 'operator', 'lost');
      for (const each of restore) each();
    },
    ['operator-0', 'operator-1'],
  ],
])('the operator is read again after %s', async (_, lose, pods) => {
  const started = await startLive();
  const { live } = started;
  expect(await readNodes(live.read({ signal }))).toMatchObject({ state: 'read' });
  const lost = reached(live, 'operator', 'lost');
  await lose(started);
  expect((await lost).why?.en).toMatch(/\S/);
  await reached(live, 'operator', 'open');
  expect(await readNodes(live.read({ signal }))).toMatchObject({ state: 'read' });
  expect(await podsOf(started)).toEqual(pods);
  expect(reportOn(live, 'operator').place).toBe(`port-forward ${home}/${pods.at(-1)}`);
});

it('the management cluster is read again after SIGKILL to the proxy', async () => {
  const started = await startLive();
  const { live } = started;
  expect(await readConfigs(live.read({ signal }), undefined)).toMatchObject({ state: 'read' });
  const lost = reached(live, 'management cluster', 'lost');
  await end(started, ({ pod }) => pod === undefined);
  await lost;
  expect(await readConfigs(live.read({ signal }), undefined)).toMatchObject({ state: 'read' });
  expect(await started.starts()).toHaveLength(2);
});

it('a failed first connect is a reason for people, and a retry opens the connection', async () => {
  const { live, blocker } = await startLive();
  await writeFile(blocker, 'echo "error: no such context" >&2; exit 1');
  const why = { en: 'kubectl cannot use the cluster: no such context' };
  expect(await readConfigs(live.read({ signal }), undefined)).toMatchObject({
    state: 'unread',
    why,
  });
  expect(reportOn(live, 'management cluster')).toMatchObject({ phase: 'lost', why });
  await rm(blocker);
  await reached(live, 'management cluster', 'open');
  expect(await readConfigs(live.read({ signal }), undefined)).toMatchObject({ state: 'read' });
});

it('deadline and cancellation end only their read', async () => {
  const { live, scene } = await startLive();
  await readConfigs(live.read({ signal }), undefined);
  await (await live.read({ signal }).operator()).text('/version');
  hang(scene, 'GET /v1/nodes');
  const cancel = new AbortController();
  const [late, cancelled] = [
    readNodes(live.read({ signal, ms: 50 })),
    live
      .read({ signal: cancel.signal })
      .operator()
      .then((api) => api.text('/v1/nodes')),
  ];
  expect(await late).toMatchObject({ why: { en: 'did not answer within 50ms' } });
  cancel.abort(new Error('the tab is gone'));
  await expect(cancelled).rejects.toThrow('the tab is gone');
  expect(await (await live.read({ signal }).operator()).text('/version')).toContain('0.2.0');
  expect(reportOn(live, 'operator').phase).toBe('open');
});

function hang({ answers }: CliFixture, path: string): void {
  answers.set(path, () => new Promise<never>(() => undefined));
}

it.each([
  ['during a connect', 'exec sleep 600'],
  ['with open connections', ''],
] as const)("close %s ends kubectl's processes", async (_, block) => {
  const started = await startLive();
  const { live, blocker } = started;
  await writeFile(blocker, block);
  const reading = readNodes(live.read({ signal, ms: 60_000 })).catch((error: unknown) => error);
  if (block === '') await reading;
  await expect.poll(async () => (await started.starts()).length).toBe(block === '' ? 2 : 1);
  await live[Symbol.asyncDispose]();
  await reading;
  const pids = (await started.starts()).map(({ pid }) => pid);
  expect(pids.filter(isRunning)).toEqual([]);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
