import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry, instanceId, nicResult } from '../../../test/fixtures/controller-samples.ts';
import { type Answer, configured } from '../../../test/fixtures/scripted-agents.ts';
import { type Family, family, type JobRequest } from '../../api/job.ts';

const good = 'True AllInterfacesConfigured';
const wrong = 'False WrongFamily';
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  await bed.addNode('worker-1');
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

/** What an agent says on a host of this family. */
function wrongFamily({ interfaces }: JobRequest, found?: Family): Answer {
  const nics = interfaces.map(({ index, mac }) =>
    nicResult(index, { mac, state: 'Failed', reason: 'WrongFamily', message: `found ${found}` }),
  );
  return { outcome: 'failed', nics, ...(found ? { family: found } : {}) };
}

/** A node of this family, whose agents work with its files alone. */
function nodeOf(host: Family) {
  return (request: JobRequest): Answer =>
    request.family === host ? configured(request) : wrongFamily(request, host);
}

async function setOs(osImage: string, more: object = {}): Promise<void> {
  await bed.setNode('worker-1', { systemUUID: instanceId, machineID: 'm1', osImage, ...more });
}

function sent(): readonly (Family | undefined)[] {
  return bed.agents.requests.map((request) => request.family);
}

/** Paths of the host that the Job of this attempt can write to. */
function written(attempt: number): readonly string[] {
  const job = bed
    .jobs()
    .find(({ metadata }) => metadata.labels?.['multinic.io/attempt'] === String(attempt));
  const { volumes = [], containers = [] } = job?.spec?.template.spec ?? {};
  const mounts = containers[0]?.volumeMounts ?? [];
  return volumes.flatMap(({ name, hostPath }) => {
    const mount = mounts.find((one) => one.name === name);
    return hostPath && !mount?.readOnly ? [hostPath.path] : [];
  });
}

function mounted(): readonly string[] {
  const volumes = bed.jobs().flatMap(({ spec }) => spec?.template.spec?.volumes ?? []);
  return volumes.flatMap(({ hostPath }) => hostPath?.path ?? []);
}

function untilSent(count: number): Promise<void> {
  return bed.eventually(
    () => sent().length >= count,
    () => `sent for ${sent().join()}`,
  );
}

const apply = () => bed.apply('worker-1', { interfaces: [entry(0)] });

