// Whether clouds that hang hold up those that do not: 100 OpenstackConfigs, of which 60 have a cloud that accepts
// connections and never answers. How long does each of the others wait for its next look, as a part of its poll interval?
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { bundle } from '../../build/bundler.ts';
import { encryptPassword } from '../../rig/cloud/encrypt-password.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { namespaces } from '../../src/api/names.ts';
import { secrets } from '../../src/kube/core-resources.ts';
import { openWorld, type World } from '../fixtures/chain/world.ts';
import { Figures } from './figures.ts';
import { applyFor, makeTenant, readiness, type Tenant } from './tenants.ts';

const healthy = 40;
const hanging = 60;
const pollMs = 5_000;
const goal = 1.5;
/** Twice as long as a request waits for its answer. */
const watchedMs = 60_000;
const key = { name: 'encrypt-key', key: 'key' };

/** When the ports of each server were asked for, in milliseconds of this process. */
const looks = new Map<string, number[]>();
subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: { url: string } };
  const { pathname, searchParams } = new URL(request.url, 'http://stand-in');
  if (!pathname.endsWith('/v2.0/ports')) return;
  for (const server of searchParams.getAll('device_id')) {
    looks.set(server, [...(looks.get(server) ?? []), performance.now()]);
  }
});

/** A Keystone that accepts connections and never answers. */
async function hangingCloud(stack: AsyncDisposableStack): Promise<string> {
  const server = createSocketServer((socket) => socket.on('error', () => undefined));
  stack.defer(() => {
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A Contrabass that knows these clouds by the number in their provider id. */
async function contrabass(
  urls: readonly string[],
  encryptKey: string,
  stack: AsyncDisposableStack,
) {
  const server = createServer((request, response) => {
    const id = request.url?.split('/').at(-1) ?? '';
    const attributes = {
      adminId: 'admin',
      adminPw: encryptPassword('admin', encryptKey),
      domain: 'Default',
    };
    const data = { uuid: id, name: id, url: urls[Number(id.split('-').at(-1))], attributes };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ returnCode: '200', returnMessage: 'COMMON_OK', data }));
  });
  stack.defer(() => {
    server.close().closeAllConnections();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Writes the OpenstackConfigs whose clouds hang. */
async function applyHanging(world: World, stack: AsyncDisposableStack): Promise<void> {
  const { encryptKey } = world.cloud;
  const metadata = { name: key.name, namespace: namespaces.system };
  const data = { [key.key]: Buffer.from(encryptKey).toString('base64') };
  await world.management.client.create(secrets, { metadata, data });
  const urls = await Promise.all(Array.from({ length: hanging }, () => hangingCloud(stack)));
  const contrabassEndpoint = await contrabass(urls, encryptKey, stack);
  const tenant = makeTenant(world, 'hanging', 1, 1);
  for (let n = 0; n < hanging; n++) {
    await applyFor(world, `hanging-${n}`, tenant, {
      credentials: {
        openstackProviderID: `hanging-${n}`,
        k8sProviderID: 'business',
        projectID: tenant.projectId,
      },
      settings: { contrabassEndpoint },
      secrets: { contrabassEncryptKeySecretRef: key },
    });
  }
}

/** The longest pause between two looks at this server, begun after `since`. */
function longestPause(server: string, since: number): number {
  const times = [...(looks.get(server) ?? []).filter((time) => time >= since), performance.now()];
  return Math.max(...times.map((time, n) => time - (times[n - 1] ?? since)));
}

await bundle(bundleFolder);
await using stack = new AsyncDisposableStack();
const world = stack.use(await openWorld([], { poll: `${pollMs}ms` }));
await applyHanging(world, stack);
const tenants: Tenant[] = [];
for (let n = 0; n < healthy; n++) {
  const tenant = makeTenant(world, `healthy-${n}`, 1, 3);
  tenants.push(tenant);
  await applyFor(world, `healthy-${n}`, tenant);
}
const ready = () => [...readiness(world).values()].filter((reason) => reason === 'NoChange').length;
while (ready() < healthy) await wait(100);
const since = performance.now();
await wait(watchedMs);
const pauses = tenants.map(({ servers: [server = ''] }) => longestPause(server, since));
const counted = tenants.flatMap(({ servers: [server = ''] }) => looks.get(server) ?? []).length;
const figures = new Figures();
const what = `${hanging} of ${healthy + hanging} clouds hang: longest wait of the other clouds for a sync`;
figures.goal(what, Math.max(...pauses) / pollMs, goal, 'poll intervals');
figures.note('syncs of the other clouds', `${counted} in ${watchedMs / 1000} s`);
figures.note('OpenstackConfigs that report the missing answer', `${said(world)}`);
figures.end();

function said(of: World): number {
  return [...readiness(of).entries()].filter(
    ([name, reason]) => name.startsWith('hanging') && reason !== '' && reason !== 'NoChange',
  ).length;
}
