import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../time/clock.ts';

interface Secret {
  readonly hash: Buffer;
  /** Monotonic milliseconds. */
  readonly issuedAt: number;
}

export interface SecretsOptions {
  readonly clock: Clock;
  /** Most valid secrets: a new secret drops the oldest. */
  readonly limit: number;
  /** Time from issue to expiry (ms); undefined: until the process ends. */
  readonly lifetimeMs?: number;
}

/** Issued secrets, stored as hashes only. */
export class Secrets {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #lifetimeMs: number;
  #issued: readonly Secret[] = [];

  constructor({ clock, limit, lifetimeMs = Number.POSITIVE_INFINITY }: SecretsOptions) {
    this.#clock = clock;
    this.#limit = limit;
    this.#lifetimeMs = lifetimeMs;
  }

  /** Returns a new secret with 256 random bits, with letters for URLs and cookies. */
  issue(): string {
    const text = randomText(32);
    const secret = { hash: hashOf(text), issuedAt: this.#clock.monotonicMs() };
    this.#issued = [...this.#valid(), secret].slice(-this.#limit);
    return text;
  }

  isValid(text: string): boolean {
    return this.#find(text) !== undefined;
  }

  /** Returns whether the secret was valid; the secret is invalid from now on. */
  redeem(text: string): boolean {
    const found = this.#find(text);
    this.#issued = this.#valid().filter((secret) => secret !== found);
    return found !== undefined;
  }

  /** Compares all hashes in constant time: the response time says nothing about a secret. */
  #find(text: string): Secret | undefined {
    const hash = hashOf(text);
    return this.#valid().filter((secret) => timingSafeEqual(secret.hash, hash))[0];
  }

  #valid(): readonly Secret[] {
    const now = this.#clock.monotonicMs();
    return this.#issued.filter(({ issuedAt }) => now - issuedAt < this.#lifetimeMs);
  }
}

/** Returns random text with letters for URLs and cookies. */
export function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
