import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type DataNetwork, makeNetworks } from '../../../rig/chain/machines.ts';
import { type RunningCloud, startCloud } from '../../../rig/cloud/start.ts';
import { startHypervisor } from '../../../rig/hypervisor/hypervisor.ts';
import { hostMachine } from '../../../rig/hypervisor/machines.ts';
import { openTenant, type Tenant } from '../../../rig/openstack/tenant.ts';
import { bundleFolder } from '../../../rig/parts/program.ts';
import { loadKubeconfig } from '../../../src/kube/access/kubeconfig.ts';
import { systemClock as clock } from '../../../src/time/clock.ts';
import { legacyFolder, openSite, type Site, type Worker } from './site.ts';
import { installController } from './theirs.ts';

export const provider = 'biz';
const root = join(import.meta.dirname, '../../..');

/** One cluster that is both, with a cloud whose servers are its nodes. */
export interface Place extends AsyncDisposable {
  readonly site: Site;
  readonly cloud: RunningCloud;
  readonly tenant: Tenant;
  readonly data: DataNetwork;
  /** A server that is no node, and has no ports that anybody asks for. */
  readonly idleServer: string;
}

/** Its half of a business cluster is ours already, or still that of the deployed system. */
export async function openPlace(
  name: string,
  business: 'ours' | 'theirs' = 'ours',
): Promise<Place> {
  await using stack = new AsyncDisposableStack();
  const cloud = stack.use(await startCloud({ encryptKey: 'migrate-encrypt-' }));
  const tenant = stack.use(await openTenant(cloud, name));
  const { primaryId, data } = await makeNetworks(tenant);
  const boot = async (server: string): Promise<string> =>
    (await tenant.createServer({ name: server, networkIds: [primaryId] })).id;
  const idleServer = await boot('idle');
  const specs = [];
  for (const worker of ['worker-1', 'worker-2']) {
    specs.push({ name: worker, systemUuid: await boot(worker), macs: [] });
  }
  const site = stack.use(await openSite(name, specs));
  const machines = site.workers.map(
    ({ systemUuid, host }) => [systemUuid, hostMachine(host.name)] as const,
  );
  const hypervisor = startHypervisor({ user: tenant.user, machines: new Map(machines), clock });
  stack.use(hypervisor);
  await hypervisor.watching;
  if (business === 'ours') await installOurs(site);
  else await installController(site);
  const kept = stack.move();
  return {
    site,
    cloud,
    tenant,
    data,
    idleServer,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function installOurs(site: Site): Promise<void> {
  const chart = ['multinic-agent', join(root, 'charts/multinic-agent')];
  const where = ['--namespace', 'multinic-system', '--create-namespace', '--wait'];
  await site.helm('upgrade', '--install', ...chart, ...where);
}

/** Installs the deployed operator and Viola as their own documents say it. */
export async function installLegacy({ site, cloud }: Place): Promise<void> {
  const { cluster, directory } = site;
  const apply = (file: string): Promise<string> =>
    cluster.kubectl(['apply', '-f', join(legacyFolder, file)]);
  await apply('openstackconfigs.yaml');
  await cluster.kubectl(['wait', '--for=condition=Established', 'crd', '--all']);
  await cluster.kubectl(['create', 'namespace', 'multinic-operator-system']);
  const key = `--from-literal=CONTRABASS_ENCRYPT_KEY=${cloud.encryptKey}`;
  await cluster.kubectl([
    '-n',
    'multinic-operator-system',
    'create',
    'secret',
    'generic',
    'operator-secret',
    key,
    '--from-literal=POLL_ERROR_INTERVAL=30s',
  ]);
  await cluster.kubectl([
    '-n',
    'multinic-system',
    'create',
    'secret',
    'generic',
    'contrabass-encrypt-key',
    key,
  ]);
  await apply('viola.yaml');
  await cluster.kubectl(
    ['apply', '-f', '-'],
    await readFile(join(legacyFolder, 'operator.yaml'), 'utf8'),
  );
  const { server, ca } = await loadKubeconfig(cluster.kubeconfig);
  const caFile = join(directory, 'ca.crt');
  await writeFile(caFile, ca ?? '');
  const token = await cluster.kubectl([
    '-n',
    'multinic-system',
    'create',
    'token',
    'viola-test-api',
    '--duration=3h',
  ]);
  const target = {
    providerId: provider,
    kubeApiServer: server,
    kubeToken: token.trim(),
    kubeCaPath: caFile,
  };
  const routing = `--from-literal=routing.yaml=${JSON.stringify({ strict: true, targets: [target] })}`;
  await cluster.kubectl([
    '-n',
    'multinic-system',
    'create',
    'secret',
    'generic',
    'viola-routing',
    routing,
  ]);
}

/** An OpenstackConfig for servers, as it is written for the deployed operator. */
export async function applyConfig(
  { site, cloud, tenant, data }: Place,
  name: string,
  vmNames: readonly string[],
  settings: object = {},
  k8sProviderID: string = provider,
): Promise<void> {
  const poll = { pollFastInterval: '1s', pollSlowInterval: '2s', pollErrorInterval: '1s' };
  const object = {
    apiVersion: 'multinic.example.com/v1alpha1',
    kind: 'OpenstackConfig',
    metadata: { name, namespace: 'multinic-system' },
    spec: {
      subnetIDs: [data.subnetId],
      vmNames,
      credentials: {
        openstackProviderID: cloud.providerId,
        k8sProviderID,
        projectID: tenant.projectId,
      },
      settings: { contrabassEndpoint: cloud.contrabassUrl, ...poll, ...settings },
    },
  };
  await site.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(object));
}

/** A port with this MAC becomes a NIC of the worker's server. */
export async function attach(
  { tenant, data }: Place,
  { systemUuid }: Worker,
  mac: string,
): Promise<void> {
  const port = await tenant.createPort({ networkId: data.networkId, macAddress: mac });
  await tenant.attach(systemUuid, { portId: port.id });
}

/** `multinic register-cluster`, as a person runs it. */
export async function register({ site }: Place): Promise<void> {
  const { kubeconfig } = site.cluster;
  await site.cluster.kubectl(['create', 'namespace', 'multinic-clusters']);
  const command = [join(bundleFolder, 'main.mjs'), 'register-cluster', provider, '--yes'];
  const clusters = ['--kubeconfig', kubeconfig, '--management-kubeconfig', kubeconfig];
  await promisify(execFile)(process.execPath, [...command, ...clusters]);
}
