import { disposeAfterTest } from '../../src/kube/testing/scripted-server.ts';
import type { Cloud } from '../../src/openstack/cloud.ts';
import { type CloudIdentity, passwordAuth } from '../../src/openstack/cloud-identity.ts';
import { type Clouds, createClouds } from '../../src/openstack/clouds.ts';
import { createLogger } from '../../src/process/log.ts';
import { systemClock, systemRandom } from '../../src/time/clock.ts';
import { type CloudOptions, type RunningCloud, startCloud } from './start.ts';

const log = createLogger({ part: 'test', level: 'silent' });
export const encryptKey = 'rig-test-key-16b';

export interface Rig {
  readonly running: RunningCloud;
  readonly clouds: Clouds;
  readonly cloud: Cloud;
  readonly identity: CloudIdentity;
  readonly account: Parameters<typeof passwordAuth>[0];
  /** The same cloud for another login. */
  readonly as: (change: Partial<Rig['account']>) => CloudIdentity;
  readonly serverId: string;
  readonly networkId: string;
  readonly signal: AbortSignal;
}

/** A cloud with one server on one network, and the product's client of its project. */
export async function setUp(
  options: Partial<CloudOptions> = {},
  clock = systemClock,
): Promise<Rig> {
  const running = await startCloud({ encryptKey, workMs: 0, ...options });
  const clouds = createClouds({ clock, random: systemRandom, log });
  disposeAfterTest(clouds, running);
  const { controls } = running;
  const { projectId, username, password } = controls.createProject({ name: 'tenant' });
  const { networkId } = controls.createNetwork({ projectId, name: 'net' });
  controls.createSubnet({ projectId, networkId, cidr: '10.0.0.0/16' });
  const { serverId } = controls.createServer({ projectId, name: 'node', networkIds: [networkId] });
  const account = { username, password, projectId, domainName: running.admin.domainName };
  const identity: CloudIdentity = {
    keystoneUrl: running.keystoneUrl,
    auth: passwordAuth(account),
    interface: 'public',
    tls: {},
    timeoutMs: 5_000,
  };
  const signal = AbortSignal.timeout(20_000);
  const as = (change: Partial<typeof account>): CloudIdentity => ({
    ...identity,
    auth: passwordAuth({ ...account, ...change }),
  });
  const cloud = clouds.get(identity);
  return { running, clouds, cloud, identity, account, as, serverId, networkId, signal };
}
