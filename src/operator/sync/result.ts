import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { Observation } from '../../plan/observation.ts';
import type { NodePlan, Plan, PortVerdict } from '../../plan/plan.ts';
import type { Delivery } from '../deliver/deliver.ts';
import type { Trouble } from '../status/step-failure.ts';

/** What one pass through the steps saw and did. */
export interface SyncResult {
  /** The nodes as they were planned last. */
  readonly nodes: readonly NodePlan[];
  readonly summary: Plan['summary'];
  /** What becomes of each port of the selected servers. */
  readonly ports: readonly PortVerdict[];
  readonly observation: Observation;
  /** What the business cluster held when the nodes were sent. */
  readonly held: readonly ExistingNodeConfig[];
  readonly delivery: Delivery;
  /** Objects of which nothing is known. */
  readonly unreadable: readonly string[];
  /** Whether everything was read that a removal depends on. */
  readonly evidenceComplete: boolean;
  /** Nodes in business clusters that the OpenstackConfig names no longer. */
  readonly leaving: readonly ExistingNodeConfig[];
  /** Business clusters that hold, or may hold, nodes of the OpenstackConfig. */
  readonly deliveredTo: readonly string[];
  /** In the order of the steps. */
  readonly troubles: readonly Trouble[];
  /** Servers of which Nova is asked again what became of a NIC, before anybody is told. */
  readonly asking: ReadonlySet<string>;
  /** Whose certificates are not verified at the wish of the CR. */
  readonly unverified: readonly string[];
  /** False: a legacy Viola, which gives no status of nodes. */
  readonly reportsStatus: boolean;
  /** A service failed: less often is enough until it works again. */
  readonly isOutage: boolean;
}

/** A sync that came through. */
export interface SyncSeen {
  readonly synced: SyncResult;
  readonly downPortFastRetryMax: number;
}
