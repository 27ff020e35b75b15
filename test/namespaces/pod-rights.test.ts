import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { type Family, family as families, type JobRequest, jobFiles } from '../../src/api/job.ts';
import { configMapOf, jobOf } from '../../src/controller/job.ts';
import { rightsOf } from '../../src/controller/pod-rights.ts';
import { request } from '../beds/agent-samples.ts';
import { order, template } from '../beds/controller-samples.ts';
import { nic } from './agent-process.ts';
import { createFamilyHost } from './family-host.ts';
import { stateOf } from './host-state.ts';
import { runPod } from './pod.ts';
import { podsLess } from './pod-less.ts';

const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/16', { gateway: '10.0.0.254' });
/** A system that has profiles of both kinds of NetworkManager: its agents see most of all. */
const osImages: Partial<Record<Family, string>> = { keyfile: 'Rocky Linux 9.4' };

interface Task {
  readonly family: Family;
  readonly action: 'apply' | 'cleanup';
  readonly machineId: string;
}

/** The Pod that the controller makes for a task, with all rights that an installation can give, and its request. */
function podOf({ family, action, machineId }: Task) {
  const machine = { ...order().machine, machineId, osImage: osImages[family] };
  const job = jobOf(order({ family, action, machine }), { ...template, systemBus: true });
  const spec = job.spec?.template.spec;
  if (!spec) throw new Error('the Job has no Pod');
  const rights = rightsOf(job);
  const asked: Partial<JobRequest> = { protocol: 2, family, machineId, rights };
  const one = action === 'apply' ? [wanted] : [];
  const generation = action === 'apply' ? 1 : 2;
  return { spec, map: configMapOf(job, request(one, { ...asked, action, generation })) };
}

/** What is in the kernel and in every file of the host, but for the agent's own lock. */
async function wholeOf(host: NamespaceHost) {
  const names = await readdir(host.root, { recursive: true, withFileTypes: true });
  const files = names.filter((name) => name.isFile() && name.name !== 'lock');
  const texts = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      return `${path}: ${await readFile(path, 'utf8')}`;
    }),
  );
  return { kernel: await stateOf(host), files: texts.toSorted() };
}

type Whole = Awaited<ReturnType<typeof wholeOf>>;

/** A Pod without any one right refuses, names it and changes nothing; one with all of them does its task. */
function refusesLess(task: Omit<Task, 'machineId'>, hostNow: () => NamespaceHost): void {
  let machineId = '';
  let before: Whole;
  beforeAll(async () => {
    const { root } = hostNow();
    machineId = (await readFile(join(root, 'etc/machine-id'), 'utf8')).trim();
    before = await wholeOf(hostNow());
  });

  const names = [...podsLess(podOf({ ...task, machineId: 'any' }).spec).keys()];
  test.concurrent.each(names)('%s: is refused by name, and nothing is touched', async (name) => {
    const { spec, map } = podOf({ ...task, machineId });
    const less = podsLess(spec).get(name);
    const { result, code, stderr } = await runPod(hostNow(), less?.spec ?? spec, map);
    expect(code, stderr).toBe(1);
    const reason = less?.named === jobFiles.requestDirectory ? 'InvalidRequest' : 'RightMissing';
    expect(result, stderr).toMatchObject({ outcome: 'refused', refusal: { reason } });
    expect(result?.refusal?.message).toContain(less?.named);
    expect(await wholeOf(hostNow())).toEqual(before);
  });

  test('a termination message that cannot be written: ends with its path, and nothing is touched', async () => {
    const { spec, map } = podOf({ ...task, machineId });
    const lock = 'mount -o remount,bind,ro "$root$message"';
    const { code, result, stderr } = await runPod(hostNow(), spec, map, lock);
    expect({ code, result }).toEqual({ code: 1 });
    const last = stderr.trim().split('\n').at(-1);
    expect(last).toContain(`${jobFiles.result} cannot be written (EROFS); nothing was touched`);
    expect(await wholeOf(hostNow())).toEqual(before);
  });

  test('all rights: does it', async () => {
    const { spec, map } = podOf({ ...task, machineId });
    const { result, stderr } = await runPod(hostNow(), spec, map);
    expect(result?.outcome, stderr).toBe('ok');
    expect(await wholeOf(hostNow())).not.toEqual(before);
  });
}

describe.each(families.options)('a Pod for %s', (family) => {
  let host: NamespaceHost;
  beforeAll(async () => {
    host = await createFamilyHost('rights', family, { ens5: mac });
  });
  afterAll(() => host.down());

  describe('that applies', () => refusesLess({ family, action: 'apply' }, () => host));
  // A clean-up that is called done lets go of the node.
  if (family === 'netplan') {
    describe('that cleans up', () => refusesLess({ family, action: 'cleanup' }, () => host));
  }
});
