import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { startCloud } from '../../../rig/cloud/start.ts';
import { writeFakeKubectl } from '../../../test/fixtures/cli/fake-kubectl.ts';
import {
  type CliFixture,
  type SceneOptions,
  startScene,
} from '../../../test/fixtures/cli/scene.ts';
import { schemaNumbers } from '../../api/crd/schema-numbers.ts';
import { jobRequest } from '../../api/job.ts';
import { annotations } from '../../api/names.ts';
import { crds, nodes } from '../../kube/core-resources.ts';
import { listen } from '../../operator/testing/listener.ts';

const business = ['--business-context', 'biz-1=biz-context'];
const debian = 'Debian GNU/Linux 12 (bookworm)';

/** Starts a scene whose API server serves every kind of the charts: the embedded server has no kinds of these groups. */
async function startSite(options: SceneOptions = {}): Promise<CliFixture> {
  const scene = await startScene(options);
  await serve(scene, 'networking.k8s.io', 'networkpolicies', 'NetworkPolicy', 'Namespaced');
  await serve(scene, 'scheduling.k8s.io', 'priorityclasses', 'PriorityClass', 'Cluster');
  return scene;
}

async function serve(
  { client }: CliFixture,
  group: string,
  plural: string,
  kind: string,
  scope: string,
): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const spec = { group, names: { plural, kind, singular: kind.toLowerCase() }, scope, versions };
  await client.create(crds, { metadata: { name: `${plural}.${group}` }, spec });
}

interface NodeInfo {
  readonly systemUUID?: string;
  readonly osImage?: string;
  readonly addressType?: string;
}

async function createNode(
  { client }: CliFixture,
  name: string,
  { systemUUID = crypto.randomUUID(), osImage = debian, addressType = 'InternalIP' }: NodeInfo = {},
): Promise<void> {
  await client.create(nodes, { metadata: { name } });
  const nodeInfo = { systemUUID, osImage, machineID: '0123456789abcdef0123456789abcdef' };
  const addresses = [{ type: addressType, address: '192.0.2.10' }];
  const images = [{ names: [`registry.example/multinic-agent:0.0.0-dev`] }];
  await client.patchStatus(nodes, { name }, { status: { nodeInfo, addresses, images } });
}

/** Starts a cloud with one server and two ports; returns the path of its clouds.yaml. */
async function withCloud({ folder }: CliFixture) {
  const cloud = await startCloud({ encryptKey: 'rig-test-key-16b', workMs: 0 });
  onTestFinished(() => cloud[Symbol.asyncDispose]());
  const { controls, admin, keystoneUrl } = cloud;
  const { projectId, username, password } = controls.createProject({ name: 'tenant' });
  const { networkId } = controls.createNetwork({ projectId, name: 'net' });
  controls.createSubnet({ projectId, networkId, cidr: '10.0.0.0/16' });
  const { serverId } = controls.createServer({ projectId, name: 'node', networkIds: [networkId] });
  const auth = { auth_url: keystoneUrl, username, password, project_id: projectId };
  const write = async (change: object, ofCloud: object = {}) => {
    const path = join(folder, 'clouds.yaml');
    const own = { ...auth, user_domain_name: admin.domainName, ...change };
    await writeFile(path, stringify({ clouds: { own: { auth: own, ...ofCloud } } }));
    return path;
  };
  const attach = (id: string) => controls.attach({ serverId, networkId: id });
  const bare = () => controls.createNetwork({ projectId, name: 'bare' }).networkId;
  return { file: await write({}), serverId, write, networkId, attach, bare };
}

it('doctor --pre of a good site ends with 0 and names each section', async () => {
  const scene = await startSite();
  const { file, serverId } = await withCloud(scene);
  await createNode(scene, 'worker-1', { systemUUID: serverId.toUpperCase() });
  const { status, out } = await scene.run('doctor', '--pre', '--cloud', file, ...business);
  expect(out).toMatch(/^Before the installation of MultiNIC/);
  for (const title of ['api', 'rights', 'crds', 'nodes', 'networks', 'openstack']) {
    expect(out).toMatch(new RegExp(`^${title} +ok `, 'm'));
  }
  expect(status).toBe(0);
});

