import { expect, vi } from 'vitest';
import type { Attachment } from '../../../rig/openstack/tenant.ts';
import { generous } from './acts.ts';
import { foreignState } from './kernel-state.ts';
import type { Manager } from './managers.ts';
import { plantForeignState } from './planted.ts';
import { PrimaryMonitor, primaryIsSettled } from './primary-monitor.ts';
import type { World } from './world.ts';

type ForeignState = Awaited<ReturnType<typeof foreignState>>;

/** A worker of a world, with foreign state on its node and a monitor of the node's own NIC. */
export class Scene implements AsyncDisposable {
  /** The world, whose `node` and `server` are this worker's. */
  readonly world: World;
  readonly manager: Manager;
  /** Attached ports by their role in the tests. */
  readonly ports = new Map<'first' | 'second' | 'dual', Attachment>();
  readonly #foreign: ForeignState;
  #monitor: PrimaryMonitor;

  private constructor(
    world: World,
    manager: Manager,
    foreign: ForeignState,
    monitor: PrimaryMonitor,
  ) {
    this.world = world;
    this.manager = manager;
    this.#foreign = foreign;
    this.#monitor = monitor;
  }

  static async open(whole: World, manager: Manager): Promise<Scene> {
    const worker = whole.workers.find(({ node }) => node.profile === manager.profile);
    if (!worker) throw new Error(`no worker has the profile ${manager.profile}`);
    const { node } = worker;
    await plantForeignState(node);
    const foreign = await foreignState(node);
    return new Scene({ ...whole, ...worker }, manager, foreign, await monitorOf(manager, node));
  }

  port(role: 'first' | 'second' | 'dual'): Attachment {
    const attachment = this.ports.get(role);
    if (!attachment) throw new Error(`the ${role} port was not attached`);
    return attachment;
  }

  /** Restarts the monitor of the node's own NIC after the manager has configured it. */
  async watchPrimary(): Promise<void> {
    await this.#monitor[Symbol.asyncDispose]();
    this.#monitor = await monitorOf(this.manager, this.world.node);
  }

  /** Restores the foreign state that a start of the node removed, and restarts the monitor. */
  async plantAgain(): Promise<void> {
    await plantForeignState(this.world.node);
    await this.expectForeignState();
    await this.watchPrimary();
  }

  nics(): ReturnType<Manager['nicsOf']> {
    return this.manager.nicsOf(this.world.node);
  }

  async untilNics(wanted: Awaited<ReturnType<Manager['nicsOf']>>): Promise<void> {
    await vi.waitFor(async () => expect(await this.nics()).toEqual(wanted), generous);
  }

  async expectForeignState(): Promise<void> {
    expect(await foreignState(this.world.node)).toEqual(this.#foreign);
  }

  expectNoEvents(): void {
    expect(this.#monitor.events).toEqual([]);
  }

  /** Proves that the monitor reports an event of the node's own NIC. */
  async expectMonitorToWork(): Promise<void> {
    const { node } = this.world;
    await node.sh(['ip', 'link', 'set', 'eth0', 'alias', 'control']);
    await vi.waitFor(() => expect(this.#monitor.events.length).toBeGreaterThan(0), generous);
    await node.sh(['ip', 'link', 'set', 'eth0', 'alias', '']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#monitor[Symbol.asyncDispose]();
  }
}

async function monitorOf(manager: Manager, node: World['node']): Promise<PrimaryMonitor> {
  await primaryIsSettled(node);
  await manager.untilManaged(node);
  const monitor = new PrimaryMonitor(node);
  await monitor.started;
  return monitor;
}
