import { createHash } from 'node:crypto';
import { systemClock as clock, passed } from '../../src/time/clock.ts';
import { openApi } from './api.ts';
import { type Cloud, openCloud } from './cloud.ts';

/**
 * Stands for the deployed operator: polls the cloud for each OpenstackConfig, numbers NICs by MAC, posts nodes that changed
 * to Viola without a token, and takes any 200 or 202 for all of them. What it sent it remembers until it ends.
 */
interface Config {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly creationTimestamp: string;
  };
  readonly spec: {
    readonly subnetIDs?: readonly string[];
    readonly subnetID?: string;
    readonly vmNames: readonly string[];
    readonly credentials: {
      readonly openstackProviderID: string;
      readonly k8sProviderID: string;
      readonly projectID: string;
    };
    readonly settings?: {
      readonly contrabassEndpoint?: string;
      readonly contrabassEncryptKey?: string;
      readonly violaEndpoint?: string;
    };
  };
  readonly status?: object;
}

interface PostedNode {
  readonly nodeName: string;
  readonly instanceId: string;
  readonly interfaces: readonly object[];
}

const { env } = process;
const pollMs = Number(env['STAND_IN_POLL_MS'] ?? 1000);
const api = await openApi(env['KUBECONFIG'] ?? '');
const all = '/apis/multinic.example.com/v1alpha1/openstackconfigs';
const sent = new Map<string, string>();
const stopped = new AbortController();
process.once('SIGTERM', () => stopped.abort());

async function encryptKeyOf({ metadata, spec }: Config): Promise<string> {
  const path = `/api/v1/namespaces/${metadata.namespace}/secrets/contrabass-encrypt-key`;
  const { status, body } = await api.request('GET', path);
  const { data = {} } = (status === 200 ? body : {}) as { data?: Record<string, string> };
  const found = data['CONTRABASS_ENCRYPT_KEY'];
  if (found) return Buffer.from(found, 'base64').toString();
  return spec.settings?.contrabassEncryptKey ?? env['CONTRABASS_ENCRYPT_KEY'] ?? '';
}

/** The NICs of a server in the order of their MACs, numbered anew each time; the first one's id is 0 and left out. */
async function nodeOf(
  config: Config,
  cloud: Cloud,
  server: string,
): Promise<PostedNode | undefined> {
  const { spec, metadata } = config;
  const subnets = spec.subnetIDs ?? [spec.subnetID ?? ''];
  const ports = await cloud.ports([server]);
  const nics = await Promise.all(
    ports
      .filter((port) => port.created_at >= metadata.creationTimestamp)
      .flatMap((port) => {
        const ip = port.fixed_ips.find((one) => subnets.includes(one.subnet_id));
        return ip ? [{ port, ip }] : [];
      })
      .toSorted((a, b) => (a.port.mac_address < b.port.mac_address ? -1 : 1))
      .slice(0, 10)
      .map(async ({ port, ip }, index) => ({
        ...(index === 0 ? {} : { id: index }),
        portId: port.id,
        name: `multinic${index}`,
        macAddress: port.mac_address,
        address: ip.ip_address,
        cidr: await cloud.cidr(ip.subnet_id),
        // As the original: a network that cannot be read costs the MTU alone, whatever the reason.
        mtu: await cloud.mtu(port.network_id).catch(() => undefined),
        deviceId: server,
        networkId: port.network_id,
        subnetId: ip.subnet_id,
      })),
  );
  // A node without NICs is not sent: its last one is never taken away.
  if (nics.length === 0) return undefined;
  const nodeName = await cloud.serverName(server).catch(() => server);
  return { nodeName, instanceId: server, interfaces: nics };
}

async function sync(config: Config): Promise<[reason: string, message: string]> {
  const { spec } = config;
  const { openstackProviderID: provider, projectID: project, k8sProviderID } = spec.credentials;
  const contrabass = spec.settings?.contrabassEndpoint ?? env['CONTRABASS_ENDPOINT'] ?? '';
  const cloud = await openCloud(contrabass, await encryptKeyOf(config), { provider, project });
  const nodes = await Promise.all(spec.vmNames.map((server) => nodeOf(config, cloud, server)));
  const changed = nodes.flatMap((node) => {
    if (!node) return [];
    const key = `${k8sProviderID}|${node.nodeName}`;
    const hash = createHash('sha256').update(JSON.stringify(node)).digest('hex');
    return sent.get(key) === hash ? [] : [{ key, hash, node }];
  });
  if (changed.length === 0) return ['NoChange', 'no changes detected'];
  const nodesChanged = changed.map(({ node }) => node);
  await post(
    spec.settings?.violaEndpoint ?? env['VIOLA_ENDPOINT'] ?? '',
    k8sProviderID,
    nodesChanged,
  );
  for (const { key, hash } of changed) sent.set(key, hash);
  return ['Synced', `synced ${changed.length} node(s)`];
}

/** Without a token, and without a look at what the answer says of each node. */
async function post(viola: string, provider: string, nodes: readonly PostedNode[]): Promise<void> {
  const { status } = await fetch(`${viola}/v1/k8s/multinic/node-configs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-provider-id': provider },
    body: JSON.stringify(nodes),
  });
  if (status !== 200 && status !== 202) throw new Error(`viola: unexpected status ${status}`);
}

async function look(config: Config): Promise<void> {
  const { namespace, name } = config.metadata;
  let ready = { status: 'True', reason: '', message: '' };
  try {
    const [reason, message] = await sync(config);
    ready = { status: 'True', reason, message };
  } catch (error) {
    ready = { status: 'False', reason: 'ViolaPostError', message: String(error) };
  }
  console.log(new Date().toISOString(), name, ready.reason, ready.message);
  const at = { lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z` };
  const conditions = [{ type: 'Ready', ...ready, ...at }];
  const path = `/apis/multinic.example.com/v1alpha1/namespaces/${namespace}/openstackconfigs/${name}`;
  await api.request('PUT', `${path}/status`, {
    ...config,
    status: { ...config.status, conditions },
  });
}

while (!stopped.signal.aborted) {
  const { body } = await api.request('GET', all);
  const { items = [] } = body as { items?: readonly Config[] };
  for (const config of items) {
    const whole = {
      apiVersion: 'multinic.example.com/v1alpha1',
      kind: 'OpenstackConfig',
      ...config,
    };
    await look(whole).catch((error: unknown) => console.log(String(error)));
  }
  await passed(clock, pollMs, stopped.signal);
}