it.each([
  [
    'two Nodes have one systemUUID',
    (scene: CliFixture) =>
      Promise.all(['a', 'b'].map((name) => createNode(scene, name, { systemUUID: 'same' }))),
    'DuplicateSystemUUID',
    5,
  ],
  [
    'a Node has no systemUUID',
    (scene: CliFixture) => createNode(scene, 'a', { systemUUID: '' }),
    'SystemUUIDMissing',
    5,
  ],
  [
    'an OS image is not in the matrix',
    (scene: CliFixture) => createNode(scene, 'a', { osImage: 'Flatcar Container Linux' }),
    'HostNotProven',
    0,
  ],
  [
    'a CRD has an older schema',
    ({ client }: CliFixture) => annotateCrd(client, String(schemaNumbers[crd] - 1)),
    'CRDTooOld',
    0,
  ],
  [
    'a CRD has a newer schema',
    ({ client }: CliFixture) => annotateCrd(client, String(schemaNumbers[crd] + 1)),
    'CRDTooNew',
    0,
  ],
  [
    'a CRD has no schema number',
    ({ client }: CliFixture) => annotateCrd(client, 'none'),
    'ForeignCRD',
    5,
  ],
] as const)('doctor --pre names the finding when %s', async (...row) => {
  const [, change, reason, status] = row;
  const scene = await startSite();
  await change(scene);
  const ran = await scene.run('doctor', '--pre', ...business);
  expect(ran.out).toContain(` ${reason} `);
  expect(ran.status).toBe(status);
});

const crd = 'openstackconfigs.multinic.example.com';

function annotateCrd(client: CliFixture['client'], schema: string) {
  const metadata = { annotations: { [annotations.schema]: schema } };
  return client.patch(crds, { name: crd }, { metadata });
}

it('doctor --pre of a user without rights names verbs, kind and namespace', async () => {
  const scene = await startSite({ user: 'jane' });
  const { status, out } = await scene.run('doctor', '--pre');
  expect(out).toContain('InstallRightMissing');
  expect(out).toMatch(/your user may not get, create, patch, delete .* in namespace multinic-/);
  expect(status).toBe(5);
  const all = await scene.run('doctor', '--pre', '-o', 'json');
  expect(all.out).toContain('may not get, list, create, update, delete Secret in namespace ');
});

it('doctor --pre with undecided rights ends with 6 and names cause and next step', async () => {
  const scene = await startSite();
  const server = await undecided(scene);
  vi.stubEnv('MULTINIC_KUBECTL', await writeFakeKubectl(scene.folder, server));
  const { status, out } = await scene.run('doctor', '--pre');
  expect(out).not.toContain('your user may install');
  expect(out).toMatch(
    /incomplete: management cluster .*could not decide about Namespace, .*Secret/,
  );
  expect(out).toContain('check the authorization webhook');
  expect(status).toBe(6);
});

