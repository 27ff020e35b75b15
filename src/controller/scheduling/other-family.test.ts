import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry, instanceId, nicResult } from '../../../test/fixtures/controller-samples.ts';
import { type Answer, configured } from '../../../test/fixtures/scripted-agents.ts';
import { type Family, family, type JobRequest } from '../../api/job.ts';

const good = 'True AllInterfacesConfigured';
const wrong = 'False WrongFamily';
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  await fixture.addNode('worker-1');
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

/** Answers WrongFamily, as an agent does on a host with network manager `found`. */
function wrongFamily({ interfaces }: JobRequest, found?: Family): Answer {
  const nics = interfaces.map(({ index, mac }) =>
    nicResult(index, { mac, state: 'Failed', reason: 'WrongFamily', message: `found ${found}` }),
  );
  return { outcome: 'failed', nics, ...(found ? { family: found } : {}) };
}

/** Simulates a node with this network manager: other agents fail with WrongFamily. */
function nodeOf(host: Family) {
  return (request: JobRequest): Answer =>
    request.family === host ? configured(request) : wrongFamily(request, host);
}

async function setOs(osImage: string, more: object = {}): Promise<void> {
  await fixture.setNode('worker-1', { systemUUID: instanceId, machineID: 'm1', osImage, ...more });
}

function sent(): readonly (Family | undefined)[] {
  return fixture.agents.requests.map((request) => request.family);
}

/** Returns host paths writable by the Job for this attempt. */
function written(attempt: number): readonly string[] {
  const job = fixture
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
  const volumes = fixture.jobs().flatMap(({ spec }) => spec?.template.spec?.volumes ?? []);
  return volumes.flatMap(({ hostPath }) => hostPath?.path ?? []);
}

function untilSent(count: number): Promise<void> {
  return fixture.eventually(
    () => sent().length >= count,
    () => `sent for ${sent().join()}`,
  );
}

const apply = () => fixture.apply('worker-1', { interfaces: [entry(0)] });

describe('a node whose network manager differs from the guess', () => {
  it.each(family.options)(
    '[RW-05] a host with network manager %s is configured by the second agent immediately',
    async (host) => {
      fixture.agents.answer = nodeOf(host);
      fixture.run();
      await apply();
      await fixture.untilReady('worker-1', good);
      expect(sent()).toEqual(host === 'netplan' ? [host] : ['netplan', host]);
      expect(written(1)).toContain('/etc/netplan');
      if (host !== 'netplan') expect(written(2)).not.toContain('/etc/netplan');
      // The second run fixed the mismatch, hence no event.
      expect(fixture.events()).not.toContain('WrongFamily');
    },
  );

  it('the detected network manager is used for later runs', async () => {
    fixture.agents.answer = nodeOf('keyfile');
    fixture.run();
    await apply();
    await fixture.untilReady('worker-1', good);
    await fixture.stop();
    fixture.run();
    await fixture.apply('worker-1', { interfaces: [entry(0, { mtu: 1400 })] });
    await untilSent(3);
    await fixture.delete('worker-1');
    await fixture.untilGone('worker-1');
    expect(sent()).toEqual(['netplan', 'keyfile', 'keyfile', 'keyfile']);
  });

  it('a clean-up retries with the detected network manager although it requests no NIC', async () => {
    fixture.agents.answer = nodeOf('keyfile');
    fixture.run();
    await setOs('Fedora Linux 39');
    await apply();
    await fixture.untilReady('worker-1', good);
    fixture.agents.answer = nodeOf('networkd');
    await fixture.delete('worker-1');
    await fixture.untilGone('worker-1');
    expect(sent()).toEqual(['keyfile', 'keyfile', 'networkd']);
  });

  it('a Rocky Linux node is first guessed as keyfile and gets both profile directories mounted', async () => {
    fixture.agents.answer = nodeOf('ifcfg');
    fixture.run();
    await setOs('Rocky Linux 8.9 (Green Obsidian)');
    await apply();
    await fixture.untilReady('worker-1', good);
    expect(sent()).toEqual(['keyfile', 'ifcfg']);
    // An earlier generation may have left files in the other format for removal.
    expect(written(1)).toContain('/etc/sysconfig/network-scripts');
    expect(mounted().filter((path) => path === '/etc/sysconfig/network-scripts')).toHaveLength(2);
    expect(mounted()).not.toContain('/etc/netplan');
  });

  it('[RW-06] an Ubuntu node gets no network-scripts directory mounted', async () => {
    fixture.agents.answer = nodeOf('keyfile');
    fixture.run();
    await setOs('Ubuntu 24.04 LTS');
    await apply();
    await fixture.untilReady('worker-1', good);
    expect(sent()).toEqual(['netplan', 'keyfile']);
    expect(mounted()).not.toContain('/etc/sysconfig/network-scripts');
  });

  it('the network manager is guessed again when the node was rebuilt between two attempts', async () => {
    let rebuilt = false;
    fixture.agents.answer = (request) => {
      if (rebuilt) return nodeOf('netplan')(request);
      return request.family === 'keyfile' ? undefined : nodeOf('keyfile')(request);
    };
    fixture.run();
    await setOs('Debian GNU/Linux 12 (bookworm)');
    await apply();
    await untilSent(2);
    rebuilt = true;
    await setOs('Debian GNU/Linux 12 (bookworm)', { machineID: 'm2' });
    await fixture.untilReady('worker-1', good);
    expect(sent()).toEqual(['netplan', 'keyfile', 'netplan']);
  });
});

describe('an agent that always reports another network manager', () => {
  it('each reported network manager gets one immediate run, then normal retry delays apply', async () => {
    const next: Record<Family, Family> = {
      netplan: 'networkd',
      networkd: 'keyfile',
      keyfile: 'ifcfg',
      ifcfg: 'netplan',
    };
    fixture.agents.answer = (request) => wrongFamily(request, next[request.family ?? 'netplan']);
    fixture.run();
    await apply();
    await fixture.untilReady('worker-1', wrong);
    await fixture.pass(200);
    expect(sent()).toEqual(['netplan', 'networkd', 'keyfile', 'ifcfg']);
    // One run per five minutes from then on.
    await fixture.pass(4_000);
    expect(sent()).toEqual(['netplan', 'networkd', 'keyfile', 'ifcfg', 'netplan']);
    expect(await fixture.ready('worker-1')).toBe(wrong);
    // New content resets the attempts; the node's detected network manager stays known.
    await fixture.apply('worker-1', { interfaces: [entry(0, { mtu: 1400 })] });
    await untilSent(6);
    await fixture.pass(200);
    expect(sent()).toHaveLength(6);
  });

  it('an agent that reports the requested network manager as wrong is not retried immediately', async () => {
    fixture.agents.answer = (request) => wrongFamily(request, request.family);
    fixture.run();
    await apply();
    await fixture.untilReady('worker-1', wrong);
    await fixture.pass(200);
    expect(sent()).toEqual(['netplan']);
  });

  it('WrongFamily from an older agent without a detected network manager is shown in status and event', async () => {
    fixture.agents.answer = (request) => wrongFamily(request);
    fixture.run();
    await apply();
    const { status } = await fixture.untilReady('worker-1', wrong);
    expect(status?.interfaceStatuses).toMatchObject([{ reason: 'WrongFamily' }]);
    await fixture.pass(200);
    expect(sent()).toEqual(['netplan']);
    expect(fixture.events()).toContain('WrongFamily');
  });
});
