import type { Verb } from './http/request-info.ts';
import { StatusError } from './objects/status-error.ts';
import type { WatchEvent } from './verbs/watch.ts';

/** Which requests a fault meets; what is left out matches everything. */
interface Match {
  readonly verb?: Verb;
  /** Plural name with its group, "jobs.batch"; of the core group alone, "pods". */
  readonly resource?: string;
  readonly name?: string;
  /** How many requests it meets before it is over; 1 unless told otherwise. */
  readonly times?: number;
}

export interface AnswerFault extends Match {
  readonly status: number;
  readonly reason?: string;
  readonly message?: string;
  /** Seconds, sent as Retry-After. */
  readonly retryAfter?: number;
}

export interface LoseFault extends Match {
  /** `before`: the request never takes effect. `after`: it does, and the caller never learns. */
  readonly when: 'before' | 'after';
}

export interface DelayFault extends Match {
  readonly ms: number;
}

/** What becomes of one watch event. A delayed one holds back those behind it: a stream never goes back in time. */
export type Delivery = 'send' | 'drop' | 'twice' | { readonly delayMs: number };

/** The request as far as faults look at it. */
export interface Incoming {
  readonly verb: Verb;
  readonly resource: string;
  readonly name: string | undefined;
}

interface Armed<T> {
  readonly fault: T;
  left: number;
}

/** Misbehaviour on purpose, for tests. */
export class Faults {
  readonly #watches: ReadonlySet<OpenWatch>;
  readonly #compact: () => void;
  #answers: Armed<AnswerFault>[] = [];
  #losses: Armed<LoseFault>[] = [];
  #delays: Armed<DelayFault>[] = [];
  #deliver: ((event: WatchEvent, resource: string) => Delivery) | undefined;
  #blackHole = false;

  constructor(watches: ReadonlySet<OpenWatch>, compact: () => void) {
    this.#watches = watches;
    this.#compact = compact;
  }

  /** Answers with an error instead of doing what is asked. */
  answer(fault: AnswerFault): void {
    this.#answers.push({ fault, left: fault.times ?? 1 });
  }

  /** Resets the connection instead of answering. */
  lose(fault: LoseFault): void {
    this.#losses.push({ fault, left: fault.times ?? 1 });
  }

  /** Waits before doing what is asked. */
  delay(fault: DelayFault): void {
    this.#delays.push({ fault, left: fault.times ?? 1 });
  }

  /** Resets the connections of open watches, of one kind or all; says how many. */
  dropWatches(resource?: string): number {
    const hit = [...this.#watches].filter((one) => !resource || one.resource === resource);
    for (const one of hit) one.drop();
    return hit.length;
  }

  /** Open and new watches stay connected and silent; those that were silenced stay so after `false`. */
  blackHoleWatches(on: boolean): void {
    this.#blackHole = on;
    if (on) for (const one of this.#watches) one.silence();
  }

  /** True while new watches are to be silent. */
  get silent(): boolean {
    return this.#blackHole;
  }

  /** Forgets the history: the next watch or page from before gets 410. */
  compact(): void {
    this.#compact();
  }

  /** Decides over each watch event; undefined ends it. */
  onWatchEvent(deliver: ((event: WatchEvent, resource: string) => Delivery) | undefined): void {
    this.#deliver = deliver;
  }

  delivery(event: WatchEvent, resource: string): Delivery {
    return this.#deliver?.(event, resource) ?? 'send';
  }

  /** Takes back everything that is still armed. */
  clear(): void {
    this.#answers = [];
    this.#losses = [];
    this.#delays = [];
    this.#deliver = undefined;
    this.#blackHole = false;
  }

  /** The error to answer this request with, if any. */
  refusal(incoming: Incoming): StatusError | undefined {
    const fault = take(this.#answers, incoming);
    if (!fault) return undefined;
    const details = fault.retryAfter === undefined ? {} : { retryAfterSeconds: fault.retryAfter };
    const message = fault.message ?? `answered ${fault.status} on purpose`;
    return new StatusError(fault.status, fault.reason ?? '', message, details);
  }

  loss(incoming: Incoming): LoseFault['when'] | undefined {
    return take(this.#losses, incoming)?.when;
  }

  delayMs(incoming: Incoming): number {
    return take(this.#delays, incoming)?.ms ?? 0;
  }
}

/** An open watch as faults reach it. */
export interface OpenWatch {
  readonly resource: string;
  drop(): void;
  silence(): void;
}

function take<T extends Match>(armed: Armed<T>[], incoming: Incoming): T | undefined {
  const found = armed.find((one) => one.left > 0 && matches(one.fault, incoming));
  if (found) found.left -= 1;
  return found?.fault;
}

function matches({ verb, resource, name }: Match, incoming: Incoming): boolean {
  return (
    (verb === undefined || verb === incoming.verb) &&
    (resource === undefined || resource === incoming.resource) &&
    (name === undefined || name === incoming.name)
  );
}