/** Starts an API server whose authorization webhook does not answer. */
async function undecided({ api }: CliFixture) {
  const token = await api.access.token();
  const answerTo = async ({ url = '', method = '' }: IncomingMessage, body: string) => {
    if (url.includes('selfsubjectaccessreviews')) {
      const status = { allowed: false, evaluationError: 'webhook: connection refused' };
      return { status: 201, text: JSON.stringify({ ...(JSON.parse(body) as object), status }) };
    }
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = method === 'GET' ? {} : { body };
    const found = await fetch(api.url + url, { method, headers, ...sent });
    return { status: found.status, text: await found.text() };
  };
  const server = createServer((incoming, answer) => {
    void textOf(incoming)
      .then((body) => answerTo(incoming, body))
      .then(({ status, text }) => answer.writeHead(status).end(text));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { servers: { '': { url: `http://127.0.0.1:${port}`, token } }, operatorPort: 1 };
}

it('doctor --pre counts an unlisted agent image and missing options as skipped, not as absent', async () => {
  const scene = await startSite();
  await createNode(scene, 'worker-1');
  await scene.client.patchStatus(nodes, { name: 'worker-1' }, { status: { images: [] } });
  const { status, out } = await scene.run('doctor', '--pre', ...business);
  expect(out).toMatch(
    /skip .*Image multinic-agent:0\.0\.0-dev on biz-1\/worker-1: not in status.images/,
  );
  expect(out).toMatch(/Keystone login: no --cloud FILE/);
  expect(status).toBe(0);
});

it.each([
  ['a refused password', { password: 'wrong' }, 'KeystoneError', 5],
  ['a refused connection', { auth_url: 'http://127.0.0.1:1' }, 'KeystoneError', 5],
] as const)('doctor --pre names %s of the cloud', async (_, change, reason, status) => {
  const scene = await startSite();
  const { write } = await withCloud(scene);
  const ran = await scene.run('doctor', '--pre', '--cloud', await write(change));
  expect(ran.out).toContain(reason);
  expect(ran.out).not.toContain('wrong');
  expect(ran.status).toBe(status);
});

it.each([
  ['Nova', 'compute_endpoint_override', 'NovaServerError', 'nova: did not answer within 1s'],
  ['Neutron', 'network_endpoint_override', 'NeutronPortError', 'neutron: did not answer within 1s'],
] as const)('doctor --pre names %s as the silent service', async (...row) => {
  const [, option, reason, text] = row;
  const scene = await startSite();
  const { write } = await withCloud(scene);
  const silent = await listen('http', () => undefined);
  onTestFinished(() => silent[Symbol.asyncDispose]());
  const file = await write({}, { [option]: `http://127.0.0.1:${silent.port}` });
  const { out } = await scene.run('doctor', '--pre', '--cloud', file, '--request-timeout', '1s');
  expect(out).toContain(reason);
  expect(out).toContain(text);
});

it('doctor --pre --print-request prints a request that the agent reads', async () => {
  const scene = await startSite();
  const { file, serverId } = await withCloud(scene);
  await createNode(scene, 'worker-1', { systemUUID: serverId });
  const argv = ['--node', 'worker-1', '--print-request', '--cloud', file, ...business];
  const { status, out } = await scene.run('doctor', '--pre', ...argv);
  const request = jobRequest.parse(JSON.parse(out));
  expect(request).toMatchObject({
    machineId: '0123456789abcdef0123456789abcdef',
    protectedAddresses: ['192.0.2.10'],
    family: 'netplan',
    interfaces: [{ mac: /^fa:16:3e/, addresses: [expect.stringMatching(/^10\.0\..*\/16$/)] }].map(
      (each) => ({ ...each, mac: expect.stringMatching(each.mac) as string }),
    ),
  });
  expect(status).toBe(0);
});

const printed = ['--pre', '--node', 'worker-1', '--print-request'];

it.each([
  [{ systemUUID: '' }, 'Node worker-1 has no systemUUID'],
  [{ addressType: 'Hostname' }, 'Node worker-1 has no InternalIP'],
] as const)('doctor --pre --print-request refuses a Node with %j', async (info, text) => {
  const scene = await startSite();
  const { file, serverId } = await withCloud(scene);
  await createNode(scene, 'worker-1', { systemUUID: serverId, ...info });
  const ran = await scene.run('doctor', ...printed, '--cloud', file, ...business);
  expect(ran.err).toContain(text);
  expect([ran.status, ran.out]).toEqual([3, '']);
});

it('doctor --pre --print-request names the ports that the request lacks', async () => {
  const scene = await startSite();
  const { file, serverId, networkId, attach, bare } = await withCloud(scene);
  const { portId } = attach(bare());
  for (let at = 0; at < 10; at += 1) attach(networkId);
  await createNode(scene, 'worker-1', { systemUUID: serverId });
  const { err, out } = await scene.run('doctor', ...printed, '--cloud', file, ...business);
  expect(jobRequest.parse(JSON.parse(out)).interfaces).toHaveLength(10);
  expect(err).toContain(`lacks port ${portId}: the port has no address`);
  expect(err).toMatch(/lacks port \S+: a request has at most 10 NICs/);
});

it('doctor --pre --node examines no other Node', async () => {
  const scene = await startSite();
  const { file, serverId } = await withCloud(scene);
  await createNode(scene, 'worker-1', { systemUUID: serverId });
  await createNode(scene, 'worker-2');
  const argv = ['--pre', '--node', 'worker-1', '--cloud', file, ...business];
  expect((await scene.run('doctor', ...argv)).out).not.toContain('worker-2');
});

it.each([
  [['--cloud', 'x'], 2, 'belong to --pre'],
  [['--pre', '--cloud', '/nope'], 2, '/nope'],
  [['--pre', '--print-request'], 2, 'needs --node NODE and --cloud FILE'],
  [['--pre', '--node', 'worker-1'], 2, 'no business cluster is given'],
  [['--pre', '--node', 'nope', ...business], 3, '0 Nodes have the name nope'],
] as const)('doctor %j ends with %i and names the option', async (argv, status, text) => {
  const scene = await startSite();
  const ran = await scene.run('doctor', ...argv);
  expect(ran.err).toContain(text);
  expect(ran.status).toBe(status);
});

it('doctor --pre names the version and each kind that the API server does not serve', async () => {
  const scene = await startScene();
  const { status, out } = await scene.run('doctor', '--pre');
  expect(out).toMatch(
    /KindNotServed +Kubernetes v1\S+ does not serve NetworkPolicy \(networking.k8s.io\/v1\)/,
  );
  expect(status).toBe(5);
});
