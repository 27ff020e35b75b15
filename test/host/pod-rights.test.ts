import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { family as families, jobFiles } from '../../src/api/job.ts';
import { createFamilyHost } from './family-host.ts';
import { runPod } from './pod.ts';
import { podsLess } from './pod-less.ts';
import { mac, machineIdOf, type PodTask, podOf, type Whole, wholeOf } from './pod-task.ts';

/** A Pod without one right refuses, names the right and changes nothing; a Pod with all rights does its task. */
function refusesLess(task: Omit<PodTask, 'machineId'>, hostNow: () => NamespaceHost): void {
  let machineId = '';
  let before: Whole;
  beforeAll(async () => {
    machineId = await machineIdOf(hostNow());
    before = await wholeOf(hostNow());
  });

  const names = [...podsLess(podOf({ ...task, machineId: 'any' }).spec).keys()];
  test.concurrent.each(names)(
    'a Pod with %s is refused by name and changes nothing',
    async (name) => {
      const { spec, map } = podOf({ ...task, machineId });
      const less = podsLess(spec).get(name);
      const { result, code, stderr } = await runPod(hostNow(), less?.spec ?? spec, map);
      expect(code, stderr).toBe(1);
      const reason = less?.named === jobFiles.requestDirectory ? 'InvalidRequest' : 'RightMissing';
      expect(result, stderr).toMatchObject({ outcome: 'refused', refusal: { reason } });
      expect(result?.refusal?.message).toContain(less?.named);
      expect(await wholeOf(hostNow())).toEqual(before);
    },
  );

  test('a Pod with an unwritable termination message names its path and changes nothing', async () => {
    const { spec, map } = podOf({ ...task, machineId });
    const lock = 'mount -o remount,bind,ro "$root$message"';
    const { code, result, stderr } = await runPod(hostNow(), spec, map, lock);
    expect({ code, result }).toEqual({ code: 1 });
    const last = stderr.trim().split('\n').at(-1);
    expect(last).toContain(`${jobFiles.result} cannot be written (EROFS); nothing was changed`);
    expect(await wholeOf(hostNow())).toEqual(before);
  });

  test('a Pod with all rights does its task', async () => {
    const { spec, map } = podOf({ ...task, machineId });
    const { result, stderr } = await runPod(hostNow(), spec, map);
    expect(result?.outcome, stderr).toBe('ok');
    expect(await wholeOf(hostNow())).not.toEqual(before);
  });
}

describe.each(families.options)('Pod for %s', (family) => {
  let host: NamespaceHost;
  beforeAll(async () => {
    host = await createFamilyHost('rights', family, { ens5: mac });
  });
  afterAll(() => host.down());

  describe('apply', () => refusesLess({ family, action: 'apply' }, () => host));
  // A clean-up wrongly reported as complete would release the node.
  if (family === 'netplan') {
    describe('clean-up', () => refusesLess({ family, action: 'cleanup' }, () => host));
  }
});
