import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import { identities } from '../../rig/chain/identities.ts';
import { createAll } from '../../rig/chain/manifests.ts';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import type { Effect } from '../../src/api/effects.ts';
import { metricTable } from '../../src/api/metrics.ts';
import type { NodeConfigSpec } from '../../src/api/multinicnodeconfig.ts';
import { createLoop } from '../../src/controller/loop.ts';
import { controllerSettings } from '../../src/controller/settings.ts';
import { type NodeConfig, nodeConfigs, type ReadableSpec } from '../../src/controller/stores.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { type Job, nodes, type Pod } from '../../src/kube/core-resources.ts';
import { createPerform } from '../../src/process/effects.ts';
import { createHealth } from '../../src/process/health.ts';
import { createLogger } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { readSettings } from '../../src/process/settings.ts';
import { type Clock, systemClock } from '../../src/time/clock.ts';
import { createFakeClock, type FakeClock } from '../../src/time/fake-clock.ts';
import { about } from './about.ts';
import { instanceId } from './controller-samples.ts';
import { ScriptedAgents } from './scripted-agents.ts';

const system = 'multinic-system';
const agentNamespace = 'multinic-agents';

/** Time that passes for the controller while a test looks once. */
const stepMs = 100;
const patienceMs = 15_000;

/** A controller on the embedded API server, with nodes whose agents answer what a test wants. */
export class ControllerBed implements AsyncDisposable {
  readonly api: ApiServer;
  readonly admin: KubeClient;
  readonly agents: ScriptedAgents;
  readonly clock: FakeClock;
  /** Of the controller that was started last. */
  metrics = createMetrics(metricTable);
  /** Called around each external write; a throw stops the controller there, as a SIGKILL would. */
  onEffect: (effect: Effect, phase: 'before' | 'after') => void = () => undefined;
  /** What stands between the controller and its server. */
  through: (client: KubeClient) => KubeClient = (client) => client;
  /** What the controllers have logged. */
  readonly lines: string[] = [];
  /** How far the wall clock of the controller is off. */
  wallOffsetMs = 0;
  #running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;

  private constructor(api: ApiServer, admin: KubeClient, clock: FakeClock) {
    this.api = api;
    this.admin = admin;
    this.clock = clock;
    this.agents = new ScriptedAgents(admin, this.clock);
  }

  /**
   * What the cluster's CustomResourceDefinition is too old to know: `withoutInRecord` fields of `status.applied`,
   * `withoutInStatus` paths like `interfaceStatuses.mtu`.
   */
  static async start({
    withoutInRecord = [],
    withoutInStatus = [],
  }: {
    readonly withoutInRecord?: readonly string[];
    readonly withoutInStatus?: readonly string[];
  } = {}): Promise<ControllerBed> {
    const unknown = [...withoutInRecord.map((field) => `applied.${field}`), ...withoutInStatus];
    // One clock for the server, its Job controller and ours: deadlines of Jobs are seen in tests too.
    const clock = createFakeClock(new Date());
    const api = await startApiServer({ crds: crdsWithout(unknown), clock });
    const admin = createKubeClient(api.access, { clock: systemClock });
    await createAll(admin, 'namespaces', 'controller');
    return new ControllerBed(api, admin, clock);
  }

  /** Runs a controller with the rights of its manifest; of an earlier one it knows nothing. */
  run(flags: Readonly<Record<string, string>> = {}): void {
    const stop = new AbortController();
    this.#running = { stop, done: this.#runUntil(stop, flags) };
  }

