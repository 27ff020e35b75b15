import * as z from 'zod';
import type { Random } from '../../src/time/clock.ts';

/** How often a rule meets. */
const count = {
  /** How many requests, connections or events it meets; without it every one until it is cleared. */
  times: z.int().positive().optional(),
  /** So many are let through before. */
  skip: z.int().nonnegative().default(0),
  /** How likely it meets, 0 to 1. */
  chance: z.number().min(0).max(1).default(1),
};

/** Which requests a rule meets; what is left out matches everything. */
const match = {
  /** Regular expression for the HTTP method. */
  method: z.string().optional(),
  /** Regular expression for path and query, as the client sent them. */
  path: z.string().optional(),
  ...count,
};

/** What follows when the answer stops. */
const ending = z.enum(['hang', 'reset']).default('hang');

/** What goes wrong. The first rule that meets decides; a `delay` goes with another fault. */
const ruleSchema = z.discriminatedUnion('fault', [
  /**
   * No byte moves: new connections are accepted and get no TLS handshake, those that exist freeze. Met by each new
   * connection, by each that waits for an answer, and by each piece that is sent on one that exists; `times` and `chance`
   * choose among new ones only.
   */
  z.strictObject({ fault: z.literal('black-hole'), ...count, onlyNew: z.boolean().default(false) }),
  /** Nobody listens: connections are refused, those that exist are reset. */
  z.strictObject({ fault: z.literal('gone') }),
  /** Nobody is behind a balancer that still is: connections are reset as soon as they are there, and so are those that exist. */
  z.strictObject({ fault: z.literal('no-backend'), ...count }),
  /** Plain TCP: the connection is reset after so many bytes of the answer. Met by each new connection. */
  z.strictObject({ fault: z.literal('cut'), ...count, bytes: z.int().nonnegative() }),
  /**
   * The request (plain TCP: each piece of it) is on its way for `ms`, and up to `spreadMs` more. It arrives although its
   * caller has left meanwhile.
   */
  z.strictObject({
    fault: z.literal('delay'),
    ...match,
    ms: z.number().nonnegative(),
    spreadMs: z.number().nonnegative().default(0),
  }),
  /** The request is taken and neither forwarded nor answered. */
  z.strictObject({ fault: z.literal('hang'), ...match }),
  /** The connection is reset before the request is forwarded. */
  z.strictObject({ fault: z.literal('reset'), ...match }),
  /** An answer of the proxy's own; without a body a Kubernetes Status. */
  z.strictObject({
    fault: z.literal('answer'),
    ...match,
    status: z.int().min(200).max(599),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.string().optional(),
    /** A body that is not UTF-8. */
    base64: z.base64().optional(),
  }),
  /** The server carries the request out, and the caller never learns. */
  z.strictObject({ fault: z.literal('lost-answer'), ...match, ending }),
  /**
   * Status, headers and the first bytes of the real answer (half of it unless told otherwise, which asks for one that
   * ends), then nothing. It is never a whole one: at least its last byte is missing.
   */
  z.strictObject({
    fault: z.literal('half-answer'),
    ...match,
    bytes: z.int().nonnegative().optional(),
    ending,
  }),
  /** The real answer, trickling. */
  z.strictObject({
    fault: z.literal('slow-answer'),
    ...match,
    bytesPerSecond: z.number().positive(),
  }),
  /** A body that never ends, as fast as the caller reads. */
  z.strictObject({ fault: z.literal('endless-answer'), ...match }),
  /**
   * What becomes of events of a watch: `delay` holds back those behind it, `swap` exchanges it with the next, `gone` ends
   * the watch with an ERROR event 410, `own-version` lets a bookmark carry the version of the last event before it (one
   * without any before it is dropped).
   */
  z.strictObject({
    fault: z.literal('watch-event'),
    ...match,
    /** Regular expression for ADDED, MODIFIED, DELETED, BOOKMARK. */
    type: z.string().optional(),
    /** Regular expression for `namespace/name`. */
    object: z.string().optional(),
    action: z.enum(['drop', 'twice', 'delay', 'swap', 'gone', 'own-version']),
    ms: z.number().nonnegative().default(0),
  }),
]);

type Rule = z.infer<typeof ruleSchema>;
export type RuleInput = z.input<typeof ruleSchema>;
export type Fault = Rule['fault'];
export type RuleOf<Name extends Fault> = Extract<Rule, { fault: Name }>;

