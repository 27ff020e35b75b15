import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grantsText, hashesIn, hashOf } from './grants.ts';
import { ObservedGrants, planTokens, tokenInUse } from './token-plan.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
/** Longest time a kubelet needs to bring a changed Secret into Viola's Pod. */
const lagMs = 2 * minuteMs;

/** Both Secrets, Viola's possible knowledge, and a leader with its memory. */
class TokenModel {
  now = Date.parse('2026-01-01T00:00:00Z');
  monotonic = 0;
  secret: { token: string; next?: string | undefined; sinceMs: number | undefined } | undefined;
  grants = '';
  /** Grants contents, each with its first time in the Secret. */
  readonly #contents: { readonly sinceMs: number; readonly hashes: readonly string[] }[] = [];
  #observed = new ObservedGrants();
  #made = 0;
  inUse: string | undefined;

  get #memory() {
    const grantedForMs = (hash: string) => this.#observed.forMs(hash, this.monotonic);
    return { inUse: this.inUse, grantedForMs };
  }

  get held() {
    const { token, next, sinceMs } = this.secret ?? {};
    return { token, next, sinceMs, grants: this.grants, granted: this.granted };
  }

  get granted(): readonly string[] {
    return this.#contents.at(-1)?.hashes ?? [];
  }

  get plan() {
    return planTokens(this.held, this.now, this.#memory);
  }

  pass(ms: number): void {
    this.now += ms;
    this.monotonic += ms;
  }

  /** Another leader without memory takes over. */
  die(): void {
    this.#observed = new ObservedGrants();
    this.inUse = undefined;
  }

  look(deathAfter: number, watch: (world: TokenModel) => void = () => undefined): number {
    for (let writes = 0; ; writes++) {
      this.#observed.look(this.granted, this.monotonic);
      this.inUse = tokenInUse(this.held, this.#memory);
      watch(this);
      const { step } = this.plan;
      if (!step) return writes;
      if (writes === deathAfter) {
        this.die();
        return writes;
      }
      if (writes > 5) throw new Error(`never ends: ${step.why}`);
      if (step.write === 'grants') this.grant(grantsText(step.hashes));
      else {
        const { token = this.#makeToken(), sinceMs, announces } = step;
        this.secret = { token, sinceMs, next: announces ? this.#makeToken() : undefined };
      }
    }
  }

  grant(text: string): void {
    this.grants = text;
    this.#contents.push({ sinceMs: this.monotonic, hashes: hashesIn(text) });
  }

  /** Returns whether Viola knows the token at any kubelet delay; Viola starts with the first content. */
  knows(token: string): boolean {
    const replaced = (at: number) => this.#contents[at + 1]?.sinceMs ?? Infinity;
    return this.#contents
      .filter((_, at) => replaced(at) >= this.monotonic - lagMs)
      .every(({ hashes }) => hashes.includes(hashOf(token)));
  }

  #makeToken(): string {
    return `token-${++this.#made}-of-sixteen`;
  }
}

const damages = {
  'the token is deleted': (world: TokenModel) => (world.secret = undefined),
  'its time is gone': (world: TokenModel) => {
    if (world.secret) world.secret.sinceMs = undefined;
  },
  'its time is in the future': (world: TokenModel) => {
    if (world.secret) world.secret.sinceMs = world.now + 400 * dayMs;
  },
} as const;
const hard = {
  'the grants are deleted': (world: TokenModel) => world.grant(''),
  'the grants are cut': (world: TokenModel) => world.grant(world.grants.slice(0, 40)),
  'another one grants itself': (world: TokenModel) => world.grant(grantsText(['a'.repeat(64)])),
  'the leader dies': (world: TokenModel) => world.die(),
} as const;

type Act = (world: TokenModel, watch?: (world: TokenModel) => void) => void;

const acts = (...kinds: Readonly<Record<string, Act>>[]) =>
  fc.constantFrom(...kinds.flatMap((kind) => Object.values(kind)));
const look = fc.constantFrom(0, 1, 2, Infinity).map(
  (deathAfter): Act =>
    (world, watch) =>
      void world.look(deathAfter, watch),
);
const wholeLook = fc.constant<Act>((world, watch) => void world.look(Infinity, watch));
const pass = fc
  .oneof(
    fc.integer({ min: 1, max: 15 }),
    fc.integer({ min: 1, max: 50 }).map((days) => days * 1_440),
  )
  .map(
    (minutes): Act =>
      (world) =>
        world.pass(minutes * minuteMs),
  );
/** Moves only the wall clock. */
const jump = fc.integer({ min: -500, max: 500 }).map(
  (days): Act =>
    (world) =>
      void (world.now += days * dayMs),
);

describe('planTokens', () => {
  it('planTokens reaches a stable state from any state, after a crash at any write', () => {
    const any = fc.oneof(look, pass, jump, acts(damages, hard));
    fc.assert(
      fc.property(fc.array(any, { maxLength: 14 }), (story) => {
        const world = new TokenModel();
        for (const one of story) one(world);
        for (const minutes of [0, 11, 11, 21, 11]) {
          world.pass(minutes * minuteMs);
          world.look(Infinity);
        }
        expect(world.look(Infinity)).toBe(0);
        const { token, next } = world.held;
        expect([world.inUse, next]).toEqual([token, undefined]);
        expect(world.granted).toEqual([hashOf(token ?? '')]);
        expect(world.plan.dueMs - world.now).toBeGreaterThan(0);
        expect(world.plan.dueMs - world.now).toBeLessThanOrEqual(30 * dayMs + 5 * minuteMs);
      }),
      { numRuns: 500 },
    );
  });

  it('planTokens never starts to show a token without a grant', () => {
    const any = fc.oneof(look, pass, jump, acts(damages, hard));
    fc.assert(
      fc.property(fc.array(any, { maxLength: 14 }), (story) => {
        const world = new TokenModel();
        let shown: string | undefined;
        const watch = ({ inUse, granted }: TokenModel): void => {
          if (inUse !== undefined && inUse !== shown) expect(granted).toContain(hashOf(inUse));
          shown = inUse;
        };
        for (const one of story) one(world, watch);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['with crashes and clock jumps', fc.oneof(look, pass, jump)],
    ['with damaged Secrets under one leader', fc.oneof(wholeLook, pass, acts(damages))],
  ])('planTokens never shows a token unknown to Viola: %s', (_, any) => {
    fc.assert(
      fc.property(fc.array(any, { minLength: 5, maxLength: 30 }), (story) => {
        const world = new TokenModel();
        world.look(Infinity);
        const watch = ({ inUse }: TokenModel): void => {
          if (inUse !== undefined) expect(world.knows(inUse)).toBe(true);
        };
        for (const one of story) {
          // A leader runs a round every minute.
          one(world, watch);
          watch(world);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('planTokens renews a token every 30 days: used 10 minutes after its announcement, old token withdrawn 20 minutes later', () => {
    const world = new TokenModel();
    const minutes: string[] = [];
    const day = 1_440;
    let minute = 0;
    while (minute <= 30 * day + 60) {
      const [token, writes] = [world.inUse, world.look(Infinity)];
      const used = world.inUse === token ? '' : ', another one is used';
      if (writes > 0) minutes.push(`${minute}: ${world.granted.length} known${used}`);
      const step = minute < 30 * day ? day : 1;
      world.pass(step * minuteMs);
      minute += step;
    }
    expect(minutes).toEqual([
      '0: 1 known, another one is used',
      `${30 * day}: 2 known`,
      `${30 * day + 10}: 2 known, another one is used`,
      `${30 * day + 30}: 1 known`,
    ]);
  });
});
