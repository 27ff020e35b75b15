import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Certificate, Pair } from './certificate.ts';
import type { StoredTls } from './stored-tls.ts';
import { authorityLifeMs, backdatedMs, bundleOf, planTls, serverLifeMs } from './tls-plan.ts';

const dayMs = 86_400_000;
const names = ['viola-api', '127.0.0.1'];

interface Made extends Certificate {
  readonly issuer: string;
}

/** Both Secrets in any possible state, and the reader's clock. */
class TlsModel {
  now = Date.parse('2026-01-01T00:00:00Z');
  authority: { pair: Made; hasKey: boolean; bundle: readonly Certificate[] } | undefined;
  server: { pair: Made; hasKey: boolean; shown: readonly Certificate[] } | undefined;
  #made = 0;

  get held(): StoredTls {
    const { server, signing, bundle, shown } = this;
    const known = [...(signing ? [signing.certificate] : []), ...bundle, ...shown];
    const issuer = known.find(({ id }) => id === server?.pair.issuer);
    return {
      signing,
      trusted: { text: bundleOf(bundle), authorities: bundle },
      server: server?.hasKey ? { certificate: server.pair, key: 'its key', issuer } : undefined,
      shown: bundleOf(shown),
    };
  }

  get signing(): Pair | undefined {
    return this.authority?.hasKey
      ? { certificate: this.authority.pair, key: 'its key' }
      : undefined;
  }

  get bundle(): readonly Certificate[] {
    return this.authority?.bundle ?? [];
  }

  get shown(): readonly Certificate[] {
    return this.server?.shown ?? [];
  }

  get plan() {
    return planTls(this.held, this.now, names);
  }

  /** Runs plan steps until none is left, or stops after `deathAfter` writes; returns the number of writes. */
  renew(deathAfter: number, onWrite: (world: TlsModel) => void = () => undefined): number {
    for (let writes = 0; ; writes++) {
      const { step } = this.plan;
      if (!step || writes === deathAfter) return writes;
      if (writes > 3) throw new Error(`never ends: ${step.why}`);
      if (step.write === 'authority') this.#writeAuthority(step.pair !== undefined, step.beside);
      else this.#writeServer(step.pair !== undefined, step.beside);
      onWrite(this);
    }
  }

  #writeAuthority(keeps: boolean, beside: readonly Certificate[]): void {
    const pair = keeps && this.authority ? this.authority.pair : this.#make(authorityLifeMs);
    const bundle = keeps ? beside : [pair, ...beside];
    this.authority = { pair, hasKey: true, bundle };
  }

  #writeServer(keeps: boolean, beside: readonly Certificate[]): void {
    const by = this.authority?.pair.id ?? '';
    const pair = keeps && this.server ? this.server.pair : this.#make(serverLifeMs, by);
    this.server = { pair, hasKey: true, shown: beside };
  }

  #make(lifeMs: number, issuer?: string): Made {
    const id = `${++this.#made}`;
    const [fromMs, untilMs] = [this.now - backdatedMs, this.now + lifeMs];
    return { id, pem: `<${id}>`, issuer: issuer ?? id, fromMs, untilMs, names };
  }
}

const damages = {
  'the authority is deleted': (world: TlsModel) => (world.authority = undefined),
  'the certificate is deleted': (world: TlsModel) => (world.server = undefined),
  'the key of the authority is lost': (world: TlsModel) => {
    if (world.authority) world.authority.hasKey = false;
  },
  'the key of the certificate is lost': (world: TlsModel) => {
    if (world.server) world.server.hasKey = false;
  },
  'ca.crt is lost': (world: TlsModel) => {
    if (world.authority) world.authority.bundle = [];
  },
  'it is for other names': (world: TlsModel) => {
    if (world.server) world.server.pair = { ...world.server.pair, names: ['other'] };
  },
} as const;

type Act =
  | { readonly kind: 'renew'; readonly deathAfter: number }
  | { readonly kind: 'pass'; readonly days: number }
  | { readonly kind: 'damage'; readonly what: keyof typeof damages };

const renew = fc.record({
  kind: fc.constant('renew' as const),
  deathAfter: fc.constantFrom(0, 1, 2, Infinity),
});
const pass = (min: number, max: number) =>
  fc.record({ kind: fc.constant('pass' as const), days: fc.integer({ min, max }) });
const damage = fc.record({
  kind: fc.constant('damage' as const),
  what: fc.constantFrom(...(Object.keys(damages) as (keyof typeof damages)[])),
});

