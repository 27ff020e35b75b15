import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { Observation } from '../../plan/observation.ts';
import type { NodePlan, Plan, PortVerdict } from '../../plan/plan.ts';
import type { Delivery } from '../deliver/deliver.ts';
import type { Trouble } from '../status/step-failure.ts';

/** Result of a sync of all servers. */
export interface SyncResult {
  /** The nodes of the last plan. */
  readonly nodes: readonly NodePlan[];
  readonly summary: Plan['summary'];
  /** The verdict on each port of the selected servers. */
  readonly ports: readonly PortVerdict[];
  readonly observation: Observation;
  /** Objects of the business cluster when the nodes were sent. */
  readonly held: readonly ExistingNodeConfig[];
  readonly delivery: Delivery;
  /** Names of objects that could not be read. */
  readonly unreadable: readonly string[];
  /** Whether everything was read that removals depend on. */
  readonly evidenceComplete: boolean;
  /** Nodes that are being removed from former business clusters. */
  readonly leaving: readonly ExistingNodeConfig[];
  /** Business clusters that hold, or may hold, nodes of the OpenstackConfig. */
  readonly deliveredTo: readonly string[];
  /** In the order of the steps. */
  readonly troubles: readonly Trouble[];
  /** Servers with unconfirmed removals that are retried before the status reports them. */
  readonly asking: ReadonlySet<string>;
  /** Endpoints whose certificates the CR exempts from verification. */
  readonly unverified: readonly string[];
  /** False: a legacy Viola, which gives no status of nodes. */
  readonly reportsStatus: boolean;
  /** Whether a service failed: polls back off until it works again. */
  readonly isOutage: boolean;
}

/** A completed sync, for the status. */
export interface ReportedSync {
  readonly synced: SyncResult;
  readonly downPortFastRetryMax: number;
}
