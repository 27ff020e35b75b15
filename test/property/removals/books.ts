import type { NodeConfig } from '../../../src/controller/objects/stores.ts';
import type { Wanted } from './cluster.ts';
import { hashOf, macsOf } from './cluster.ts';

/** Consent that a user gave to the removal of NICs. */
export interface Consent {
  /** `edit`: posted with a spec; `held`: a new value of allow-removals; `deletion`: a time in delete-consent. */
  readonly kind: 'edit' | 'held' | 'deletion';
  readonly uid: string;
  /** Undefined: all NICs of the object. */
  readonly macs: readonly string[] | undefined;
  /** Hash of the spec, for an edit. */
  readonly spec?: string;
  /** Generation with the edit, or with the held removals; undefined: a deletion. */
  readonly generation?: number;
  /** Wall-clock time in milliseconds. */
  readonly at: number;
}

/** Statement of the operator that NICs are gone in OpenStack. */
export interface Evidence {
  readonly uid: string;
  /** Undefined: the object's server is gone. */
  readonly macs: readonly string[] | undefined;
  /** Hash of the spec that the statement is for. */
  readonly spec: string;
}

interface Version {
  readonly hash: string;
  readonly macs: readonly string[];
}

/** Books of a life: what users did, independent of the controller's records. */
export class Books {
  readonly consents: Consent[] = [];
  readonly evidence: Evidence[] = [];
  readonly #versions = new Map<string, Version>();
  readonly #requests = new Set<string>();
  readonly #queued = new Map<string, { readonly content: string; readonly at: number }>();

  /** Stores the spec of an object's generation. */
  written({ metadata }: NodeConfig, wanted: Wanted): void {
    const version = { hash: hashOf(metadata.name, wanted), macs: macsOf(wanted.interfaces) };
    this.#versions.set(`${metadata.uid} ${metadata.generation}`, version);
  }

  /** Returns the spec of a generation; a deletion increments the generation without a write. */
  versionOf(uid: string, generation: number): Version | undefined {
    for (let number = generation; number > 0; number--) {
      const version = this.#versions.get(`${uid} ${number}`);
      if (version) return version;
    }
    return undefined;
  }

  /** Stores that a Job for this uid requests a NIC on a node. */
  requested(uid: string, node: string, mac: string): void {
    this.#requests.add(`${uid} ${node} ${mac}`);
  }

  hasRequested(uid: string, node: string, mac: string): boolean {
    return this.#requests.has(`${uid} ${node} ${mac}`);
  }

  /** Stores when each removal entered the queue. Call after each status write: a basis holds from then until its use. */
  observe({ metadata: { uid = '' }, status }: NodeConfig, now: number): void {
    const { content = '', removals = [], used } = basisIn(status?.applied);
    this.#forgetQueued(uid, used ? '' : content);
    if (used) return;
    for (const { mac, basis } of removals) {
      const key = `${uid} ${mac} ${basis}`;
      if (!this.#queued.has(key)) this.#queued.set(key, { content, at: now });
    }
  }

  #forgetQueued(uid: string, content: string): void {
    for (const [key, queued] of this.#queued) {
      if (key.startsWith(`${uid} `) && queued.content !== content) this.#queued.delete(key);
    }
  }

  /** Returns when a removal first entered the queue, in milliseconds; undefined: not observed. */
  queuedAt(uid: string, mac: string, basis: string): number | undefined {
    return this.#queued.get(`${uid} ${mac} ${basis}`)?.at;
  }
}

interface StoredBasis {
  readonly content?: string;
  readonly removals?: readonly { readonly mac: string; readonly basis: string }[];
  readonly used?: boolean;
}

function basisIn(applied: unknown): StoredBasis {
  return (applied as { readonly basis?: StoredBasis } | undefined)?.basis ?? {};
}
