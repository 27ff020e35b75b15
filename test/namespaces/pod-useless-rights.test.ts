import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobAction } from '../../src/api/job.ts';
import { createFamilyHost } from './family-host.ts';
import { type PodRun, runPod } from './pod.ts';
import { mac, machineIdOf, podOf, type Whole, wholeOf } from './pod-task.ts';

let host: NamespaceHost;
let machineId: string;
beforeEach(async () => {
  host = await createFamilyHost('useless-rights', 'netplan', { ens5: mac });
  machineId = await machineIdOf(host);
});
afterEach(() => host.down());

interface Odd {
  /** Line of a shell that happens once everything is mounted; `$root` is where. */
  readonly before?: string;
  readonly hostNetwork?: boolean;
  readonly protectedAddresses?: readonly string[];
}

/** A Pod that has all that its Job gives it, some of which is of no use. */
function run(action: JobAction, odd: Odd = {}): Promise<PodRun> {
  const { before, hostNetwork = true, protectedAddresses } = odd;
  const { spec, map } = podOf({
    family: 'netplan',
    action,
    machineId,
    ...(protectedAddresses ? { protectedAddresses } : {}),
  });
  return runPod(host, { ...spec, hostNetwork }, map, before);
}

async function expectRefused(
  { result, code, stderr }: PodRun,
  { named, unsaid = 'never', before }: Readonly<{ named: RegExp; unsaid?: string; before: Whole }>,
): Promise<void> {
  expect(code, stderr).toBe(1);
  expect(result, stderr).toMatchObject({
    outcome: 'refused',
    refusal: { reason: 'RightMissing', message: expect.stringMatching(named) as string },
  });
  expect(result?.refusal?.message).not.toContain(unsaid);
  expect(await wholeOf(host)).toEqual(before);
}

describe('a Node of which no address is known', () => {
  const nobody = { protectedAddresses: [] };

  test.each(['apply', 'check', 'cleanup'] as const)(
    'an agent in a network of its own takes no NIC for gone: %s',
    async (action) => {
      expect((await run('apply')).result?.outcome).toBe('ok');
      const before = await wholeOf(host);
      const lost = await run(action, { ...nobody, hostNetwork: false });
      await expectRefused(lost, { named: /hostNetwork.*no address/, before });
    },
  );

  test.each(['apply', 'cleanup'] as const)('an agent of the host does it: %s', async (action) => {
    expect((await run('apply', nobody)).result?.outcome).toBe('ok');
    expect((await run(action, nobody)).result?.outcome).toBe('ok');
  });

  test('nothing is to be done, and nothing was: is done in any network', async () => {
    const { result, stderr } = await run('cleanup', { ...nobody, hostNetwork: false });
    expect(result, stderr).toMatchObject({ outcome: 'ok', nics: [] });
  });
});
