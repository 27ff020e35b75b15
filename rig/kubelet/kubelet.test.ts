import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import {
  configMaps,
  type Job,
  jobs,
  nodes,
  type Pod,
  pods,
} from '../../src/kube/core-resources.ts';
import { systemClock } from '../../src/time/clock.ts';
import { scaled } from '../../test/speed.ts';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import { type Kubelet, startKubelet } from './kubelet.ts';

/** Stands for the agent: does what the request, a piece of shell, says. */
const agent = `
while [ $# -gt 0 ]; do
  case $1 in --request) request=$2 ;; --result) result=$2 ;; --host-root) root=$2 ;; esac
  shift 2
done
. "$request"
`;

const namespace = 'default';
const patience = { timeout: scaled(30_000), interval: 10 };

let folder = '';
let root = '';
let server: ApiServer;
let client: KubeClient;
let kubelet: Kubelet;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubelet-'));
  root = join(folder, 'host');
  mkdirSync(join(root, 'etc/netplan'), { recursive: true });
  writeFileSync(join(folder, 'agent.sh'), agent);
  server = await startApiServer();
  client = createKubeClient(server.access, { clock: systemClock });
  kubelet = await start();
});
afterEach(async () => {
  await kubelet.close();
  await client[Symbol.asyncDispose]();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(): Promise<Kubelet> {
  return startKubelet({
    access: server.access,
    node: { name: 'node-a', systemUUID: 'uuid-a', host: { root }, internalIp: '10.0.0.7' },
    agentCommand: ['sh', join(folder, 'agent.sh')],
    directory: join(folder, 'kubelet'),
  });
}

type PodSpec = NonNullable<Pod['spec']>;

/** A Job whose agent does this, with its request in a ConfigMap. */
async function run(request: string, spec: Partial<PodSpec> = {}, configMap = 'job'): Promise<void> {
  const metadata = { namespace, name: 'job' };
  await client.create(configMaps, { metadata, data: { 'request.json': request } });
  await client.create(jobs, {
    metadata,
    spec: { backoffLimit: 0, template: { spec: podSpec(spec, configMap) } },
  });
}

function podSpec(more: Partial<PodSpec>, configMap: string): PodSpec {
  const mounts = ['/etc/netplan', '/var/lib/multinic'];
  return {
    nodeName: 'node-a',
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'agent',
        image: 'agent',
        args: [
          '--request',
          '/req/request.json',
          '--result',
          '/dev/termination-log',
          '--host-root',
          '/host',
        ],
        env: [{ name: 'COLOUR', value: 'red' }],
        volumeMounts: [
          { name: 'req', mountPath: '/req' },
          ...mounts.map((path, i) => ({ name: `host-${i}`, mountPath: `/host${path}` })),
        ],
      },
    ],
    volumes: [
      { name: 'req', configMap: { name: configMap } },
      { name: 'host-0', hostPath: { path: '/etc/netplan', type: 'Directory' } },
      { name: 'host-1', hostPath: { path: '/var/lib/multinic', type: 'DirectoryOrCreate' } },
    ],
    ...more,
  };
}

async function pod(): Promise<Pod | undefined> {
  return (await client.list(pods, { namespace })).items[0];
}

async function state() {
  return (await pod())?.status?.containerStatuses?.[0]?.state;
}

async function until(check: () => Promise<void>): Promise<void> {
  await vi.waitFor(check, patience);
}

function untilTerminated(expected: object): Promise<void> {
  return until(async () => expect((await state())?.terminated).toMatchObject(expected));
}

async function untilRunning(): Promise<void> {
  await until(async () => expect((await pod())?.status?.phase).toBe('Running'));
}

async function untilJobIs(type: 'Complete' | 'Failed'): Promise<Job> {
  return vi.waitFor(async () => {
    const job = await client.get(jobs, { namespace, name: 'job' });
    expect(job.status?.conditions?.some((one) => one.type === type && one.status === 'True')).toBe(
      true,
    );
    return job;
  }, patience);
}

