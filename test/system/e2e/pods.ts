import { type ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { waitFor } from '../../../rig/parts/waiting.ts';
import { systemClock as clock } from '../../../src/time/clock.ts';

export type PartName = 'operator' | 'viola' | 'controller';

interface Place {
  readonly cluster: ControlPlane;
  readonly namespace: string;
  readonly deployment: string;
  /** Replicas that are installed. */
  readonly replicas: number;
}

/** The parts as Pods of an installation. */
export class PartsInPods {
  readonly #places: Readonly<Record<PartName, Place>>;

  constructor(places: Readonly<Record<PartName, Place>>) {
    this.#places = places;
  }

  /** Its Pods are gone at once, without a word, and nothing starts others. */
  async kill(part: PartName): Promise<void> {
    await this.#scale(part, 0);
    await this.deletePods(part);
    await this.#until(part, 'has no Pod', async () => (await this.#pods(part)).length === 0);
  }

  /** Its Pods come back, and serve. */
  async restart(part: PartName): Promise<void> {
    await this.#scale(part, this.#places[part].replicas);
    await this.ready(part);
  }

  /** `kubectl delete pod`: the Deployment makes others at once. */
  async deletePods(part: PartName): Promise<void> {
    const force = ['--grace-period=0', '--force', '--ignore-not-found'];
    await this.#kubectl(part, 'delete', 'pods', '-l', selectorOf(part), ...force);
  }

  async ready(part: PartName): Promise<void> {
    const { deployment } = this.#places[part];
    await this.#kubectl(part, 'rollout', 'status', `deployment/${deployment}`, '--timeout=180s');
  }

  /** Resolves when one of its Pods writes `text` into its log from now on. */
  async logged(part: PartName, text: string): Promise<void> {
    const since = clock.now().toISOString();
    await this.#until(part, `"${text}" in its log`, async () =>
      (await this.log(part, `--since-time=${since}`)).includes(text),
    );
  }

  /** What its Pods have written, those that were replaced apart. */
  async log(part: PartName, ...options: readonly string[]): Promise<string> {
    return this.#kubectl(part, 'logs', '-l', selectorOf(part), '--tail=-1', ...options);
  }

  /** What `multinic version` says in each of its Pods. */
  async version(part: PartName): Promise<string> {
    const { deployment } = this.#places[part];
    const command = ['/usr/local/bin/node', '/app/main.mjs', 'version'];
    return this.#kubectl(part, 'exec', `deployment/${deployment}`, '--', ...command);
  }

  async #pods(part: PartName): Promise<readonly string[]> {
    const text = await this.#kubectl(part, 'get', 'pods', '-l', selectorOf(part), '-o', 'name');
    return text.split('\n').filter((line) => line !== '');
  }

  async #scale(part: PartName, replicas: number): Promise<void> {
    const { deployment } = this.#places[part];
    await this.#kubectl(part, 'scale', `deployment/${deployment}`, `--replicas=${replicas}`);
  }

  async #kubectl(part: PartName, ...args: readonly string[]): Promise<string> {
    const { cluster, namespace } = this.#places[part];
    return cluster.kubectl(['-n', namespace, ...args]);
  }

  async #until(part: PartName, what: string, look: () => Promise<boolean>): Promise<void> {
    const { signal } = new AbortController();
    const answer = async () => ((await look()) ? true : undefined);
    await waitFor(`${part}: ${what}`, answer, { clock, signal, limitMs: 180_000 });
  }
}

function selectorOf(part: PartName): string {
  return `app.kubernetes.io/component=${part},app.kubernetes.io/part-of=multinic`;
}
