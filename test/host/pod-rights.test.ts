import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { family as families, jobFiles } from '../../src/api/job.ts';
import { createFamilyHost } from './family-host.ts';
import { runPod } from './pod.ts';
import { podsLess } from './pod-less.ts';
import { mac, machineIdOf, type PodTask, podOf, type Whole, wholeOf } from './pod-task.ts';

/** A Pod without any one right refuses, names it and changes nothing; one with all of them does its task. */
function refusesLess(task: Omit<PodTask, 'machineId'>, hostNow: () => NamespaceHost): void {
  let machineId = '';
  let before: Whole;
  beforeAll(async () => {
    machineId = await machineIdOf(hostNow());
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