describe('the stand-in kubelet', () => {
  it('registers its Node with identity, address and readiness', async () => {
    const node = await client.get(nodes, { name: 'node-a' });
    expect(node.metadata.labels).toMatchObject({ 'kubernetes.io/hostname': 'node-a' });
    expect(node.status?.nodeInfo).toMatchObject({ systemUUID: 'uuid-a', machineID: '' });
    expect(node.status?.addresses).toContainEqual({ type: 'InternalIP', address: '10.0.0.7' });
    expect(node.status?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }]);
    await kubelet.setReady(false);
    const notReady = await client.get(nodes, { name: 'node-a' });
    expect(notReady.status?.conditions).toMatchObject([{ type: 'Ready', status: 'False' }]);
  });

  it('gives the agent request, host folders and environment, and reports its message', async () => {
    await run(
      'echo "$COLOUR" >"$root/etc/netplan/90.yaml"; echo x >"$root/var/lib/multinic/state"; printf said >"$result"',
    );
    await untilJobIs('Complete');
    expect((await state())?.terminated).toMatchObject({
      exitCode: 0,
      reason: 'Completed',
      message: 'said',
    });
    expect((await pod())?.status).toMatchObject({ phase: 'Succeeded', hostIP: '10.0.0.7' });
    expect(readFileSync(join(root, 'etc/netplan/90.yaml'), 'utf8')).toBe('red\n');
    expect(existsSync(join(root, 'var/lib/multinic/state'))).toBe(true);
    await vi.waitFor(
      () =>
        expect(readdirSync(join(folder, 'kubelet'))).toEqual([
          expect.stringMatching(/^job-.*\.log$/),
        ]),
      patience,
    );
  });

  it('reports an exit code, and cuts a message that is too long', async () => {
    await run('head -c 5000 /dev/zero | tr "\\0" x >"$result"; exit 3');
    await untilJobIs('Failed');
    const terminated = (await state())?.terminated;
    expect(terminated).toMatchObject({ exitCode: 3, reason: 'Error' });
    expect(terminated?.message).toHaveLength(4096);
  });

  it.each([
    ['lost', { exitCode: 0, reason: 'Completed' }, 'Succeeded'],
    ['oom', { exitCode: 137, reason: 'OOMKilled' }, 'Failed'],
  ] as const)('lets a Pod end as %s, without a message', async (failure, expected, phase) => {
    kubelet.fail(failure, 'job');
    await run(failure === 'oom' ? 'exec sleep 60' : 'printf said >"$result"');
    await untilTerminated(expected);
    expect((await state())?.terminated?.message).toBeUndefined();
    expect((await pod())?.status?.phase).toBe(phase);
  });

  it('evicts a Pod before it runs', async () => {
    kubelet.fail('evicted');
    await run('echo x >"$root/etc/netplan/90.yaml"');
    await untilJobIs('Failed');
    expect((await pod())?.status).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
    expect(readdirSync(join(root, 'etc/netplan'))).toEqual([]);
  });

  it('leaves a Pod waiting for its image until it is deleted', async () => {
    kubelet.fail('imagePull');
    await run('exit 0');
    await until(async () => expect((await state())?.waiting?.reason).toBe('ImagePullBackOff'));
    await client.delete(jobs, { namespace, name: 'job' }, { propagationPolicy: 'Background' });
    await until(async () => expect(await pod()).toBeUndefined());
  });

  it('ends a Pod that never starts at its deadline', async () => {
    kubelet.fail('neverStarts');
    await run('exit 0', { activeDeadlineSeconds: 1 });
    await until(async () => expect((await state())?.waiting?.reason).toBe('ContainerCreating'));
    await untilJobIs('Failed');
    expect((await pod())?.status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
  });

  it('waits for a ConfigMap that is not there yet', async () => {
    await run('exit 0', {}, 'late');
    await until(async () => expect((await state())?.waiting?.reason).toBe('ContainerCreating'));
    const metadata = { namespace, name: 'late' };
    await client.create(configMaps, {
      metadata,
      data: { 'request.json': 'printf late >"$result"' },
    });
    await untilTerminated({ message: 'late' });
  });

  it('lets the agent end when its Pod is deleted, and only then takes the Pod away', async () => {
    await run(
      `trap 'echo ended >"$root/etc/netplan/ended"; exit 0' TERM; echo up >"$root/etc/netplan/up"; while :; do sleep 0.01; done`,
    );
    // Running is said when the process is there; the shell sets its trap a moment later.
    await until(async () => expect(existsSync(join(root, 'etc/netplan/up'))).toBe(true));
    await untilRunning();
    await client.delete(jobs, { namespace, name: 'job' }, { propagationPolicy: 'Foreground' });
    await until(async () => expect(await pod()).toBeUndefined());
    expect(existsSync(join(root, 'etc/netplan/ended'))).toBe(true);
    await until(async () => expect((await client.list(jobs, { namespace })).items).toEqual([]));
  });

  it('kills an agent that does not end within its grace period, with all it started', async () => {
    await run(`trap '' TERM; sleep 60 & echo $! >"$root/etc/netplan/pid"; wait; wait`);
    await until(async () => expect(existsSync(join(root, 'etc/netplan/pid'))).toBe(true));
    await untilRunning();
    const child = Number(readFileSync(join(root, 'etc/netplan/pid'), 'utf8'));
    await client.delete(jobs, { namespace, name: 'job' }, { propagationPolicy: 'Background' });
    await until(async () => expect(await pod()).toBeUndefined());
    await vi.waitFor(() => expect(() => process.kill(child, 0)).toThrow('ESRCH'), patience);
  });

  it('reports the machine id that its host has then, another one after it was rebuilt', async () => {
    mkdirSync(join(root, 'etc'), { recursive: true });
    for (const id of ['machine-1', 'machine-2']) {
      writeFileSync(join(root, 'etc/machine-id'), `${id}\n`);
      await kubelet.setReady(true);
      const { status } = await client.get(nodes, { name: 'node-a' });
      expect(status?.nodeInfo?.machineID).toBe(id);
    }
  });

  it.each([
    ['kubeletDies', 'running'],
    ['kubeletDiesUnheard', 'waiting'],
  ] as const)(
    'tells nothing while it is dead, and how the agent ended when it is back (%s)',
    async (failure, shown) => {
      kubelet.fail(failure);
      await run('echo x >"$root/etc/netplan/90.yaml"; printf said >"$result"');
      await until(async () => expect(existsSync(join(root, 'etc/netplan/90.yaml'))).toBe(true));
      await until(async () => expect(kubelet.alive).toBe(false));
      // Whatever it had to tell, it would have told by now.
      await client.create(configMaps, { metadata: { namespace, name: 'later' } });
      expect(await state()).toHaveProperty(shown);
      kubelet.startAgain();
      await untilTerminated({ exitCode: 0, message: 'said' });
      await untilJobIs('Complete');
    },
  );

  it('ends a Pod that was deleted while it was dead', async () => {
    await run('exec sleep 60');
    await untilRunning();
    kubelet.die();
    await client.delete(jobs, { namespace, name: 'job' }, { propagationPolicy: 'Background' });
    await until(async () => expect((await pod())?.metadata.deletionTimestamp).toBeDefined());
    expect(await state()).toHaveProperty('running');
    kubelet.startAgain();
    await until(async () => expect(await pod()).toBeUndefined());
  });

  it('ends containers at a reboot without a word, and has another bootID afterwards', async () => {
    const before = (await client.get(nodes, { name: 'node-a' })).status?.nodeInfo?.bootID;
    await run('exec sleep 60');
    await untilRunning();
    await kubelet.reboot();
    await untilTerminated({ exitCode: 255, reason: 'Unknown' });
    const after = (await client.get(nodes, { name: 'node-a' })).status?.nodeInfo?.bootID;
    expect(after).not.toBe(before);
    expect((await client.list(pods, { namespace })).items).toHaveLength(1);
  });

  it('reports the Pods of its predecessor as lost', async () => {
    await run('exec sleep 60');
    await untilRunning();
    await kubelet.close();
    kubelet = await start();
    await untilTerminated({ exitCode: 137, reason: 'ContainerStatusUnknown' });
    await untilJobIs('Failed');
  });
});
