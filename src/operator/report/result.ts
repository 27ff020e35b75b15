import type { WaitingNic } from '../../api/held-nics.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { Observation } from '../../plan/observation.ts';
import type { NodePlan, Plan, PortVerdict } from '../../plan/plan.ts';
import type { Delivery } from '../clusters/deliver/deliver.ts';
import type { ReadTime } from '../model/read-time.ts';
import { standing } from '../model/standing-reasons.ts';
import type { StatusProblem } from '../model/step-failure.ts';
import type { SyncContent } from '../model/sync-content.ts';

/** A business cluster under several ids. */
export interface DuplicateCluster {
  readonly providerId: string;
  /** Further ids, sorted. */
  readonly ids: readonly string[];
  /** Names: nodes that only a former id delivers. */
  readonly staying: readonly string[];
}

/** An OpenstackConfig's nodes in its former business clusters. */
export interface FormerClusters {
  readonly leaving: readonly ExistingNodeConfig[];
  /** Business clusters with possible nodes, including the present business cluster. */
  readonly deliveredTo: readonly string[];
  readonly problems: readonly StatusProblem[];
  /** NICs whose removal waits for consent. */
  readonly heldNics: readonly WaitingNic[];
  /** Former ids of the present business cluster. */
  readonly sameClusterIds: readonly string[];
  /** Names: nodes in the present business cluster that only a former id delivers. */
  readonly staying: readonly string[];
}

/** Result of a sync of all servers. */
export interface SyncResult {
  readonly content: SyncContent;
  /** The last plan's nodes. */
  readonly nodes: readonly NodePlan[];
  readonly summary: Plan['summary'];
  /** Verdict per port of the selected servers. */
  readonly ports: readonly PortVerdict[];
  readonly observation: Observation;
  /** MultiNicNodeConfigs in the business cluster when the nodes were sent. */
  readonly held: readonly ExistingNodeConfig[];
  readonly heldRead: ReadTime;
  readonly delivery: Delivery;
  /** Names of unreadable objects. */
  readonly unreadable: readonly string[];
  /** Whether all data for removals was read. */
  readonly evidenceComplete: boolean;
  /** Nodes being removed from former business clusters. */
  readonly leaving: readonly ExistingNodeConfig[];
  /** Business clusters with nodes, or possible nodes, of the OpenstackConfig. */
  readonly deliveredTo: readonly string[];
  /** The business cluster under further ids; undefined: it has one id, as far as known. */
  readonly duplicate: DuplicateCluster | undefined;
  /** Ordered by step. */
  readonly problems: readonly StatusProblem[];
  /** Servers with unconfirmed removals, retried before the status reports them. */
  readonly retrying: ReadonlySet<string>;
  /** Endpoints with certificate verification disabled by the CR. */
  readonly unverified: readonly string[];
  /** False: a legacy Viola, which returns no node status. */
  readonly reportsStatus: boolean;
  /** NICs waiting for consent. */
  readonly heldNics: readonly WaitingNic[];
  /** Whether a service failed: polls back off until the service works again. */
  readonly isOutage: boolean;
}

/** True if a full sync has decided about every selected node: no read and no delivery failed. */
export function isDecided({ isOutage, evidenceComplete, delivery, problems }: SyncResult): boolean {
  const isRetried = problems.some(({ reason }) => !standing.has(reason));
  return !isOutage && evidenceComplete && delivery.failures.length === 0 && !isRetried;
}

/** A completed sync, for the status. */
export interface ReportedSync {
  readonly synced: SyncResult;
  /** The business cluster's key. */
  readonly cluster: string;
  readonly downPortFastRetryMax: number;
}