/** What is looked at: a connection (nothing of it is known), a request, or an event of a watch. */
export interface Subject {
  readonly method?: string;
  readonly path?: string;
  readonly type?: string;
  readonly object?: string;
}

export interface ListedRule {
  readonly id: string;
  readonly rule: Rule;
  /** How often it has met. */
  readonly met: number;
}

interface Standing {
  readonly id: string;
  readonly rule: Rule;
  readonly meets: (subject: Subject) => boolean;
  seen: number;
  met: number;
}

/** What a proxy can tell apart: requests and their answers, or the bytes of connections. */
export type Kind = 'HTTP' | 'plain TCP';

const kindOf: Partial<Record<Fault, Kind | 'both'>> = {
  'black-hole': 'both',
  gone: 'both',
  'no-backend': 'both',
  delay: 'both',
  cut: 'plain TCP',
};

/** A rule that would never do anything. */
export class UnmeetableRule extends Error {
  override readonly name = 'UnmeetableRule';
}

/** Throws when a proxy of this kind could never meet the rule: an outage that does not happen proves nothing. */
function refuseUnmeetable(rule: Rule, kind: Kind): void {
  const of = kindOf[rule.fault] ?? 'HTTP';
  const named = 'path' in rule || 'method' in rule;
  if ((of === 'both' || of === kind) && !(kind === 'plain TCP' && named)) return;
  throw new UnmeetableRule(`a proxy of ${kind} never meets ${JSON.stringify(rule)}`);
}

/** The rules that stand, in the order in which they were given. */
export class Rules {
  readonly #random: Random;
  readonly #kind: Kind;
  readonly #standing = new Map<string, Standing>();
  readonly #listeners = new Set<() => void>();
  #serial = 0;

  constructor(random: Random, kind: Kind) {
    this.#random = random;
    this.#kind = kind;
  }

  /** Adds a rule and gives its id; throws when it is none, or one that can never meet. */
  add(input: RuleInput): string {
    const rule = ruleSchema.parse(input);
    refuseUnmeetable(rule, this.#kind);
    const id = String(++this.#serial);
    this.#standing.set(id, { id, rule, meets: matcher(rule), seen: 0, met: 0 });
    this.#changed();
    return id;
  }

  /** Removes one rule, or all; throws when there is none of this id. */
  clear(id?: string): void {
    if (id === undefined) this.#standing.clear();
    else if (!this.#standing.delete(id)) throw new RangeError(`there is no rule ${id}`);
    this.#changed();
  }

  list(): readonly ListedRule[] {
    return [...this.#standing.values()].map(({ id, rule, met }) => ({ id, rule, met }));
  }

  /** The rules of this fault that may still meet something. */
  active<Name extends Fault>(fault: Name): readonly RuleOf<Name>[] {
    const unspent = [...this.#standing.values()].filter((one) => !isSpent(one));
    return unspent.map(({ rule }) => rule).filter((rule) => isOneOf(rule, [fault]));
  }

  /** The first rule of these kinds that meets, which counts as once. */
  take<Name extends Fault>(faults: readonly Name[], subject: Subject): RuleOf<Name> | undefined {
    for (const standing of this.#standing.values()) {
      const { rule } = standing;
      if (!isOneOf(rule, faults) || !standing.meets(subject)) continue;
      if (this.#counts(standing)) return rule;
    }
    return undefined;
  }

  /** Calls `listener` whenever rules came or went. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #counts(standing: Standing): boolean {
    const { rule } = standing;
    if (rule.fault === 'gone') return true;
    if (isSpent(standing)) return false;
    if (standing.seen++ < rule.skip || this.#random() >= rule.chance) return false;
    standing.met++;
    return true;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

function isSpent({ rule, met }: Standing): boolean {
  return 'times' in rule && rule.times !== undefined && met >= rule.times;
}

function isOneOf<Name extends Fault>(rule: Rule, faults: readonly Name[]): rule is RuleOf<Name> {
  return (faults as readonly string[]).includes(rule.fault);
}

function matcher(rule: Rule): (subject: Subject) => boolean {
  const given = rule as Readonly<Record<string, unknown>>;
  const tests = (['method', 'path', 'type', 'object'] as const).flatMap((key) => {
    const pattern = given[key];
    return typeof pattern === 'string' ? [{ key, expression: new RegExp(pattern) }] : [];
  });
  return (subject) => tests.every(({ key, expression }) => expression.test(subject[key] ?? ''));
}
