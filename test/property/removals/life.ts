import { labels } from '../../../src/api/names.ts';
import type { NodeConfig } from '../../../src/controller/objects/stores.ts';
import { ControllerFixture } from '../../fixtures/controller.ts';
import { Books } from './books.ts';
import { BudgetLog } from './budget-log.ts';
import { BusinessCluster } from './cluster.ts';
import { type HostRun, Hosts } from './hosts.ts';
import { judgeRun } from './judge.ts';
import type { Plan } from './plan.ts';

/** A business cluster with its controller, hosts and users, and the books about them. */
export class Life implements AsyncDisposable {
  readonly fixture: ControllerFixture;
  readonly cluster: BusinessCluster;
  readonly hosts: Hosts;
  /** Names of the hosts. */
  readonly names: readonly string[];
  /** Number of NICs on each host at the beginning. */
  readonly nics: ReadonlyMap<string, number>;
  readonly books = new Books();
  readonly budget = new BudgetLog();
  /** Stored objects at earlier times, oldest first, by name. */
  readonly backups = new Map<string, NodeConfig[]>();
  /** Violations of the property. */
  readonly flaws: string[] = [];
  /** Number of NICs that left hosts. */
  removed = 0;
  /** Effects until the controller is killed; undefined: it is not killed. */
  #effectsLeft: number | undefined;

  private constructor(fixture: ControllerFixture, { hosts, nics }: Plan) {
    this.fixture = fixture;
    this.names = hosts;
    this.nics = nics;
    this.cluster = new BusinessCluster(fixture, (config, wanted) =>
      this.books.written(config, wanted),
    );
    this.hosts = new Hosts(fixture.agents, (run) => this.#judge(run));
    fixture.onEffect = (effect, phase) => {
      if (effect === 'controller.status.write' && phase === 'after') this.#observe();
      if (effect === 'controller.job.create' && phase === 'after') this.#observeJobs();
      if (this.#effectsLeft === undefined) return;
      this.#effectsLeft -= 1;
      if (this.#effectsLeft > 0) return;
      this.#effectsLeft = undefined;
      throw new Error(`killed ${phase} ${effect}`);
    };
  }

  /** Starts a controller without nodes. */
  static async start(plan: Plan): Promise<Life> {
    const life = new Life(await ControllerFixture.start(), plan);
    life.fixture.run();
    return life;
  }

  /** Kills the controller before or after one of its next writes. */
  killIn(effects: number): void {
    this.#effectsLeft = effects;
  }

  /** Advances fake time in steps of 100 ms, or `ms`; a killed controller starts again. */
  async pass(steps: number, ms?: number): Promise<void> {
    for (let left = steps; left > 0; left -= 10) {
      await this.fixture.pass(Math.min(left, 10), ms);
      if (this.fixture.stopped) await this.restart();
    }
  }

  /** Stops the controller and starts another process, with these flags. */
  async restart(flags: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.stop();
    this.fixture.run(flags);
  }

  /** Stops the controller and lets all agents end, also on nodes whose kubelets died. */
  async stop(): Promise<void> {
    this.#effectsLeft = undefined;
    await this.fixture.stop();
    this.fixture.agents.dead.clear();
    await this.fixture.eventually(
      () => this.fixture.pods().every(({ status }) => hasEnded(status?.phase)),
      () => 'an agent goes on',
    );
    this.#observe();
  }

  /** Stores a copy of each object. */
  backUp(): void {
    for (const config of this.cluster.objects()) {
      const { name, resourceVersion } = config.metadata;
      const copies = this.backups.get(name) ?? [];
      if (copies.at(-1)?.metadata.resourceVersion === resourceVersion) continue;
      this.backups.set(name, [...copies, structuredClone(config)]);
    }
  }

  #observe(): void {
    for (const config of this.cluster.objects()) this.books.observe(config, this.cluster.now);
  }

  /** Enters the NICs of all apply Jobs: the user gave the specs of their generations. */
  #observeJobs(): void {
    for (const { metadata, spec } of this.fixture.jobs()) {
      const task = metadata.labels ?? {};
      const node = spec?.template.spec?.nodeName ?? '';
      if (task[labels.action] === 'apply') this.#observeJob(task, node);
    }
  }

  #observeJob(task: Readonly<Record<string, string>>, node: string): void {
    const uid = task[labels.configUid] ?? '';
    const version = this.books.versionOf(uid, Number(task[labels.generation]));
    for (const mac of version?.macs ?? []) this.books.requested(uid, node, mac);
  }

  #judge(run: HostRun): void {
    const { books, budget, cluster, hosts } = this;
    this.removed += run.removed.length;
    const judge = {
      books,
      budget,
      isUnplugged: (mac: string) => hosts.unplugged.has(mac),
      stored: (uid: string) => cluster.byUid(uid),
      now: () => cluster.now,
    };
    this.flaws.push(...judgeRun(judge, run));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fixture[Symbol.asyncDispose]();
  }
}

function hasEnded(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}
