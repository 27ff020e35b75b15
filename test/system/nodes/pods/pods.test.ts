import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import {
  type ControlPlane,
  startControlPlane,
} from '../../../../rig/control-plane/control-plane.ts';
import { type Node, startNode } from '../../../../rig/control-plane/node.ts';
import { startFaultProxy } from '../../../../rig/fault-proxy/fault-proxy.ts';
import { scaled } from '../../../speed.ts';
import { leftoversOf } from '../leftovers.ts';
import { packProgram } from '../packed-image.ts';
import { linksTo, networkOfMachine } from './machine.ts';
import { openProbe, type Probe, program, self } from './probe.ts';
import { namespace, startWorkload } from './workload.ts';

const pods = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({ nodeName: z.string() }),
    }),
  ),
});

const stack = new AsyncDisposableStack();
let before: Awaited<ReturnType<typeof networkOfMachine>>;
let ours: ControlPlane;
let theirs: ControlPlane;
let box: Node;

beforeAll(async () => {
  before = await networkOfMachine();
  const image = stack.use(await packProgram(program));
  [ours, theirs] = await Promise.all([
    startControlPlane('itpods', { pods: true }),
    startControlPlane('itlinked'),
  ]);
  stack.use(ours);
  stack.use(theirs);
  await ours.link(theirs);
  const [namespaced, machine] = await Promise.all([
    startNode(ours, 'namespace', { kind: 'namespace' }),
    startNode(ours, 'box', { kind: 'box' }),
  ]);
  box = machine;
  await Promise.all([
    namespaced.importImage(image.archive),
    box.importImageWithDigest(image.archive),
  ]);
  await box.makeVolume('kept');
  await startWorkload(ours);
});

afterAll(async () => stack.disposeAsync());

/** Names of the Deployment's Pods, by node. */
async function podsByNode(): Promise<ReadonlyMap<string, string>> {
  const selected = ['get', 'pods', '-n', namespace, '-l', 'app=probe', '-o', 'json'];
  const { items } = pods.parse(JSON.parse(await ours.kubectl(selected)));
  return new Map(items.map(({ spec, metadata }) => [spec.nodeName, metadata.name]));
}

/** Names of Pods that answer for the Service, over enough requests to reach every Pod. */
async function answersOfService(probe: Probe): Promise<ReadonlySet<string>> {
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => probe.fetch(`http://probe.${namespace}/`)),
  );
  const names = answers.map((answer) =>
    'body' in answer ? self.parse(JSON.parse(answer.body)).pod : answer.error,
  );
  return new Set(names);
}

describe.each(['namespace', 'box'])('a Pod on a node of kind %s', (kind) => {
  let probe: Probe;

  beforeAll(async () => {
    const name = (await podsByNode()).get(kind);
    probe = stack.use(await openProbe(ours, namespace, `pod/${name}`));
  });

  test('kubectl reaches a Pod by port-forward, logs and exec', async () => {
    const { pod } = await probe.whoami();
    expect((await podsByNode()).get(kind)).toBe(pod);
    expect(await ours.kubectl(['logs', '-n', namespace, pod])).toContain('looking around');
    const command = ['/usr/local/bin/node', '-p', 'process.getuid()'];
    expect(await ours.kubectl(['exec', '-n', namespace, pod, '--', ...command])).toBe('65532\n');
  });

  test('a Pod resolves cluster names, and no other names', async () => {
    const ip = ['get', 'service', 'probe', '-n', namespace, '-o', 'jsonpath={.spec.clusterIP}'];
    expect(await probe.lookup('probe')).toEqual({ address: await ours.kubectl(ip) });
    expect(await probe.lookup('kubernetes.default.svc')).toEqual({ address: '10.96.0.1' });
    expect(await probe.lookup('example.com')).toEqual({ error: 'ENOTFOUND' });
  });

  test('a Pod reaches the API server as the ServiceAccount', async () => {
    const api = 'https://kubernetes.default.svc/api/v1';
    expect(await probe.fetch(`${api}/namespaces/${namespace}/pods`)).toMatchObject({ status: 200 });
    expect(await probe.fetch(`${api}/nodes`)).toMatchObject({
      status: 403,
      body: expect.stringContaining(`system:serviceaccount:${namespace}:probe`) as string,
    });
  });

  test('a Pod reaches Pods on both nodes through a Service', async () => {
    expect(await answersOfService(probe)).toEqual(new Set((await podsByNode()).values()));
  });

  test('a Pod reaches the API server of a linked control plane', async () => {
    const file = await readFile(theirs.kubeconfig, 'utf8');
    const ca = /certificate-authority-data: (\S+)/.exec(file)?.[1];
    expect(await probe.fetch(`${theirs.server}/version`, ca)).toMatchObject({ status: 200 });
  });

  test("a Pod reaches a server on this machine's loopback through a fault proxy", async () => {
    await using server = createServer((_, response) => response.end('here'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const target = `tcp://127.0.0.1:${port}`;
    await using proxy = await startFaultProxy({ target, host: ours.machine });
    expect(await probe.fetch(`http://${ours.machine}:${proxy.port}/`)).toEqual({
      status: 200,
      body: 'here',
    });
  });
});

test('a Pod writes to a volume as an unprivileged user', async () => {
  expect(await box.sh(['cat', '/var/lib/volumes/kept/word'])).toBe('kept');
});

test('a Pod starts from an image with a digest', async () => {
  const imageID = 'jsonpath={.status.containerStatuses[0].imageID}';
  const known = await ours.kubectl(['get', 'pod', 'keeper', '-n', namespace, '-o', imageID]);
  expect(known).toMatch(/^localhost\/multinic-agent@sha256:/);
  const onBox = ['--overrides', JSON.stringify({ spec: { nodeName: 'box' } })];
  await ours.kubectl(['run', 'by-digest', '--image', known, '--image-pull-policy=Never', ...onBox]);
  await ours.kubectl(['wait', '--for=condition=Ready', '--timeout=30s', 'pod/by-digest']);
});

test('a Pod with more rights than its namespace allows is refused', async () => {
  const greedy = ['run', 'greedy', '-n', namespace, '--image', 'localhost/multinic-agent:dev'];
  await expect(ours.kubectl(greedy)).rejects.toThrow(/violates PodSecurity "restricted/);
});

test('Services work again after a box reboots', async () => {
  const name = (await podsByNode()).get('box');
  await box.reboot();
  await vi.waitFor(
    async () => {
      await using probe = await openProbe(ours, namespace, `pod/${name}`);
      expect(await answersOfService(probe)).toEqual(new Set((await podsByNode()).values()));
    },
    { timeout: scaled(60_000), interval: 500 },
  );
});

test('Pods leave no state on this machine', async () => {
  const places = [ours.machine, theirs.machine];
  expect(places.map((place) => linksTo(place).length)).toEqual([2, 2]);
  expect(await networkOfMachine()).toEqual(before);
  await Promise.all([ours.down(), theirs.down()]);
  expect(places.flatMap(linksTo)).toEqual([]);
  expect([ours, theirs].flatMap(({ name }) => leftoversOf(name))).toEqual([]);
  expect(await networkOfMachine()).toEqual(before);
});
