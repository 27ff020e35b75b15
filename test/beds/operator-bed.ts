import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { home, identities } from '../../rig/chain/identities.ts';
import { createAll } from '../../rig/chain/manifests.ts';
import { type RunningCloud, startCloud } from '../../rig/cloud/start.ts';
import { findCondition } from '../../src/api/condition.ts';
import { metricTable } from '../../src/api/metrics.ts';
import { openstackConfigs, statusOf } from '../../src/operator/openstack-config.ts';
import { operatorSettings } from '../../src/operator/settings.ts';
import { startOperator } from '../../src/operator/start.ts';
import { createHealth } from '../../src/process/health.ts';
import { createLogger } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { readSettings } from '../../src/process/settings.ts';
import { systemClock, systemRandom } from '../../src/time/clock.ts';
import { about } from './about.ts';
import { namespace, ViolaBed } from './viola-bed.ts';

export const encryptKey = '0123456789abcdef';
/** The OpenstackConfig of tests that have one. */
export const ref: { readonly namespace: string; readonly name: string } = {
  namespace,
  name: 'osc',
};

/** A cloud of two servers, an API server and a Viola, for operators that are started as processes are. */
export class OperatorBed implements AsyncDisposable {
  readonly viola: ViolaBed;
  readonly cloud: RunningCloud;
  readonly directory: string;
  readonly violaUrl: string;
  readonly world: {
    readonly projectId: string;
    readonly networkId: string;
    readonly subnetId: string;
    readonly servers: string[];
  };
  /** What the operators have logged. */
  readonly lines: string[] = [];

  private constructor(parts: Pick<OperatorBed, 'viola' | 'cloud' | 'directory' | 'violaUrl'>) {
    ({
      viola: this.viola,
      cloud: this.cloud,
      directory: this.directory,
      violaUrl: this.violaUrl,
    } = parts);
    const { controls } = this.cloud;
    const { projectId } = controls.createProject({ name: 'tenant' });
    const { networkId } = controls.createNetwork({ projectId, mtu: 1442 });
    const { subnetId } = controls.createSubnet({ projectId, networkId, cidr: '10.0.10.0/24' });
    const servers = ['worker-1', 'worker-2'].map(
      (name) => controls.createServer({ projectId, name }).serverId,
    );
    this.world = { projectId, networkId, subnetId, servers };
  }

  static async open(): Promise<OperatorBed> {
    const viola = await ViolaBed.start();
    await createAll(viola.admin, 'operator');
    const violaUrl = await viola.app.listen({ host: '127.0.0.1', port: 0 });
    const cloud = await startCloud({ encryptKey });
    const directory = await mkdtemp(join(tmpdir(), 'multinic-operator-'));
    await writeFile(join(directory, 'token'), 'rw');
    return new OperatorBed({ viola, cloud, directory, violaUrl });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cloud[Symbol.asyncDispose]();
    await this.viola[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true });
  }

  /** A running operator; `stop` ends it as SIGTERM does. */
  async start(database = 'inventory.db', others: Record<string, string> = {}) {
    const stop = new AbortController();
    const metrics = createMetrics(metricTable);
    const flags = {
      kubeconfig: await this.viola.api.kubeconfig(this.viola.api.accessAs(identities.operator)),
      'viola-endpoint': this.violaUrl,
      'viola-token-file': join(this.directory, 'token'),
      'contrabass-endpoint': this.cloud.contrabassUrl,
      'contrabass-encrypt-key': encryptKey,
      // Where its stand-ins are.
      'allowed-endpoints': 'http://127.0.0.1:*,*',
      'poll-fast-interval': '1s',
      'poll-slow-interval': '1s',
      'poll-error-interval': '1s',
      'health-probe-bind-address': '127.0.0.1:0',
      'inventory-db-path': join(this.directory, database),
      namespace: home,
      ...others,
    };
    const inventory = Promise.withResolvers<() => Promise<string[]>>();
    const context = {
      clock: systemClock,
      random: systemRandom,
      log: createLogger({
        part: 'operator',
        level: 'debug',
        destination: { write: (line: string) => void this.lines.push(line) },
      }),
      metrics,
      health: createHealth(),
      about,
      exit: () => undefined,
    };
    const done = startOperator(
      readSettings(operatorSettings, { env: {}, flags }),
      context,
      stop.signal,
      async ({ store, unavailable }, signal) => {
        inventory.resolve(async () => {
          const records = await store.list();
          return records.map(({ nodeName }) => `${nodeName} ${unavailable() ?? 'fresh'}`);
        });
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    );
    return {
      inventory: await inventory.promise,
      metrics,
      async stop() {
        stop.abort(new Error('stopped by SIGTERM'));
        await done;
      },
    };
  }

  nics(): string[] {
    return this.viola.api
      .objects('multinicnodeconfigs.multinic.io')
      .flatMap(({ metadata, ...object }) => {
        const { spec } = object as { spec?: { interfaces?: { name?: string }[] } };
        return (spec?.interfaces ?? []).map(({ name }) => `${metadata.name} ${name}`);
      })
      .toSorted();
  }

  async ready(of = ref): Promise<string> {
    const object = await this.viola.admin.find(openstackConfigs, of);
    const condition = findCondition(object && statusOf(object).conditions, 'Ready');
    return `${condition?.status} ${condition?.reason}`;
  }

  attach(server: number): string {
    const serverId = this.world.servers[server] ?? '';
    return this.cloud.controls.attach({ serverId, networkId: this.world.networkId }).portId;
  }

  async createConfig(
    metadata = ref,
    servers: readonly string[] = this.world.servers,
    settings: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    await this.viola.admin.create(openstackConfigs, {
      metadata,
      spec: {
        subnetIDs: [this.world.subnetId],
        vmNames: [...servers],
        credentials: {
          openstackProviderID: this.cloud.providerId,
          k8sProviderID: 'biz-1',
          projectID: this.world.projectId,
        },
        settings,
      },
    });
  }
}
