import type { OpenstackConfigSpec } from '../../../src/api/openstackconfig.ts';
import type { ObjectRef } from '../../../src/kube/object.ts';
import { FakeCloud } from '../../../src/operator/testing/fake-cloud.ts';
import {
  attach,
  environment,
  type Scene,
  serverIds,
  setScene,
  spec,
} from '../../../src/operator/testing/scene.ts';

const system = 'multinic-system';
const ownCluster = 'cluster-1';
const env = { ...environment, DELETION_DELAY: '30s' };

/** OpenstackConfig of a life, with the management cluster that it is in. */
interface Config {
  readonly scene: Scene;
  readonly ref: ObjectRef;
  spec: OpenstackConfigSpec;
}

/**
 * A business cluster with a team that never removes a NIC: its OpenstackConfig is renamed, restarted and moved only.
 * Strangers try to take its nodes: namesakes in a second management cluster, and accounts of other clouds.
 */
export class Life implements AsyncDisposable {
  readonly scene: Scene;
  /** Second management cluster, with the same cloud and business cluster. */
  readonly second: Scene;
  readonly thiefCloud = new FakeCloud('project-2');
  /** The team's OpenstackConfig; a rename replaces it. */
  own: Config;
  readonly strangers = new Map<string, Config>();
  readonly flaws: string[] = [];
  removed = 0;
  readonly #names = new Map<string, string>();
  #renames = 0;
  #ports = 100;

  private constructor(scene: Scene, second: Scene) {
    this.scene = scene;
    this.second = second;
    this.own = { scene, ref: { namespace: system, name: 'osc' }, spec };
    second.kube.cluster = 'cluster-2';
    second.otherViolas.set('biz-1', scene.viola).set('biz-2', scene.viola);
    // A second id of the same business cluster.
    scene.otherViolas.set('biz-2', scene.viola);
    scene.clouds.projects.set('project-2', this.thiefCloud);
    this.thiefCloud.host = 'keystone.thief.test:443';
    this.#watchRemovals();
  }

  static async start(): Promise<Life> {
    const life = new Life(await setScene(env), await setScene(env));
    const { scene } = life;
    for (const [n, server] of [1, 1, 2, 2].entries()) attach(scene.cloud, n + 1, server);
    scene.create();
    await life.syncAll(15_000);
    life.check();
    return life;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scene[Symbol.asyncDispose]();
    await this.second[Symbol.asyncDispose]();
  }

