/** Choice between clusters, and how to reach each. */
export interface AccessOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly operatorNamespace?: string;
  /** Context by business cluster. */
  readonly businessContext: ReadonlyMap<string, string>;
  /** Kubeconfig by business cluster; absent: the one of the management cluster. */
  readonly businessKubeconfig?: ReadonlyMap<string, string>;
  /** Longest time for one source (ms). */
  readonly requestTimeout?: number;
  /** URL of the operator's API; undefined: port-forward. */
  readonly inventory?: string;
  readonly tokenFile?: string;
}

/** Default for `requestTimeout` (ms). */
export const usualRequestTimeoutMs = 10_000;
