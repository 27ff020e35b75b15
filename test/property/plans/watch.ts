import { appliedIn } from '../../../src/controller/jobs/applied.ts';
import type { NodeConfig } from '../../../src/controller/objects/stores.ts';
import type { Job } from '../../../src/kube/core-resources.ts';
import type { ControllerFixture } from '../../fixtures/controller.ts';
import { nicsOf } from './hosts.ts';
import type { FaultyCluster } from './world.ts';

/** Jobs that one node may get within a minute: a change takes one, and each failure one more after 1, 2, 4, 8 … s. */
const mostJobs = 14;

/** Looks at the world again and again for what must never be seen. */
export class Watch {
  readonly #bed: ControllerFixture;
  readonly #world: FaultyCluster;
  readonly #flaws = new Set<string>();
  /** When Jobs were first seen, by node. */
  readonly #seen = new Map<string, { readonly node: string; readonly atMs: number }>();
  burst = 0;

  constructor(bed: ControllerFixture, world: FaultyCluster) {
    this.#bed = bed;
    this.#world = world;
  }

  get flaws(): readonly string[] {
    return [...this.#flaws];
  }

  get jobs(): number {
    return this.#seen.size;
  }

  look(): void {
    for (const config of this.#world.configs()) this.#checkReady(config);
    for (const job of this.#bed.jobs()) this.#countJob(job);
  }

  /** Ready is about the machine in the record: of one that was rebuilt since, nobody can know yet. */
  #checkReady(config: NodeConfig): void {
    const { metadata, status } = config;
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready?.status !== 'True' || ready.observedGeneration !== metadata.generation) return;
    const host = this.#world.host(metadata.name);
    if (appliedIn(status)?.machineId !== host.info.machineID) return;
    const wanted = nicsOf(config).join(', ');
    const there = host.nics.join(', ');
    if (wanted === there) return;
    this.#flaws.add(
      `false Ready of ${metadata.name} (generation ${metadata.generation}): has [${there}], is to have [${wanted}]`,
    );
  }

  #countJob({ metadata: { uid = '' }, spec }: Job): void {
    if (this.#seen.has(uid)) return;
    const node = spec?.template.spec?.nodeName ?? '';
    const atMs = this.#bed.clock.monotonicMs();
    this.#seen.set(uid, { node, atMs });
    const close = [...this.#seen.values()].filter(
      (one) => one.node === node && atMs - one.atMs < 60_000,
    );
    this.burst = Math.max(this.burst, close.length);
    if (close.length > mostJobs)
      this.#flaws.add(`Job storm: more than ${mostJobs} a minute on ${node}`);
  }
}
