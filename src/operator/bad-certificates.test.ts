import { afterEach, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type RunningCloud, startCloud } from '../../rig/cloud/start.ts';
import { annotations } from '../api/names.ts';
import { issueAuthority, issueServer } from '../certificates/issue.ts';
import { createClouds } from '../openstack/clouds.ts';
import { createLogger } from '../process/log.ts';
import { rulesOf } from './model/resolve/policy.ts';
import { type Front, openFront } from './testing/front.ts';
import { createIoClock, type IoClock } from './testing/io-clock.ts';
import { environment, type Scene, setScene } from './testing/scene.ts';

// OpenSSL uses the machine's clock, which tests cannot move.
const year = 365 * 86_400_000;
const now = { from: new Date(Date.now() - year), until: new Date(Date.now() + year) };
const over = { from: new Date(Date.now() - 2 * year), until: new Date(Date.now() - year) };
const later = { from: new Date(Date.now() + year), until: new Date(Date.now() + 2 * year) };
const authority = issueAuthority({ from: over.from, until: later.until });
const valid = issueServer(authority, ['localhost'], now);

let cloud: RunningCloud;
let front: Front;
let clock: IoClock;
let scene: Scene;
const open: AsyncDisposable[] = [];

/** Starts a TLS cloud, stores its authority in the account Secret, and delivers a node with one NIC. */
beforeEach(async () => {
  clock = createIoClock();
  cloud = await startCloud({ encryptKey: '0123456789abcdef' });
  front = await openFront(cloud.port, 'https');
  front.present(valid);
  const clouds = (settings: Parameters<typeof rulesOf>[0]) => {
    const log = createLogger({ part: 'test', level: 'silent' });
    const made = createClouds({ clock, random: () => 0, log, ...rulesOf(settings) });
    open.push(made);
    return made;
  };
  const allowed = { ALLOWED_ENDPOINTS: 'https://localhost:*' };
  scene = await setScene({ ...environment, ...allowed }, { clouds });
  open.push(front, cloud, scene);
  const { projectId, username, password } = cloud.controls.createProject({ name: 'tenant' });
  const { networkId } = cloud.controls.createNetwork({ projectId, mtu: 1442 });
  const { subnetId } = cloud.controls.createSubnet({ projectId, networkId, cidr: '10.0.10.0/24' });
  const { serverId } = cloud.controls.createServer({ projectId, name: 'worker-1' });
  cloud.controls.attach({ serverId, networkId });
  const url = `https://localhost:${front.port}`;
  const auth = { auth_url: `${url}/identity`, username, password, project_id: projectId };
  const tenant = {
    auth,
    cacert: 'ca.crt',
    network_endpoint_override: `${url}/network`,
    compute_endpoint_override: `${url}/compute/v2.1`,
  };
  storeSecret({
    'clouds.yaml': stringify({ clouds: { tenant } }),
    'ca.crt': authority.certificate,
  });
  scene.create({
    subnetIDs: [subnetId],
    vmNames: [serverId],
    credentials: { secretRef: { name: 'clouds' }, k8sProviderID: 'biz-1' },
    settings: { portBaseline: 'All' },
  });
  await look();
  expect(scene.nics('worker-1')).toHaveLength(1);
});

afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

function storeSecret(values: Readonly<Record<string, string>>): void {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  scene.kube.secrets.set('multinic-system/clouds', { metadata: { name: 'clouds' }, data });
}

async function look(): Promise<string> {
  clock.skip(3_600_000);
  scene.kube.annotate({ [annotations.reconcileAt]: `${clock.monotonicMs()}` });
  await scene.look(3_600_000);
  return scene.ready();
}

const unknownAuthority = issueAuthority(now);

it.each([
  ['expired', issueServer(authority, ['localhost'], over), 'its certificate has expired'],
  ['not yet valid', issueServer(authority, ['localhost'], later), 'is not valid yet'],
  ['for a wrong host', issueServer(authority, ['other.test'], now), 'for another host name'],
  [
    'from an unknown authority',
    issueServer(unknownAuthority, ['localhost'], now),
    'not signed by a trusted CA',
  ],
])(
  'a cloud certificate (%s) stops all requests and removes no NIC, and the sync recovers with a valid certificate',
  async (_what, pair, why) => {
    front.present(pair);
    const before = front.asked.length;
    for (let n = 0; n < 3; n++) {
      expect(await look()).toMatch(/^False KeystoneError: keystone: POST https:/);
      expect(scene.ready()).toContain(why);
    }
    expect(front.asked).toHaveLength(before);
    expect(scene.nics('worker-1')).toHaveLength(1);
    front.present(valid);
    expect(await look()).toMatch(/^True /);
  },
);
