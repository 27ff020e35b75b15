import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Snapshot } from '../../../src/agent/snapshot.ts';
import type { Family, JobRequest } from '../../../src/api/job.ts';
import { host, link, macOf } from '../../fixtures/agent-samples.ts';
import { AgentOnModel } from '../agent-on-model.ts';
import { FailingDisk, type Moment, type Plan } from './failing-disk.ts';
import { addUdev, makeFamily } from './family-hosts.ts';
import type { Life } from './lives.ts';
import { differences, type Files, fileProblems, type Picture, pictureOf } from './pictures.ts';

export interface ModelLife {
  readonly family: Family;
  /** Whether udev gives each NIC that is renamed the name of its slot beside the new one. */
  readonly altNames: boolean;
  readonly life: Life;
}

/** One life on a host of which the kernel is the model: how it goes by itself, and with each of its moments failing. */
export class SceneOnModel implements Disposable {
  readonly #scene: ModelLife;
  readonly #bed: AgentOnModel;
  /** The host before the run that is to fail. */
  #kernel: Snapshot;
  #newKernel: Snapshot;
  #old: Picture;
  #new: Picture;
  moments: readonly Moment[] = [];

  private constructor(scene: ModelLife, bed: AgentOnModel) {
    this.#scene = scene;
    this.#bed = bed;
    this.#kernel = bed.box.kernel;
    this.#newKernel = this.#kernel;
    this.#old = this.#picture();
    this.#new = this.#old;
  }

  static async open(scene: ModelLife): Promise<SceneOnModel> {
    const { family, altNames, life } = scene;
    const kernel = host([link(1), link(2), link(3)]);
    const bed = await AgentOnModel.open(kernel, { promote: false, slotNames: altNames });
    makeFamily(bed.box.root, family, 2);
    if (altNames) addUdev(bed.box.root);
    const stage = new SceneOnModel(scene, bed);
    for (const asked of life.before) await stage.#good(asked);
    stage.#keep();
    const disk = new FailingDisk(bed.box.root);
    await stage.#run(life.asked, disk);
    stage.moments = disk.moments;
    stage.#newKernel = bed.box.kernel;
    stage.#new = stage.#picture();
    return stage;
  }

  /** What is wrong when this moment fails. */
  async problems(plan: Plan): Promise<string[]> {
    this.#reset();
    const { asked } = this.#scene.life;
    const disk = new FailingDisk(this.#bed.box.root, plan);
    const failed = await this.#run(asked, disk);
    const problems = disk.hit ? [] : ['it did not come to this moment'];
    const [now, old, wanted] = [this.#picture(), this.#old, this.#new].map(
      ({ files }) => files,
    ) as [Files, Files, Files];
    problems.push(...(await fileProblems(this.#scene.family, now, old, wanted)));
    const stuck = failed.nics.some(({ reason }) => reason === 'RollbackFailed');
    if (stuck && plan.fault === 'EIO') problems.push(`it says ${JSON.stringify(failed.nics)}`);
    // A run that was killed is ended by the next one, and one whose disk takes no change any more says what is left.
    if (plan.fault !== 'SIGKILL' && !stuck) problems.push(...this.#mixed());
    const again = await this.#run({ ...asked, attempt: 1 });
    if (again.outcome !== 'ok') problems.push(`the rerun says ${JSON.stringify(again.nics)}`);
    problems.push(
      ...differences(this.#picture(), this.#new).map((what) => `after the rerun: ${what}`),
    );
    return problems;
  }

  [Symbol.dispose](): void {
    rmSync(this.#kept, { recursive: true, force: true });
    this.#bed[Symbol.dispose]();
  }

  get #kept(): string {
    return `${this.#bed.box.root}-kept`;
  }

  async #good(asked: JobRequest): Promise<void> {
    const answer = await this.#run(asked);
    if (answer.outcome !== 'ok') throw new Error(JSON.stringify(answer));
  }

  async #run(asked: JobRequest, disk = new FailingDisk(this.#bed.box.root)) {
    const { box } = this.#bed;
    box.refuses = (line) => {
      disk.line(line);
      return false;
    };
    try {
      const run = (lines: readonly string[]) => disk.aside(() => box.run(lines));
      const startIp = () => ({ run, [Symbol.dispose]: () => undefined });
      return await this.#bed.run({ ...asked, family: this.#scene.family }, { startIp });
    } finally {
      disk[Symbol.dispose]();
    }
  }

  #keep(): void {
    this.#kernel = this.#bed.box.kernel;
    this.#old = this.#picture();
    cpSync(this.#bed.box.root, this.#kept, { recursive: true });
  }

  #reset(): void {
    const { box } = this.#bed;
    for (const name of readdirSync(box.root)) rmSync(join(box.root, name), { recursive: true });
    cpSync(this.#kept, box.root, { recursive: true });
    box.kernel = this.#kernel;
  }

  /** NICs of a run that has come to its end are as they were or as they shall be, kernel and files. */
  #mixed(): string[] {
    const now = this.#bed.box.kernel;
    return [1, 2, 3].flatMap((n) => {
      const slice = sliceOf(now, n);
      const ends = [this.#kernel, this.#newKernel].map((each) => sliceOf(each, n));
      return ends.includes(slice) ? [] : [`NIC ${n} is ${slice} and none of ${ends.join(' ')}`];
    });
  }

  #picture(): Picture {
    const { root, kernel } = this.#bed.box;
    const { links, addresses, routes, rules, settings } = kernel;
    return pictureOf(root, texts([links, addresses, routes, rules, [...settings]].flat()));
  }
}

/** All of a NIC in the kernel. */
function sliceOf({ links, addresses, routes, rules, settings }: Snapshot, n: number): string {
  const nic = links.find(({ mac }) => mac === macOf(n));
  const name = nic?.name ?? '';
  const ours = rules.filter(({ from }) =>
    new RegExp(`^(10\\.0\\.0\\.|fd00::)(10)?${n}/`).test(from),
  );
  return JSON.stringify([
    nic,
    texts(addresses.filter(({ link: on }) => on === name)),
    texts(routes.filter(({ links: on }) => on.includes(name))),
    texts(ours),
    settings.get(name),
  ]);
}

function texts(items: readonly unknown[]): string[] {
  return items.map((item) => JSON.stringify(item)).toSorted();
}
