import type { JobRequest } from '../../../src/api/job.ts';
import type { Pod } from '../../../src/kube/core-resources.ts';
import type { Answer, ScriptedAgents } from '../../fixtures/scripted-agents.ts';

/** A run that an agent performed on its host. */
export interface HostRun {
  readonly request: JobRequest;
  readonly pod: Pod | undefined;
  /** MACs on all hosts before the run, by node. */
  readonly before: ReadonlyMap<string, readonly string[]>;
  /** MACs that left the host with the run. */
  readonly removed: readonly string[];
}

/** Hosts of a life: their agents may be old, and results may get lost after the host has changed. */
export class Hosts {
  /** Nodes whose agents support protocols 1 to 3 only. */
  readonly old = new Set<string>();
  /** Nodes whose next result is lost. */
  readonly losing = new Set<string>();
  readonly #agents: ScriptedAgents;
  readonly #onRun: (run: HostRun) => void;

  /** `onRun` is called at the moment of each change, before the result exists. */
  constructor(agents: ScriptedAgents, onRun: (run: HostRun) => void) {
    this.#agents = agents;
    this.#onRun = onRun;
    agents.answer = (request) => this.#answer(request);
  }

  macsOn(node: string): readonly string[] {
    return this.#agents.macsOn(node);
  }

  get unplugged(): Set<string> {
    return this.#agents.unplugged;
  }

  #answer(request: JobRequest): Answer {
    const { nodeName, protocol } = request;
    if (this.old.has(nodeName) && protocol > 3) return unsupported;
    const before = new Map(
      [...this.#agents.hosts.keys()].map((node) => [node, this.macsOn(node)] as const),
    );
    const answer = this.#agents.run(request);
    const after = new Set(this.macsOn(nodeName));
    const removed = (before.get(nodeName) ?? []).filter((mac) => !after.has(mac));
    this.#onRun({ request, pod: this.#agents.podOf.get(request), before, removed });
    return this.losing.delete(nodeName) ? 'garbage' : answer;
  }
}

const unsupported = {
  outcome: 'refused',
  refusal: { reason: 'InvalidRequest', message: 'this agent supports protocols 1 to 3' },
} as const satisfies Answer;
