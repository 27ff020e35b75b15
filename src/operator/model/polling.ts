/** Shortest poll interval: OpenStack needs longer to list a large project. */
export const shortestPollMs = 1_000;

/** Poll intervals for one OpenstackConfig. */
export interface Polling {
  readonly fastMs: number;
  readonly slowMs: number;
  readonly errorMs: number;
  /** Duration of fast polling after a change; 0: never fast. */
  readonly windowMs: number;
}
