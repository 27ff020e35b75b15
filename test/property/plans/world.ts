import { annotations } from '../../../src/api/names.ts';
import { type NodeConfig, nodeConfigs } from '../../../src/controller/objects/stores.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { configMaps, jobs, nodes, pods } from '../../../src/kube/core-resources.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import type { KubeObject, ObjectRef } from '../../../src/kube/object.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import type { Random } from '../../../src/time/clock.ts';
import type { ControllerFixture } from '../../fixtures/controller.ts';
import { entry } from '../../fixtures/controller-samples.ts';
import { Host, nicsOf, uuidOf } from './hosts.ts';
import { type Change, type DesiredPlan, type Fault, type FaultKind, nodeNames } from './plan.ts';
import { Connection } from './unkind-client.ts';

const agents = 'multinic-agents';
const system = 'multinic-system';

/** A node that is away, and what it is when it is back. */
interface Away {
  readonly until: number;
  readonly back: () => Promise<void>;
}

/** The nodes and whoever asks for NICs on them, on a controller bed. */
export class FaultyCluster {
  readonly hosts: ReadonlyMap<string, Host>;
  readonly connection: Connection;
  readonly #bed: ControllerFixture;
  readonly #wishes = new Map<string, DesiredPlan>();
  readonly #away = new Map<string, Away>();
  readonly #met: (kind: FaultKind) => void;

  constructor(bed: ControllerFixture, random: Random, met: (kind: FaultKind) => void) {
    this.#bed = bed;
    this.#met = met;
    this.connection = new Connection(bed.clock, met);
    this.hosts = new Map(
      nodeNames.map((name) => [name, new Host(name, bed.clock, random, met)] as const),
    );
    bed.through = (client) => this.connection.through(client);
    bed.agents.answer = (request) => this.host(request.nodeName).answer(request);
  }

  host(name: string): Host {
    const host = this.hosts.get(name);
    if (!host) throw new Error(`there is no host ${name}`);
    return host;
  }

  async open(): Promise<void> {
    for (const host of this.hosts.values()) await this.#join(host);
  }

  /** Objects as the server has them now. */
  configs(): readonly NodeConfig[] {
    const list = this.#bed.api.objects('multinicnodeconfigs.multinic.io', system);
    return list.map((object) => nodeConfigs.parse?.(object) as NodeConfig);
  }

  change(change: Change): void {
    if (change.kind === 'post') this.#wishes.set(change.node, change.wish);
    else this.#wishes.delete(change.node);
  }

  /** What Viola and the kubelets do by themselves: what is wanted is posted until it is there, who is back says so. */
  async proceed(): Promise<void> {
    const now = this.#bed.clock.monotonicMs();
    for (const [name, { until, back }] of this.#away) {
      if (now < until) continue;
      this.#away.delete(name);
      await back();
    }
    for (const name of nodeNames) await this.#deliver(name);
  }

  /** Whether the objects are those that are wanted. */
  get delivered(): boolean {
    const there = new Map(this.configs().map((config) => [config.metadata.name, config]));
    return (
      there.size === this.#wishes.size &&
      [...this.#wishes].every(([name, wish]) => isAsWished(there.get(name), name, wish))
    );
  }

  async #deliver(name: string): Promise<void> {
    const wish = this.#wishes.get(name);
    const there = this.configs().find(({ metadata }) => metadata.name === name);
    // Whoever is being deleted is let go first.
    if (there?.metadata.deletionTimestamp || isAsWished(there, name, wish)) return;
    await this.connection.remember();
    if (wish) await this.#bed.apply(name, specOf(name, wish));
    else await this.#withdraw(name);
  }

  async #withdraw(name: string): Promise<void> {
    const ref = { namespace: system, name };
    const consent = { [annotations.deleteConsent]: this.#bed.clock.now().toISOString() };
    await this.#bed.admin.patch(nodeConfigs, ref, { metadata: { annotations: consent } });
    await this.#bed.delete(name);
  }

