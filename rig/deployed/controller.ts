import { loadKubeconfig } from '../../src/kube/access/kubeconfig.ts';
import { createReflector } from '../../src/kube/cache/reflector.ts';
import { Store } from '../../src/kube/cache/store.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { type Job, jobs, type Node, nodes, type Pod, pods } from '../../src/kube/core-resources.ts';
import { systemClock as clock, systemRandom as random } from '../../src/time/clock.ts';
import { openApi } from './api.ts';
import { type JobSettings, jobOf } from './job.ts';
import { type NodeConfig, nodeConfigs, pathOf } from './node-config.ts';
import { ofResult, type Status, type Summary, started } from './status.ts';

/**
 * Stands for the deployed controller: watches node configs of one namespace, sends an agent to a node when a spec changes,
 * writes what came of it. No queue, no retries, no finalizer; what fails is logged and forgotten.
 */
const { env } = process;
const namespace = env['CONTROLLER_NAMESPACE'] ?? env['POD_NAMESPACE'] ?? 'multinic-system';
const settings: JobSettings = {
  namespace,
  image: env['AGENT_IMAGE'] ?? 'multinic-agent:latest',
  serviceAccount: env['CONTROLLER_SA_NAME'] ?? 'multinic-agent',
  ttlSeconds: Number(env['CONTROLLER_JOB_TTL'] ?? 600),
};
/** How late its statuses are. */
const lateMs = Number(env['STAND_IN_LATE_MS'] ?? 200);
const agents = 'app.kubernetes.io/name=multinic-agent';

const kubeconfig = env['KUBECONFIG'] ?? '';
const api = await openApi(kubeconfig);
const client = createKubeClient(await loadKubeconfig(kubeconfig), { clock, random });
const configs = new Store<NodeConfig>();
const agentJobs = new Store<Job>();
const stopped = new AbortController();
process.once('SIGINT', () => stopped.abort(new Error('interrupted')));

function say(...words: unknown[]): void {
  console.log(new Date().toISOString(), ...words);
}

/** Errors are dropped, as there. */
function unheard(what: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => say(what, error instanceof Error ? error.message : error));
}

/** Whole status by PUT; on a conflict the whole object by PUT, which cannot work either, and then nothing. */
async function writeStatus(name: string, change: (before: NodeConfig) => Status): Promise<void> {
  await clock.sleep(lateMs, stopped.signal);
  const { body } = await api.request('GET', pathOf(namespace, name));
  const before = body as NodeConfig;
  const after = { ...before, status: { ...before.status, ...change(before) } };
  const { status } = await api.request('PUT', `${pathOf(namespace, name)}/status`, after);
  if (status === 409) await api.request('PUT', pathOf(namespace, name), after);
}

async function reconcile(config: NodeConfig): Promise<void> {
  const { name, generation = 0 } = config.metadata;
  const { state, observedGeneration } = config.status ?? {};
  const isDone = observedGeneration === generation && ['Configured', 'Failed'].includes(`${state}`);
  if (isDone) return;
  const nodeName = config.spec.nodeName ?? name;
  const node = await client.get(nodes, { name: nodeName });
  if (!isSame(config, node)) throw new Error(`instance of ${name} is not node ${nodeName}`);
  const job = jobOf(settings, { node, action: 'apply', suffix: `g${generation}` });
  if (await client.find(jobs, { namespace, name: job.metadata.name })) return;
  const specChanged = observedGeneration !== generation;
  await writeStatus(name, (now) => started(now, job.metadata.name, specChanged));
  await client.create(jobs, job);
  say(`job created: ${namespace}/${job.metadata.name} for node=${nodeName}`);
  await deleteOthers(nodeName, job.metadata.name);
}

function isSame({ spec, metadata }: NodeConfig, { status }: Node): boolean {
  const id = spec.instanceId ?? metadata.labels?.['multinic.io/instance-id'];
  return !id || id.trim().toLowerCase() === status?.nodeInfo?.systemUUID?.trim().toLowerCase();
}

/** Every other Job that says it is for this node goes, whoever made it and whatever it is at. */
async function deleteOthers(node: string, kept: string): Promise<void> {
  const labelSelector = `${agents},multinic.io/node-name=${node}`;
  const { items } = await client.listAll(jobs, { namespace, labelSelector });
  for (const { metadata } of items) {
    if (metadata.name === kept) continue;
    await client.delete(
      jobs,
      { namespace, name: metadata.name },
      { propagationPolicy: 'Background' },
    );
  }
}

async function cleanUp({ metadata }: NodeConfig): Promise<void> {
  const node = await client.get(nodes, { name: metadata.name });
  const job = jobOf(settings, { node, action: 'cleanup', suffix: undefined });
  if (await client.find(jobs, { namespace, name: job.metadata.name })) return;
  await client.create(jobs, job);
}

/** All Jobs, each time one of them changes; to which generation a result belongs nobody asks. */
async function processJobs(): Promise<void> {
  for (const job of agentJobs.list()) {
    const name = job.metadata.labels?.['multinic.io/node-name'] ?? '';
    const end = endOf(job);
    const config = end && (await client.find(nodeConfigs, { namespace, name }));
    if (!config || config.status?.state === end) continue;
    const summary = await summaryOf(job);
    await writeStatus(name, (now) => ofResult(now, end, summary));
    say(`job ended as ${end}: ${job.metadata.name}`);
  }
}

function endOf({ metadata, status }: Job): 'Configured' | 'Failed' | undefined {
  if (metadata.labels?.['multinic.io/action'] === 'cleanup') return undefined;
  if (status?.succeeded) return 'Configured';
  return status?.failed ? 'Failed' : undefined;
}

async function summaryOf(job: Job): Promise<Summary | undefined> {
  const labelSelector = `job-name=${job.metadata.name}`;
  const { items } = await client.listAll<Pod>(pods, { namespace, labelSelector });
  const messages = items.flatMap(
    ({ status }) => status?.containerStatuses?.[0]?.state?.terminated?.message ?? [],
  );
  try {
    return JSON.parse(messages.at(-1) ?? '') as Summary;
  } catch {
    // An agent that was killed has said nothing, or half of it.
    return undefined;
  }
}

/** At its start it looks at every node, before it works on any, and writes what it makes up of it. */
async function processAll(): Promise<void> {
  const { items } = await client.listAll(nodeConfigs, { namespace });
  for (const config of items) {
    const now = new Date().toISOString();
    await writeStatus(config.metadata.name, ({ spec }) => ({
      nodeReady: true,
      lastInterfaceCheck: now,
      interfaceStatuses: (spec.interfaces ?? []).map((entry, i) => ({
        name: `multinic${i}`,
        interfaceIndex: i,
        id: entry.id ?? i,
        macAddress: entry.macAddress,
        address: entry.address,
        cidr: entry.cidr,
        mtu: entry.mtu,
        actualState: 'Configured',
        lastChecked: now,
      })),
    }));
  }
}

const onError = (error: unknown): void => say('watch', String(error));
const watching = { client, clock, random, namespace, onError };
configs.subscribe(({ type, object }) => {
  if (type === 'deleted') unheard('cleanup', cleanUp(object));
  else unheard('reconcile', reconcile(object));
});
agentJobs.subscribe(({ type }) => {
  if (type === 'updated') unheard('jobs', processJobs());
});
await processAll().catch(onError);
say(`watching ${namespace}`);
await Promise.all([
  createReflector({ ...watching, resource: nodeConfigs, store: configs }).run(stopped.signal),
  createReflector({ ...watching, resource: jobs, store: agentJobs, labelSelector: agents }).run(
    stopped.signal,
  ),
]);