  /** Every removal is a violation, because the team keeps all ports and selects all nodes. */
  #watchRemovals(): void {
    const { viola } = this.scene;
    const remove = viola.remove.bind(viola);
    viola.remove = async (nodeName, base, why) => {
      const outcome = await remove(nodeName, base, why);
      if (outcome !== 'leaving') return outcome;
      this.removed += 1;
      this.flaws.push(`${nodeName} was deleted (${why?.basis})`);
      return outcome;
    };
  }

  /** Reconciles all OpenstackConfigs after a pause, in both management clusters; the strangers are first. */
  async syncAll(afterMs: number): Promise<void> {
    const ownRef = keyOf(this.own.ref);
    await this.scene.clock.advance(afterMs);
    await this.second.clock.advance(afterMs);
    this.second.cloud.ports = this.scene.cloud.ports;
    for (const scene of [this.scene, this.second]) {
      const keys = scene.kube.configs.keys().toSorted((a) => (a === ownRef ? 1 : -1));
      for (const key of [...keys, ...keys]) await scene.lookAt(key);
    }
    this.check();
  }

  /** Adds violations: a NIC that left, or changed its name. */
  check(): void {
    const { cloud, viola } = this.scene;
    const entries = [...viola.nodes.values()].flatMap(
      ({ spec: { interfaces = [] } }) => interfaces,
    );
    const names = new Map(entries.map(({ macAddress, name = '' }) => [macAddress, name]));
    for (const { macAddress } of cloud.ports) {
      const [before, now] = [this.#names.get(macAddress), names.get(macAddress)];
      if (before !== undefined && now !== before) {
        this.flaws.push(`${macAddress} was ${before}, and is ${now ?? 'gone'}`);
      }
      if (now !== undefined) this.#names.set(macAddress, now);
    }
  }

  /** Renames the team's OpenstackConfig; true: the former is deleted first. */
  async rename(isPrunedFirst: boolean, namespace: string): Promise<void> {
    const { ref: former, spec: wanted } = this.own;
    const ref = { namespace, name: `renamed-${++this.#renames}` };
    const prune = async () => {
      this.scene.kube.delete(former);
      await this.scene.lookAt(keyOf(former));
    };
    if (isPrunedFirst) await prune();
    this.scene.create(wanted, { ...ref, uid: `uid-${ref.name}` });
    this.own = { ...this.own, ref };
    await this.syncAll(0);
    if (!isPrunedFirst) await prune();
    await this.syncAll(0);
  }

  /** Changes the team's selection of business cluster or cloud, never of nodes and subnets. */
  edit(change: Partial<OpenstackConfigSpec['credentials']>): void {
    const { credentials } = this.own.spec;
    this.own.spec = { ...this.own.spec, credentials: { ...credentials, ...change } };
    this.scene.kube.edit(this.own.spec, this.own.ref);
  }

  /** Makes a port anew with its MAC and address, as `terraform apply -replace` does. */
  replacePort(at: number): void {
    const { cloud } = this.scene;
    const replaced = cloud.ports[at % cloud.ports.length];
    if (!replaced) return;
    const id = `p${++this.#ports}`;
    cloud.ports = cloud.ports.map((port) => (port === replaced ? { ...port, id } : port));
  }

  /** Creates a stranger's OpenstackConfig for some servers, edits it to them, or deletes it. */
  stranger(kind: 'namesake' | 'thief', servers: readonly string[] | undefined): void {
    const isThief = kind === 'thief';
    const scene = isThief ? this.scene : this.second;
    const ref = isThief ? { namespace: 'thieves', name: 'thief' } : this.own.ref;
    const key = `${kind} ${keyOf(ref)}`;
    const credentials = isThief
      ? { ...spec.credentials, projectID: 'project-2' }
      : this.own.spec.credentials;
    const known = this.strangers.get(key);
    if (servers === undefined) {
      if (known) known.scene.kube.delete(known.ref);
      this.strangers.delete(key);
      return;
    }
    const wanted = { ...spec, credentials, vmNames: [...servers] };
    if (known) scene.kube.edit(wanted, ref);
    else if (!scene.kube.configs.get(keyOf(ref))) {
      scene.create(wanted, { ...ref, uid: `uid-of-${kind}-${this.#renames}` });
    } else return;
    this.strangers.set(key, { scene, ref, spec: wanted });
  }

  /** The thief's cloud shows the team's servers with ports of its own. */
  furnishThief(): void {
    this.thiefCloud.vms = this.scene.cloud.vms;
    this.thiefCloud.subnets = this.scene.cloud.subnets;
    this.thiefCloud.networks = this.scene.cloud.networks;
  }

  /** Waits until all that began has ended; a node that has lost the team as owner is a violation. */
  async settle(): Promise<void> {
    for (let n = 0; n < 8; n++) await this.syncAll(60_000);
    for (const { nodeName, source } of this.scene.viola.nodes.values()) {
      const isOwn = source?.cluster === ownCluster && source.name === this.own.ref.name;
      if (!isOwn) this.flaws.push(`${nodeName} belongs to ${JSON.stringify(source)}`);
    }
    if (this.scene.viola.nodes.size !== 2) this.flaws.push('a node is gone');
  }
}

export const allServers: readonly string[] = serverIds;

function keyOf({ namespace, name }: ObjectRef): string {
  return `${namespace}/${name}`;
}
