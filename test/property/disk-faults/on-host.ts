import { createHost, type NamespaceHost } from '../../../rig/hosts/namespace/host.ts';
import { type Manager, startUdev } from '../../../rig/hosts/namespace/managers.ts';
import type { JobRequest } from '../../../src/api/job.ts';
import { macOf } from '../../fixtures/agent-samples.ts';
import { runAgent } from '../../host/agent-process.ts';
import { stateOf } from '../../host/host-state.ts';
import { makeFamily } from './family-hosts.ts';
import type { ModelLife } from './on-model.ts';
import { differences, fileProblems, type Picture, pictureOf } from './pictures.ts';
import { runFailing, type Syscall, type SyscallFault, trace } from './syscalls.ts';

const numbers = [1, 2, 3];

/** One life of the real agent on a host of network namespaces. */
export class SceneOnHost implements AsyncDisposable {
  readonly #scene: ModelLife;
  readonly #host: NamespaceHost;
  #udev: Manager | undefined;
  #generation = 1;
  #old: Picture = { kernel: [], files: {}, state: undefined };
  #new = this.#old;
  syscalls: readonly Syscall[] = [];

  private constructor(scene: ModelLife, host: NamespaceHost) {
    this.#scene = scene;
    this.#host = host;
  }

  static async open(scene: ModelLife): Promise<SceneOnHost> {
    const name = `faults-${scene.family}${scene.altNames ? '-alt' : ''}`;
    const nics = Object.fromEntries(numbers.map((n) => [`ens${n}`, macOf(n)]));
    const stage = new SceneOnHost(scene, await createHost(name, { nics }));
    try {
      await stage.#prepare();
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #prepare(): Promise<void> {
    const { family, altNames, life } = this.#scene;
    const host = this.#host;
    const [{ ifindex }] = (await host.ipJson('link', 'show', 'eth0')) as [{ ifindex: number }];
    makeFamily(host.root, family, ifindex);
    // Nobody else can have an address here: nothing is to be probed.
    const dad = 'for file in /proc/sys/net/ipv6/conf/*/dad_transmits; do echo 0 >"$file"; done';
    await host.exec('sh', '-c', dad);
    if (altNames) this.#udev = await startUdev(host, slotNames);
    // From here on a life starts from what an earlier one leaves.
    await this.#good(life.asked);
    await this.#rewind();
    this.#old = await this.#picture();
    const { run, syscalls } = await trace(host, this.#next(life.asked));
    if (run.result?.outcome !== 'ok') throw new Error(run.stderr);
    this.#new = await this.#picture();
    this.syscalls = syscalls;
  }

  /** What is wrong when this call fails. */
  async problems(fault: SyscallFault): Promise<string[]> {
    const { family, life } = this.#scene;
    await this.#rewind();
    const problems = differences(await this.#picture(), this.#old).map((what) => `before: ${what}`);
    const asked = this.#next(life.asked);
    const failed = await runFailing(this.#host, asked, fault);
    // Of an `ip` that dies the agent tells.
    if (fault.fault === 'SIGKILL' && fault.syscall.path !== '' && failed.code !== 137)
      problems.push(`it did not come to this call: ${failed.stderr}`);
    const { files } = await this.#picture();
    problems.push(...(await fileProblems(family, files, this.#old.files, this.#new.files)));
    // Each `ip` dies at its so-manieth message, the one that is to undo the change too.
    const undoes = fault.syscall.path !== '';
    if (undoes && failed.result?.nics.some(({ reason }) => reason === 'RollbackFailed'))
      problems.push(`it says ${JSON.stringify(failed.result.nics)}`);
    const again = await runAgent(this.#host, { ...asked, attempt: 1 });
    if (again.result?.outcome !== 'ok') problems.push(`the rerun says ${again.stderr}`);
    const now = await this.#picture();
    problems.push(...differences(now, this.#new).map((what) => `after the rerun: ${what}`));
    return problems;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#udev?.stop();
    await this.#host.down();
  }

  #next(asked: JobRequest): JobRequest {
    return { ...asked, generation: this.#generation++, family: this.#scene.family };
  }

  async #good(asked: JobRequest): Promise<void> {
    const run = await runAgent(this.#host, this.#next(asked));
    if (run.result?.outcome !== 'ok') throw new Error(run.stderr);
  }

  /** To where the life is before the run that is to fail. */
  async #rewind(): Promise<void> {
    const { before, asked } = this.#scene.life;
    const last = before.at(-1) ?? { ...asked, action: 'cleanup', interfaces: [] };
    await this.#good(last);
  }

  async #picture(): Promise<Picture> {
    const { links, routes, rules } = await stateOf(this.#host);
    // The kernel makes those of link-local addresses by itself, in its own time.
    const lasting = routes.filter((route) => !/"dst":"(fe80|ff00):/.test(route));
    return pictureOf(this.#host.root, [...links, ...lasting, ...rules]);
  }
}

/** What the naming policy of a machine gives to NICs of slots. */
const slotNames = Object.fromEntries(
  numbers.map((n) => [
    `50-slot${n}.link`,
    `[Match]\nMACAddress=${macOf(n)}\n[Link]\nAlternativeName=ens${n}\n`,
  ]),
);
