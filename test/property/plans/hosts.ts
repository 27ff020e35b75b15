import { type AgentState, advanceFence, emptyState, staleness } from '../../../src/agent/state.ts';
import type { JobRequest, RequestInterface } from '../../../src/api/job.ts';
import type { InterfaceSpec } from '../../../src/api/multinicnodeconfig.ts';
import type { NodeConfig } from '../../../src/controller/objects/stores.ts';
import type { Clock, Random } from '../../../src/time/clock.ts';
import { nicResult } from '../../fixtures/controller-samples.ts';
import type { Answer } from '../../fixtures/scripted-agents.ts';
import type { agentFaults } from './plan.ts';

type AgentFault = (typeof agentFaults)[number];

/** An agent at work: what it was asked, until when it works, and on which boot it began. */
interface Work {
  readonly boot: number;
  readonly endsAt: number;
  readonly fault: AgentFault | undefined;
}

/**
 * A host that keeps what its agents configured, over reboots and until it is rebuilt; it refuses what is older than what
 * it has seen, as the real agent does. Agents take their time, and a host that goes down takes them along half-way.
 */
export class Host {
  readonly name: string;
  /** What is configured, a line for each NIC. */
  nics: readonly string[] = [];
  /** How often it was installed, and started. */
  machine = 1;
  boot = 1;
  /** Runs that are still to go wrong. */
  faults: AgentFault[] = [];
  #state: AgentState = emptyState;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #met: (kind: AgentFault) => void;
  readonly #work = new WeakMap<JobRequest, Work>();
  #queued: AgentFault | undefined;

  constructor(name: string, clock: Clock, random: Random, met: (kind: AgentFault) => void) {
    this.name = name;
    this.#clock = clock;
    this.#random = random;
    this.#met = met;
  }

  get info() {
    return {
      systemUUID: uuidOf(this.name),
      machineID: `${this.name}-${this.machine}`,
      bootID: `${this.name}-${this.machine}-${this.boot}`,
    };
  }

  reboot(): void {
    this.boot += 1;
  }

  rebuild(): void {
    this.machine += 1;
    this.boot += 1;
    this.nics = [];
    this.#state = emptyState;
  }

  /** What the agent of a Pod has to say now; called again and again until it has ended. */
  answer(request: JobRequest): Answer {
    const before = this.#notBegun();
    if (before) return before;
    const work = this.#work.get(request) ?? this.#begin(request);
    if (work.boot !== this.boot) return '';
    if (this.#clock.monotonicMs() < work.endsAt || work.fault === 'hang') return undefined;
    return this.#end(request, work.fault);
  }

  #notBegun(): Answer {
    const [fault] = this.faults;
    if (fault === 'refused') {
      this.faults.shift();
      this.#met(fault);
      return { refused: 'OutOfcpu' };
    }
    if (fault !== 'no-image') return undefined;
    if (this.#queued !== fault) this.#met(fault);
    this.#queued = fault;
    return { waiting: 'ImagePullBackOff' };
  }

  #begin(request: JobRequest): Work {
    const fault = this.faults.shift();
    if (fault) this.#met(fault);
    const takesMs = this.#random() < 0.5 ? 0 : 8_000 * this.#random();
    const work = { boot: this.boot, endsAt: this.#clock.monotonicMs() + takesMs, fault };
    this.#work.set(request, work);
    // Half of it is done at once: what dies from now on leaves that behind.
    const changes = request.action !== 'check' && this.#refusal(request) === undefined;
    if (changes && takesMs > 0) this.#configure(request, 0.5);
    return work;
  }

  #refusal(request: JobRequest): Answer {
    if (request.machineId !== undefined && request.machineId !== this.info.machineID) {
      return {
        outcome: 'refused',
        refusal: { reason: 'WrongMachine', message: 'another machine' },
      };
    }
    const stale = staleness(this.#state, request);
    if (stale === undefined) return undefined;
    const { fence } = this.#state;
    const refusal = { reason: 'StaleRequest', message: stale } as const;
    return { outcome: 'refused', refusal, ...(fence ? { fence } : {}) };
  }

  #end(request: JobRequest, fault: AgentFault | undefined): Answer {
    const { bootID: bootId } = this.info;
    const refusal = this.#refusal(request);
    if (refusal) return { bootId, ...(refusal as object) };
    if (request.action === 'check') return fault === 'silent' ? '' : this.#compare(request);
    if (fault === 'partial' && request.interfaces.length > 0) return this.#partly(request);
    this.#configure(request, 1);
    if (fault === 'silent') return '';
    const nics = request.interfaces.map(({ index, mac }) => nicResult(index, { mac }));
    return { bootId, outcome: 'ok', nics };
  }

  #partly(request: JobRequest): Answer {
    const [first, ...others] = request.interfaces;
    this.#configure({ ...request, interfaces: others }, 1);
    const missing = { state: 'Pending', reason: 'WaitingForNIC', name: '' } as const;
    const nics = [first, ...others].flatMap((one, at) =>
      one ? [nicResult(one.index, { mac: one.mac, ...(at === 0 ? missing : {}) })] : [],
    );
    return { bootId: this.info.bootID, outcome: 'partial', nics };
  }

  /** As the real agent: what differs is named, a NIC too many by what is known of it. */
  #compare({ interfaces }: JobRequest): Answer {
    const { bootID: bootId } = this.info;
    const wanted = interfaces.map(lineOf);
    const drift = { state: 'Failed', reason: 'Drifted', name: '' } as const;
    const nics = interfaces.map((one) => {
      const { index, mac } = one;
      return nicResult(index, { mac, ...(this.nics.includes(lineOf(one)) ? {} : drift) });
    });
    const others = this.nics.filter((nic) => !wanted.includes(nic));
    const left = others.map((nic, at) => {
      const [mac = ''] = nic.split(' ');
      return nicResult(9 - at, { mac, ...drift });
    });
    const all = [...nics, ...left.filter(({ mac }) => !nics.some((nic) => nic.mac === mac))];
    const outcome = all.every(({ state }) => state === 'Configured') ? 'ok' : 'failed';
    return { bootId, outcome, nics: all };
  }

  /** Takes away what is not asked for, then adds what is missing; of those steps the first part only. */
  #configure(request: JobRequest, part: number): void {
    this.#state = advanceFence(this.#state, request);
    const wanted = request.interfaces.map(lineOf);
    const leaving = this.nics.filter((nic) => !wanted.includes(nic));
    const coming = wanted.filter((nic) => !this.nics.includes(nic));
    const steps = Math.floor((leaving.length + coming.length) * part);
    const gone = leaving.slice(0, steps);
    const added = coming.slice(0, Math.max(0, steps - leaving.length));
    this.nics = [...this.nics.filter((nic) => !gone.includes(nic)), ...added].toSorted();
  }

  /** Ends what is still to go wrong. */
  heal(): void {
    this.faults = [];
  }
}

export function uuidOf(name: string): string {
  return `uuid-of-${name}`;
}

/** The NICs that an object asks for, as a host lists them. */
export function nicsOf({ spec }: Pick<NodeConfig, 'spec'>): readonly string[] {
  return (spec?.interfaces ?? [])
    .map((raw) => {
      const { macAddress, address, cidr, mtu } = raw as InterfaceSpec;
      return [macAddress, `${address}/${cidr?.split('/')[1]}`, mtu].join(' ');
    })
    .toSorted();
}

function lineOf({ mac, addresses, mtu }: RequestInterface): string {
  return [mac, addresses.join(), mtu].join(' ');
}
