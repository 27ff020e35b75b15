import type { InterfaceSpec } from '../../../src/api/multinicnodeconfig.ts';
import { annotations as names } from '../../../src/api/names.ts';
import { specHash } from '../../../src/api/spec-hash.ts';
import { type NodeConfig, nodeConfigs } from '../../../src/controller/objects/stores.ts';
import { type Node, nodes } from '../../../src/kube/core-resources.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import type { ControllerFixture } from '../../fixtures/controller.ts';
import { entry } from '../../fixtures/controller-samples.ts';

export const system = 'multinic-system';
const resource = 'multinicnodeconfigs.multinic.io';

/** Desired state of an object, as its writer last applied it. */
export interface Wanted {
  readonly instanceId: string;
  readonly interfaces: readonly InterfaceSpec[];
}

type Noted = Readonly<Record<string, string>>;

/** Returns the MAC of a host's NIC. */
function macOf(host: string, index: number): string {
  return `fa:16:3e:00:${hex(index)}:${hex(host.codePointAt(0) ?? 0)}`;
}

function hex(number: number): string {
  return number.toString(16).padStart(2, '0');
}

export function nicOf(host: string, index: number): InterfaceSpec {
  return entry(index, { macAddress: macOf(host, index) });
}

export function idOf(host: string): string {
  return `uuid-of-${host}`;
}

export function macsOf(interfaces: readonly InterfaceSpec[]): string[] {
  return interfaces.flatMap(({ macAddress }) => macAddress ?? []);
}

/** Returns the hash that Viola computes for an object with this desired state. */
export function hashOf(name: string, { instanceId, interfaces }: Wanted): string {
  return specHash({ nodeName: name, instanceId, interfaces: [...interfaces] });
}

/** Objects and Nodes of the business cluster, written as Viola and kubelets write them. */
export class BusinessCluster {
  readonly fixture: ControllerFixture;
  /** Desired state by object name. */
  readonly wanted = new Map<string, Wanted>();
  readonly #onWrite: (config: NodeConfig, wanted: Wanted) => void;

  constructor(fixture: ControllerFixture, onWrite: (config: NodeConfig, wanted: Wanted) => void) {
    this.fixture = fixture;
    this.#onWrite = onWrite;
  }

  /** Wall-clock time in milliseconds. */
  get now(): number {
    return this.fixture.clock.now().getTime();
  }

  /** Returns the stored objects, without a request. */
  objects(): readonly NodeConfig[] {
    return this.fixture.api.objects(
      resource,
      system,
    ) as readonly KubeObject[] as readonly NodeConfig[];
  }

  find(name: string): NodeConfig | undefined {
    return this.objects().find(({ metadata }) => metadata.name === name);
  }

  byUid(uid: string): NodeConfig | undefined {
    return this.objects().find(({ metadata }) => metadata.uid === uid);
  }

  /** Returns the name of the object for a host: the successor's, if there is one. */
  nameFor(host: string): string {
    return this.find(`${host}-new`) ? `${host}-new` : host;
  }

  /** Returns the host's object; undefined: none, or in deletion. */
  liveFor(host: string): NodeConfig | undefined {
    const found = this.find(this.nameFor(host));
    return found?.metadata.deletionTimestamp === undefined ? found : undefined;
  }

  wantedOf(name: string): Wanted {
    return this.wanted.get(name) ?? { instanceId: idOf(hostOf(name)), interfaces: [] };
  }

  /** Applies an object as Viola does; an object in deletion stays unchanged. */
  async write(name: string, change: Partial<Wanted>, noted: Noted = {}): Promise<void> {
    if (this.find(name)?.metadata.deletionTimestamp) return;
    const wanted = { ...this.wantedOf(name), ...change };
    const metadata = { annotations: { [names.source]: sourceOf(name), ...noted } };
    const spec = { instanceId: wanted.instanceId, interfaces: [...wanted.interfaces] };
    this.wanted.set(name, wanted);
    this.#onWrite(await this.fixture.apply(name, spec, metadata), wanted);
  }

  async annotate(name: string, noted: Readonly<Record<string, string | null>>): Promise<void> {
    const patch = { metadata: { annotations: noted } };
    await this.#orGone(this.fixture.admin.patch(nodeConfigs, { namespace: system, name }, patch));
  }

  async setStatus(name: string, status: object | null): Promise<void> {
    const ref = { namespace: system, name };
    await this.#orGone(this.fixture.admin.patchStatus(nodeConfigs, ref, { status }));
  }

  /** Deletes an object; an object in deletion stays so. */
  async delete(name: string): Promise<void> {
    await this.#orGone(this.fixture.delete(name));
  }

  /** Removes an object without the controller, as a lost cluster does. */
  async lose(name: string): Promise<void> {
    if (!this.find(name)) return;
    const ref = { namespace: system, name };
    await this.fixture.admin.patch(nodeConfigs, ref, { metadata: { finalizers: null } });
    await this.delete(name);
    await this.fixture.untilGone(name);
  }

  /** Tolerates objects that the controller releases at the same moment. */
  async #orGone(change: Promise<unknown>): Promise<void> {
    try {
      await change;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  node(name: string): Node | undefined {
    const list = this.fixture.api.objects('nodes');
    return list.find(({ metadata }) => metadata.name === name);
  }

  /** Registers a host's Node as its kubelet does. */
  async join(host: string): Promise<void> {
    if (!this.node(host)) await this.fixture.addNode(host, idOf(host));
    const machine = { machineID: `machine-${host}`, bootID: `boot-${host}` };
    await this.fixture.setNode(host, { systemUUID: idOf(host), ...machine });
    await this.fixture.setReady(host, 'True');
  }

  async leave(host: string): Promise<void> {
    if (this.node(host)) await this.fixture.admin.delete(nodes, { name: host });
  }
}

/** Returns the host of an object, by the object's name. */
function hostOf(name: string): string {
  return name.slice(0, 1);
}

/** Returns the OpenstackConfig of an object: `even` or `odd`. */
export function configUidOf(name: string): string {
  return (hostOf(name).codePointAt(0) ?? 0) % 2 === 0 ? 'uid-of-even' : 'uid-of-odd';
}

function sourceOf(name: string): string {
  const uid = configUidOf(name);
  return JSON.stringify({ namespace: 'default', name: uid, uid, generation: 1 });
}