function act(world: TlsModel, one: Act, onWrite?: (world: TlsModel) => void): void {
  if (one.kind === 'renew') world.renew(one.deathAfter, onWrite);
  else if (one.kind === 'pass') world.now += one.days * dayMs;
  else damages[one.what](world);
}

/** Returns true if a newly elected leader can verify the server certificate. */
function isVerifiable({ held, now }: TlsModel): boolean {
  const { server, trusted } = held;
  const issuer = trusted.authorities.find(({ id }) => id === server?.issuer?.id);
  const valid = (one: Certificate | undefined) =>
    one !== undefined && one.fromMs <= now && now < one.untilMs;
  return valid(server?.certificate) && valid(issuer);
}

describe('planTls', () => {
  it('planTls reaches a valid final state from any state, after any crash between writes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(renew, pass(-800, 4_000), damage), { maxLength: 12 }),
        (acts) => {
          const world = new TlsModel();
          for (const one of acts) act(world, one);
          world.renew(Infinity);
          expect(isVerifiable(world)).toBe(true);
          expect(world.server?.pair.names).toEqual(names);
          expect(world.held.signing && world.held.shown === world.held.trusted.text).toBe(true);
          expect(world.authority?.bundle.length).toBeLessThanOrEqual(4);
          expect(world.plan.dueMs).toBeGreaterThan(world.now);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('planTls signs only with trusted CAs, and never drops a CA in use', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(renew, pass(-800, 4_000), damage), { maxLength: 12 }),
        (acts) => {
          const world = new TlsModel();
          for (const one of [...acts, { kind: 'renew', deathAfter: Infinity } as const]) {
            const { server } = world.held;
            const issuer = server?.issuer;
            // Certificates from an expired CA cannot be verified any more.
            const stays = issuer && world.now < issuer.untilMs;
            act(world, one, ({ held, plan }) => {
              const ids = held.trusted.authorities.map(({ id }) => id);
              if (held.server && world.server?.pair !== server?.certificate) {
                expect(ids).toContain(world.server?.pair.issuer);
              }
              if (one.kind === 'renew' && stays) expect(plan.trusted).toContainEqual(issuer);
            });
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('planTls keeps the server certificate verifiable over two CA lifetimes when rounds run weekly', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(pass(1, 7), renew), { minLength: 3, maxLength: 3 }),
        (rounds) => {
          const world = new TlsModel();
          world.renew(Infinity);
          for (let week = 0; week < 22 * 52; week++) {
            const [wait, renewal] = rounds[week % rounds.length] ?? [];
            if (!wait || !renewal) return;
            act(world, wait);
            expect(isVerifiable(world)).toBe(true);
            act(world, renewal, (after) => expect(isVerifiable(after)).toBe(true));
            if (week % 4 === 0) world.renew(Infinity);
          }
        },
      ),
      { numRuns: 20 },
    );
  });

  it('planTls keeps the bundle bounded and the CA in use trusted after repeated CA key loss', () => {
    const world = new TlsModel();
    world.renew(Infinity);
    const shown = world.server?.pair;
    for (let times = 0; times < 10; times++) {
      world.now += dayMs;
      damages['the key of the authority is lost'](world);
      world.renew(Infinity);
      expect(world.authority?.bundle.length).toBeLessThanOrEqual(4);
      expect([world.server?.pair, isVerifiable(world)]).toEqual([shown, true]);
    }
  });

  it.each([
    ['has expired', -1],
    ['is not valid yet', 1],
  ])('planTls reissues the certificate when its CA %s', (_, direction) => {
    const world = new TlsModel();
    world.renew(Infinity);
    const { server } = world;
    if (!server) throw new Error('there is no certificate');
    const shiftMs = direction * 8_000 * dayMs;
    const issuer = {
      ...server.pair,
      id: 'theirs',
      pem: '<theirs>',
      fromMs: server.pair.fromMs + shiftMs,
      untilMs: server.pair.untilMs + shiftMs,
    };
    world.server = { ...server, pair: { ...server.pair, issuer: 'theirs' }, shown: [issuer] };
    expect(isVerifiable(world)).toBe(false);
    world.renew(Infinity);
    expect(isVerifiable(world)).toBe(true);
  });

  it('planTls writes nothing when both certificates are valid', () => {
    const world = new TlsModel();
    expect(world.renew(Infinity)).toBe(2);
    expect(world.renew(Infinity)).toBe(0);
    world.now += 59 * dayMs;
    expect(world.renew(Infinity)).toBe(0);
    world.now += 2 * dayMs;
    expect(world.renew(Infinity)).toBe(1);
  });
});