  /** Lets a node fail; another failure of a node that is away replaces the first. */
  async fail(fault: Extract<Fault, { readonly forMs: number; readonly node: string }>) {
    const { kind, node, forMs } = fault;
    const host = this.host(node);
    this.#met(kind);
    this.#bed.agents.dead.add(node);
    if (kind === 'reboot') host.reboot();
    if (kind === 'rebuild' || kind === 'replace') host.rebuild();
    if (kind === 'replace') await this.#remove(node);
    else if (kind !== 'unnoticed') await gone(this.#bed.setReady(node, 'Unknown'));
    const until = this.#bed.clock.monotonicMs() + forMs;
    this.#away.set(node, { until, back: () => this.#join(host) });
  }

  /** The Node is deleted, and its Pods with it, as the garbage collector of Pods does. */
  async #remove(name: string): Promise<void> {
    await gone(this.#bed.admin.delete(nodes, { name }));
    for (const { metadata, spec } of this.#bed.pods()) {
      if (spec?.nodeName !== name) continue;
      const ref = { namespace: agents, name: metadata.name };
      await gone(this.#bed.admin.delete(pods, ref, { gracePeriodSeconds: 0 }));
    }
  }

  /** As a kubelet that starts: its Node is there, says what it is, and is ready. */
  async #join(host: Host): Promise<void> {
    const { name } = host;
    if (!(await this.#bed.admin.find(nodes, { name }))) {
      await this.#bed.admin.create(nodes, { metadata: { name } });
    }
    const status = {
      addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
      nodeInfo: host.info,
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' }],
    };
    await this.#bed.admin.patchStatus(nodes, { name }, { status });
    this.#bed.agents.dead.delete(name);
  }

  /** Somebody deletes one of the controller's Jobs, or what it mounts. */
  async deleteByHand(kind: 'job-deleted' | 'config-map-deleted'): Promise<void> {
    const [job] = this.#bed.jobs();
    if (!job) return;
    const ref = { namespace: agents, name: job.metadata.name };
    const found =
      kind === 'job-deleted'
        ? this.#bed.admin.delete(jobs, ref, { propagationPolicy: 'Background' })
        : this.#bed.admin.delete(configMaps, ref);
    if (await gone(found)) this.#met(kind);
  }

  /** Nothing fails any more, and every node is back. */
  async heal(): Promise<void> {
    this.connection.clear();
    this.#bed.onEffect = () => undefined;
    for (const host of this.hosts.values()) host.heal();
    for (const [name, { back }] of this.#away) {
      this.#away.delete(name);
      await back();
    }
  }

  /** Takes everything away, so that another world can begin; the controller has to be stopped before. */
  async close(): Promise<void> {
    const { admin } = this.#bed;
    for (const { metadata } of this.configs()) {
      const ref = { namespace: system, name: metadata.name };
      await gone(admin.patch(nodeConfigs, ref, { metadata: { finalizers: null } }));
      await gone(admin.delete(nodeConfigs, ref));
    }
    await clear(admin, jobs, agents);
    await clear(admin, pods, agents);
    await clear(admin, configMaps, agents);
    for (const name of nodeNames) await gone(admin.delete(nodes, { name }));
    this.#bed.agents.dead.clear();
    this.#bed.agents.clockSkewMs = 0;
    this.#bed.wallOffsetMs = 0;
  }
}

async function clear<T extends KubeObject>(
  admin: KubeClient,
  kind: Resource<T>,
  namespace: string,
) {
  for (const { metadata } of (await admin.listAll(kind, { namespace })).items) {
    const ref: ObjectRef = { namespace, name: metadata.name };
    await gone(admin.patch(kind, ref, { metadata: { finalizers: null } }));
    await gone(admin.delete(kind, ref, { gracePeriodSeconds: 0, propagationPolicy: 'Background' }));
  }
}

/** Whether there was something to change or delete. */
async function gone(done: Promise<unknown>): Promise<boolean> {
  try {
    await done;
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return false;
  }
}

function specOf(name: string, { indexes, mtu }: DesiredPlan) {
  return { instanceId: uuidOf(name), interfaces: indexes.map((index) => entry(index, { mtu })) };
}

function isAsWished(
  config: NodeConfig | undefined,
  name: string,
  wish: DesiredPlan | undefined,
): boolean {
  if (!config || !wish) return !config && !wish;
  const { interfaces } = specOf(name, wish);
  return nicsOf(config).join() === nicsOf({ ...config, spec: { interfaces } }).join();
}
