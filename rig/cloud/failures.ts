/** What the simulation serves, each under its own path prefix. */
export type ServiceName = 'contrabass' | 'keystone' | 'neutron' | 'nova' | 'glance' | 'control';

type FailureKind =
  /** Answers `status`. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string | undefined }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Closes the connection without an answer. */
  | { readonly kind: 'reset' }
  /** Closes the connection in the middle of the body. */
  | { readonly kind: 'truncate' }
  /** Answers lists with nothing in them. */
  | { readonly kind: 'empty' }
  /** Answers lists without these ids. */
  | { readonly kind: 'omit'; readonly ids: readonly string[] };

export type Failure = FailureKind & {
  readonly service: Exclude<ServiceName, 'control'>;
  /** How many requests meet it; missing: all, until healed. */
  readonly times?: number | undefined;
  /** Only requests whose path below the prefix starts so. */
  readonly path?: string | undefined;
};

/** The failures that tests asked for. */
export class Failures {
  #waiting: { readonly failure: Failure; left: number }[] = [];

  add(failure: Failure): void {
    this.#waiting.push({ failure, left: failure.times ?? Number.POSITIVE_INFINITY });
  }

  /** Ends all failures. */
  heal(): void {
    this.#waiting = [];
  }

  /** The failure that this request meets. */
  take(service: ServiceName, path: string): Failure | undefined {
    const entry = this.#waiting.find(
      ({ failure }) => failure.service === service && path.startsWith(failure.path ?? ''),
    );
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left === 0) this.#waiting = this.#waiting.filter((other) => other !== entry);
    return entry.failure;
  }
}
