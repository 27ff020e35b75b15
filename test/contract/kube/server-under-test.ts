import type { ClusterAccess } from '../../../src/kube/access/access.ts';

/** A Kubernetes API server, with its garbage collector and Job controller, that the contract suite may fill. */
export interface ServerUnderTest extends AsyncDisposable {
  /** An identity that may do everything. */
  readonly access: ClusterAccess;
  /** An identity that is known and that nothing was granted to. */
  accessAs(user: string): Promise<ClusterAccess>;
}
