import { createHash } from 'node:crypto';
import { Registry } from 'prom-client';
import { about } from '../../../test/fixtures/about.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import type { NodeView, PortView } from '../../api/read-http.ts';
import type { HttpServer } from '../../http/app.ts';
import { createHttpServer } from '../../http/server.ts';
import { createHealth } from '../../process/health.ts';
import { createLogger } from '../../process/log.ts';
import { systemClock } from '../../time/clock.ts';
import { serveReads } from '../read-api/routes.ts';
import { FakeCloud } from './fake-cloud.ts';
import { FakeViola } from './fake-viola.ts';
import { attach, type Scene, serverIds, setScene, spec } from './scene.ts';

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const token = (name: string, providers: string[], verb: 'read' | 'write' = 'read') => ({
  name,
  sha256: sha256(name),
  providers,
  verbs: [verb],
});
const grants = [token('one', ['biz-1']), token('two', ['biz-2']), token('w', ['*'], 'write')];

export interface Answer<T> {
  readonly status: number;
  readonly items: readonly T[];
  readonly body: Record<string, unknown>;
}

export const nodeNames = ({ items }: Answer<NodeView>): string[] =>
  items.map(({ providerId, nodeName }) => `${providerId}/${nodeName}`);

export const portIds = ({ items }: Answer<PortView>): string[] => items.map(({ portId }) => portId);

/** Status of a node with a single configured NIC. */
export const configured = (portId: string, macAddress: string): NodeConfigStatus => ({
  state: 'Configured',
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Configured',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
  interfaceStatuses: [
    { name: 'multinic0', portId, macAddress, status: 'Configured', reason: 'Configured' },
  ],
  applied: { checkedAt: '2026-01-01T00:00:30Z', family: 'netplan' },
});

/** The read API on a scene, with callers `one` (biz-1), `two` (biz-2) and `w` (may not read). */
export class ReadApiFixture {
  readonly scene: Scene;
  /** Why this replica does not lead; undefined: leads. */
  unavailable: string | undefined;
  readonly #app: HttpServer;

  private constructor(scene: Scene, app: HttpServer) {
    this.scene = scene;
    this.#app = app;
  }

  static async open(): Promise<ReadApiFixture> {
    const app = await createHttpServer({
      title: 'Inventory',
      clock: systemClock,
      log: createLogger({ part: 'test', level: 'silent' }),
      health: createHealth(),
      about,
      registry: new Registry(),
    });
    const fixture = new ReadApiFixture(await setScene(), app);
    serveReads(app, {
      deps: fixture.scene.readDeps(),
      tokens: { current: async () => grants },
      unavailable: () => fixture.unavailable,
    });
    return fixture;
  }

  /** `as`: remote caller; undefined: loopback. */
  async get<T = Record<string, unknown>>(path: string, as?: string): Promise<Answer<T>> {
    const answer = await this.#app.inject({
      url: `/v1/${path}`,
      remoteAddress: as === undefined ? '127.0.0.1' : '10.0.0.9',
      headers: as === undefined ? {} : { authorization: `Bearer ${as}` },
    });
    const body = answer.json<Record<string, unknown>>();
    return { status: answer.statusCode, items: (body['items'] ?? []) as T[], body };
  }

  /** Delivers p1 on worker-1 and p2 on worker-2. */
  async deliver(): Promise<void> {
    attach(this.scene.cloud, 1, 1);
    attach(this.scene.cloud, 2, 2);
    this.scene.create();
    await this.scene.look();
  }

  /** Reports a node's status, like a controller. */
  report(nodeName: string, status: NodeConfigStatus): void {
    const node = this.scene.viola.nodes.get(nodeName);
    if (!node) throw new Error(`no node ${nodeName}`);
    const { generation } = node;
    this.scene.viola.put({ ...node, status: { observedGeneration: generation, ...status } });
  }

  /** Adds an OpenstackConfig in a second cloud and business cluster, with port `p9` on the third server. */
  async addTenant(change: Partial<FakeCloud['ports'][number]> = {}): Promise<FakeCloud> {
    const { scene } = this;
    const cloud = new FakeCloud('project-2');
    const { vms, subnets, networks } = scene.cloud;
    const own = vms.map((vm) => ({ ...vm, projectId: 'project-2' }));
    Object.assign(cloud, { name: 'https://other.test', vms: own, subnets, networks });
    attach(cloud, 9, 3);
    cloud.ports = cloud.ports.map((port) => ({ ...port, projectId: 'project-2', ...change }));
    scene.clouds.projects.set('project-2', cloud);
    scene.otherViolas.set('biz-2', new FakeViola());
    const credentials = { ...spec.credentials, projectID: 'project-2', k8sProviderID: 'biz-2' };
    const other = { vmNames: serverIds.slice(2), credentials };
    scene.create(other, { name: 'tenant', uid: 'tenant-uid' });
    await scene.lookAt('multinic-system/tenant');
    await scene.lookAt('multinic-system/tenant');
    return cloud;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.close();
    await this.scene[Symbol.asyncDispose]();
  }
}