  async #runUntil(stop: AbortController, flags: Readonly<Record<string, string>>): Promise<void> {
    const metrics = createMetrics(metricTable);
    this.metrics = metrics;
    const clock: Clock = {
      ...this.clock,
      now: () => new Date(this.clock.now().getTime() + this.wallOffsetMs),
    };
    const access = this.api.accessAs(identities.controller);
    await using direct = createKubeClient(access, { clock, random: half });
    const client = this.through(direct);
    const log = createLogger({
      part: 'controller',
      level: 'info',
      destination: { write: (line) => this.lines.push(line) },
    });
    const loop = createLoop({
      client,
      values: readSettings(controllerSettings, { env: {}, flags }),
      context: {
        clock,
        random: half,
        log,
        metrics,
        health: createHealth(),
        about,
        exit: () => undefined,
      },
      perform: createPerform<Effect>((effect, phase) => {
        try {
          this.onEffect(effect, phase);
        } catch (error) {
          stop.abort(error);
          throw error;
        }
      }),
    });
    await loop.run(stop.signal);
  }

  /** Ends the controller. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (!running) return;
    running.stop.abort(new Error('stopped'));
    let ended = false;
    const end = running.done.finally(() => {
      ended = true;
    });
    // Time has to pass for what waits in the controller.
    await Promise.all([
      end,
      this.eventually(
        () => ended,
        () => 'the controller goes on',
      ),
    ]);
  }

  /** Whether the controller has ended, at an effect that threw for example. */
  get stopped(): boolean {
    return this.#running?.stop.signal.aborted ?? true;
  }

  async addNode(name: string, systemUUID = instanceId, address = '192.0.2.1'): Promise<void> {
    await this.admin.create(nodes, { metadata: { name } });
    await this.setNode(name, { systemUUID }, address);
  }

  async setNode(name: string, nodeInfo: object, address = '192.0.2.1'): Promise<void> {
    const status = { addresses: [{ type: 'InternalIP', address }], nodeInfo };
    await this.admin.patchStatus(nodes, { name }, { status });
  }

  /** What a node's kubelet, or the node controller in its place, says of the node. */
  async setReady(name: string, status: 'True' | 'False' | 'Unknown'): Promise<void> {
    const lastTransitionTime = this.clock.now().toISOString();
    const conditions = [{ type: 'Ready', status, reason: 'Test', message: '', lastTransitionTime }];
    await this.admin.patchStatus(nodes, { name }, { status: { conditions } });
  }

  /** Writes an object as Viola does. */
  apply(name: string, spec: Partial<NodeConfigSpec>, metadata: object = {}): Promise<NodeConfig> {
    const wanted: ReadableSpec = { nodeName: name, instanceId, ...(spec as ReadableSpec) };
    const object = { metadata: { name, namespace: system, ...metadata }, spec: wanted };
    return this.admin.apply(nodeConfigs, object, { fieldManager: 'viola', force: true });
  }

  find(name: string): Promise<NodeConfig | undefined> {
    return this.admin.find(nodeConfigs, { namespace: system, name });
  }

  async get(name: string): Promise<NodeConfig> {
    return this.admin.get(nodeConfigs, { namespace: system, name });
  }

  delete(name: string): Promise<void> {
    return this.admin.delete(nodeConfigs, { namespace: system, name });
  }

  /** Waits until the object is as wanted, and answers it. */
  async until(name: string, wanted: (config: NodeConfig) => boolean): Promise<NodeConfig> {
    let seen: NodeConfig | undefined;
    await this.eventually(
      async () => {
        seen = await this.find(name);
        return seen !== undefined && wanted(seen);
      },
      () => `${name} is ${JSON.stringify(seen?.status, undefined, 1)}`,
    );
    return this.get(name);
  }

  /** Waits until the condition Ready is this (`True AllInterfacesConfigured`) for the current generation. */
  untilReady(name: string, wanted: string): Promise<NodeConfig> {
    return this.until(name, ({ metadata, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      const current = status?.observedGeneration === metadata.generation;
      return current && `${ready?.status} ${ready?.reason}` === wanted;
    });
  }

  async untilGone(name: string): Promise<void> {
    const gone = async (): Promise<boolean> => (await this.find(name)) === undefined;
    await this.eventually(gone, () => `${name} stays`);
  }

  async eventually(holds: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
    const limit = performance.now() + patienceMs;
    while (!(await holds())) {
      if (performance.now() > limit) throw new Error(`not seen in time: ${what()}`);
      await this.pass(1);
    }
  }

  /** Lets time pass, step by step, while agents do their work. */
  async pass(steps: number): Promise<void> {
    for (let i = 0; i < steps; i++) {
      await this.agents.work(this.pods());
      await this.clock.advance(stepMs);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  jobs(): readonly Job[] {
    return this.api.objects('jobs.batch', agentNamespace);
  }

  pods(): readonly Pod[] {
    return this.api.objects('pods', agentNamespace);
  }

  /** How many objects of this kind the controller has created. */
  created(resource: string): number {
    return this.#own().filter(
      (entry) => entry.verb === 'create' && entry.resource === resource && entry.status === 201,
    ).length;
  }

  /** Writes of the controller that took effect, events excepted. */
  writes(): readonly string[] {
    return this.#own()
      .filter(
        ({ verb, resource, status }) =>
          /^(create|patch|delete)$/.test(verb) && resource !== 'events' && status < 300,
      )
      .map(({ verb, resource, subresource }) =>
        [verb, resource, subresource].filter(Boolean).join(' '),
      );
  }

  /** Reasons of the events that were written about objects. */
  events(): readonly string[] {
    return this.api
      .objects('events', system)
      .map((event) => String((event as { readonly reason?: string }).reason));
  }

  /** Condition Ready of an object: `True AllInterfacesConfigured`. */
  async ready(name: string): Promise<string> {
    const { status } = await this.get(name);
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    return `${ready?.status} ${ready?.reason}`;
  }

  #own() {
    return this.api.audit.filter(({ user }) => user === identities.controller);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.admin[Symbol.asyncDispose]();
    await this.api.close();
  }
}

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
}

/** Our kinds as an earlier version defined them, without some fields of a status. */
function crdsWithout(paths: readonly string[]) {
  return Object.values(crdDefinitions()).map((crd) => {
    const text = JSON.stringify(crd, (key, value: unknown) => {
      const copy = structuredClone(value);
      if (key === 'status') for (const path of paths) drop(copy as Schema, path.split('.'));
      return copy;
    });
    return JSON.parse(text) as typeof crd;
  });
}

function drop(schema: Schema | undefined, [field = '', ...rest]: readonly string[]): void {
  const { properties } = schema?.items ?? schema ?? {};
  if (rest.length > 0) drop(properties?.[field], rest);
  else if (properties) delete properties[field];
}

function half(): number {
  return 0.5;
}
