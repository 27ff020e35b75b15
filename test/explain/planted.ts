import type { Worker, World } from '../fixtures/chain/world.ts';

/** Standing fault in a world. */
export interface Planted {
  /** Argument of `multinic why`. */
  readonly target: string;
  /** Words in the evidence from `why`. */
  readonly evidence: readonly string[];
  /** Findings from `doctor` as "REASON SUBJECT"; empty: the fault is the user's choice. */
  readonly findings: readonly string[];
  /** First words for each command from `why`; empty: the next step has no command. */
  readonly printed: readonly string[];
  /** Acts in cloud, hypervisor and network, by the following command's number. */
  readonly acts?: Readonly<Record<number, () => unknown>>;
  /** Node for commands on a node. */
  readonly worker: Worker;
  /** Reason from `why` after the repair; undefined: the port is a NIC. */
  readonly afterwards?: string;
  /** Information from `doctor`. */
  readonly information?: string;
}

export type Plant = (world: World) => Promise<Planted>;

export function workerOf({ workers }: World, name: string): Worker {
  const found = workers.find((worker) => worker.name === name);
  if (!found) throw new Error(`the world has no worker ${name}`);
  return found;
}

/** Returns an OpenstackConfig's `namespace/name`; a worker's OpenstackConfig has its name. */
export function keyOf({ name }: Worker): string {
  return `multinic-system/${name}`;
}
