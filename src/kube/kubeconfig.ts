import type { ClusterAccess } from './access.ts';

export interface KubeconfigOptions {
  /** Default: `current-context`. */
  readonly context?: string;
}

/** Reads a kubeconfig, given as a path or as its text. */
export function loadKubeconfig(
  _source: string,
  _options: KubeconfigOptions = {},
): Promise<ClusterAccess> {
  return Promise.reject(new Error('being built'));
}

/** Access of a Pod by its mounted ServiceAccount. */
export function inCluster(): Promise<ClusterAccess> {
  return Promise.reject(new Error('being built'));
}
