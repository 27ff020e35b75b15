import type { ClusterAccess } from '../../../src/kube/access/access.ts';

/** Kubernetes API server for the contract suite, with garbage collector and Job controller. */
export interface ServerUnderTest extends AsyncDisposable {
  /** Identity with all rights. */
  readonly access: ClusterAccess;
  /** Known identity without rights. */
  accessAs(user: string): Promise<ClusterAccess>;
}
