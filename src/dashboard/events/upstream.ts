/** An event in the operator's stream; `id` resumes the stream after this event. */
export type UpstreamEvent =
  | { readonly kind: 'change'; readonly id: string /** JSON in one line. */; readonly data: string }
  /** Changes before this event are missing. */
  | { readonly kind: 'reset'; readonly id: string }
  | { readonly kind: 'heartbeat'; readonly id: string }
  /** The source has no stream now: tabs poll. */
  | { readonly kind: 'polling' };

/** A source for changes, such as the operator's `/v1/inventory/events`. */
export interface Upstream {
  /**
   * Reads the events after `lastId` (undefined: from now on). Resolves or rejects when the connection ends; ends the
   * connection when the signal aborts.
   */
  subscribe(
    lastId: string | undefined,
    onEvent: (event: UpstreamEvent) => void,
    signal: AbortSignal,
  ): Promise<void>;
}
