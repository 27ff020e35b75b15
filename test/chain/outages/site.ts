import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareBusiness, registerCluster } from '../../../rig/chain/clusters.ts';
import { identities } from '../../../rig/chain/identities.ts';
import { bootMachines, makeNetworks } from '../../../rig/chain/machines.ts';
import { startCloud } from '../../../rig/cloud/start.ts';
import { type FaultProxy, startFaultProxy } from '../../../rig/fault-proxy/fault-proxy.ts';
import { openTenant } from '../../../rig/openstack/tenant.ts';
import { freePorts } from '../../../rig/parts/free-ports.ts';
import { controllerPart } from '../../../rig/parts/parts.ts';
import { systemClock as clock } from '../../../src/time/clock.ts';
import { openCluster, openWorker, type Worker, type World } from '../world.ts';
import type { Place } from './place.ts';

/** A worker in a cloud of its own, whose every service is behind one proxy. */
export async function inOwnCloud(
  base: World,
  name: string,
  stack: AsyncDisposableStack,
): Promise<Place> {
  const { encryptKey } = base.cloud;
  const cloud = stack.use(await startCloud({ encryptKey, providerId: name }));
  const { origin, pathname } = new URL(cloud.contrabassUrl);
  // The cloud names its services by the host that it was asked by, which is the proxy's.
  const proxy = stack.use(await startFaultProxy({ target: origin }));
  const tenant = await openTenant(cloud, name);
  const { primaryId, data } = await makeNetworks(tenant);
  const world = { ...base, cloud, tenant, data, primaryId };
  const worker = await bootWorker(name, world, stack);
  const edit = { settings: { contrabassEndpoint: proxy.url + pathname } };
  return { world, worker, edit, proxies: [proxy] };
}

/** A worker whose node config goes to the one Viola by way of a proxy. */
export async function byProxiedViola(
  base: World,
  worker: Worker,
  stack: AsyncDisposableStack,
): Promise<Place> {
  const proxy = stack.use(await startFaultProxy({ target: base.violaUrl }));
  const edit = { settings: { violaEndpoint: proxy.url } };
  return { world: base, worker, edit, proxies: [proxy] };
}

/** A worker in a business cluster of its own, to which Viola and its controller come by one proxy each. */
export async function inOwnCluster(
  base: World,
  name: string,
  stack: AsyncDisposableStack,
): Promise<Place> {
  const business = await openCluster(name, base.directory, stack);
  await prepareBusiness(business.client);
  const proxied = async (
    part: 'writer' | 'controller',
  ): Promise<{ proxy: FaultProxy; kubeconfig: string }> => {
    const access = business.server.accessAs(identities[part]);
    const identity = { ca: access.ca };
    const proxy = stack.use(await startFaultProxy({ target: access.server, identity }));
    return { proxy, kubeconfig: await business.server.kubeconfig(proxy.through(access)) };
  };
  const [viola, controller] = [await proxied('writer'), await proxied('controller')];
  await registerCluster(base.management.client, name, viola.kubeconfig);
  const kubeconfig = join(base.directory, `${name}-controller.kubeconfig`);
  await writeFile(kubeconfig, controller.kubeconfig, { mode: 0o600 });
  const [port = 0] = await freePorts(1);
  const agentImage = 'multinic-agent:stand-in';
  const part = controllerPart({ kubeconfig, port, agentImage, clock });
  await base.parts.start({ ...part, name: `controller-${name}` });

  const world = { ...base, business };
  const worker = await bootWorker(name, world, stack);
  const edit = { credentials: { k8sProviderID: name } };
  const proxies = [viola.proxy, controller.proxy];
  return { world, worker, edit, proxies };
}

async function bootWorker(
  name: string,
  world: World,
  stack: AsyncDisposableStack,
): Promise<Worker> {
  const [machine] = await bootMachines([name], world, stack);
  if (!machine) throw new Error(`${name} did not boot`);
  return openWorker(machine, world, stack);
}