describe('a node of another family than was guessed', () => {
  it.each(family.options)('[RW-05] is configured by the second agent at once: %s', async (host) => {
    bed.agents.answer = nodeOf(host);
    bed.run();
    await apply();
    await bed.untilReady('worker-1', good);
    expect(sent()).toEqual(host === 'netplan' ? [host] : ['netplan', host]);
    expect(written(1)).toContain('/etc/netplan');
    if (host !== 'netplan') expect(written(2)).not.toContain('/etc/netplan');
    // Nobody has to do anything about it, so nobody is told.
    expect(bed.events()).not.toContain('WrongFamily');
  });

  it('is found by an agent of an earlier release, too, that has no words for another NIC', async () => {
    const refusal = { reason: 'InvalidRequest', message: 'protocol' } as const;
    bed.agents.answer = (request) =>
      request.protocol === 3 ? { outcome: 'refused', refusal } : nodeOf('keyfile')(request);
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1, { routing: 'isolated' })] });
    const { status } = await bed.untilReady('worker-1', 'False AgentTooOld');
    expect(status?.interfaceStatuses).toMatchObject([{ status: 'Configured' }, {}]);
    expect(sent()).toEqual(['netplan', 'netplan', 'keyfile', 'keyfile']);
  });

  it('is remembered for what comes later', async () => {
    bed.agents.answer = nodeOf('keyfile');
    bed.run();
    await apply();
    await bed.untilReady('worker-1', good);
    await bed.stop();
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0, { mtu: 1400 })] });
    await untilSent(3);
    await bed.delete('worker-1');
    await bed.untilGone('worker-1');
    expect(sent()).toEqual(['netplan', 'keyfile', 'keyfile', 'keyfile']);
  });

  it('is cleaned, though a clean-up asks for no NIC that could be answered', async () => {
    bed.agents.answer = nodeOf('keyfile');
    bed.run();
    await setOs('Fedora Linux 39');
    await apply();
    await bed.untilReady('worker-1', good);
    bed.agents.answer = nodeOf('networkd');
    await bed.delete('worker-1');
    await bed.untilGone('worker-1');
    expect(sent()).toEqual(['keyfile', 'keyfile', 'networkd']);
  });

  it('is guessed by its system, and may have profiles of both kinds', async () => {
    bed.agents.answer = nodeOf('ifcfg');
    bed.run();
    await setOs('Rocky Linux 8.9 (Green Obsidian)');
    await apply();
    await bed.untilReady('worker-1', good);
    expect(sent()).toEqual(['keyfile', 'ifcfg']);
    // An earlier generation may have written files of the other kind, which have to go.
    expect(written(1)).toContain('/etc/sysconfig/network-scripts');
    expect(mounted().filter((path) => path === '/etc/sysconfig/network-scripts')).toHaveLength(2);
    expect(mounted()).not.toContain('/etc/netplan');
  });

  it('[RW-06] gets no folder of a manager that its system does not have', async () => {
    bed.agents.answer = nodeOf('keyfile');
    bed.run();
    await setOs('Ubuntu 24.04 LTS');
    await apply();
    await bed.untilReady('worker-1', good);
    expect(sent()).toEqual(['netplan', 'keyfile']);
    expect(mounted()).not.toContain('/etc/sysconfig/network-scripts');
  });

  it('is guessed anew when it was rebuilt between two attempts', async () => {
    let rebuilt = false;
    bed.agents.answer = (request) => {
      if (rebuilt) return nodeOf('netplan')(request);
      return request.family === 'keyfile' ? undefined : nodeOf('keyfile')(request);
    };
    bed.run();
    await setOs('Debian GNU/Linux 12 (bookworm)');
    await apply();
    await untilSent(2);
    rebuilt = true;
    await setOs('Debian GNU/Linux 12 (bookworm)', { machineID: 'm2' });
    await bed.untilReady('worker-1', good);
    expect(sent()).toEqual(['netplan', 'keyfile', 'netplan']);
  });
});

describe('an agent that is never content', () => {
  it('is sent once for each family that it names, and then no sooner than after any such answer', async () => {
    const next: Record<Family, Family> = {
      netplan: 'networkd',
      networkd: 'keyfile',
      keyfile: 'ifcfg',
      ifcfg: 'netplan',
    };
    bed.agents.answer = (request) => wrongFamily(request, next[request.family ?? 'netplan']);
    bed.run();
    await apply();
    await bed.untilReady('worker-1', wrong);
    await bed.pass(200);
    expect(sent()).toEqual(['netplan', 'networkd', 'keyfile', 'ifcfg']);
    // Five minutes later, and then one at a time.
    await bed.pass(4_000);
    expect(sent()).toEqual(['netplan', 'networkd', 'keyfile', 'ifcfg', 'netplan']);
    expect(await bed.ready('worker-1')).toBe(wrong);
    // Other content is new; what is known of the node is not.
    await bed.apply('worker-1', { interfaces: [entry(0, { mtu: 1400 })] });
    await untilSent(6);
    await bed.pass(200);
    expect(sent()).toHaveLength(6);
  });

  it('is not sent again for the family that it was sent for', async () => {
    bed.agents.answer = (request) => wrongFamily(request, request.family);
    bed.run();
    await apply();
    await bed.untilReady('worker-1', wrong);
    await bed.pass(200);
    expect(sent()).toEqual(['netplan']);
  });

  it('is told of when it is of an earlier version, which names no family', async () => {
    bed.agents.answer = (request) => wrongFamily(request);
    bed.run();
    await apply();
    const { status } = await bed.untilReady('worker-1', wrong);
    expect(status?.interfaceStatuses).toMatchObject([{ reason: 'WrongFamily' }]);
    await bed.pass(200);
    expect(sent()).toEqual(['netplan']);
    expect(bed.events()).toContain('WrongFamily');
  });
});
