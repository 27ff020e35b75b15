import type { ClusterNetwork } from '../api/cluster-networks.ts';
import type { StoredHold, WaitingNic } from '../api/held-nics.ts';
import type { InterfaceSpec, Routing } from '../api/multinicnodeconfig.ts';
import type { Base, DeleteBasis, ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { AddressFamily } from '../api/openstackconfig.ts';
import type { OperatorReason, PortReason } from '../api/reasons.ts';
import type { BudgetUse, RemovalBasis } from '../api/removals.ts';
import type { Observation, PortEvidence, Question, ServerEvidence } from './observation.ts';

/** OpenstackConfig that the plan belongs to. */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Management cluster: uid of its Namespace kube-system; undefined: unknown. */
  readonly cluster?: string | undefined;
  /** Lost management clusters: their OpenstackConfigs continue here. */
  readonly formerClusters?: readonly string[];
  /** Keystone's `host:port` and project id, joined by a slash; undefined: unknown. */
  readonly cloud?: string | undefined;
}

/** Selection with all names resolved to ids. */
export interface Selection {
  readonly serverIds: readonly string[];
  /** False while a server name is unresolved or the server list failed: no server then counts as deselected. */
  readonly serversComplete: boolean;
  /** In order of precedence. */
  readonly subnetIds: readonly string[];
  /** False while a selected subnet is missing: no subnet then counts as deselected. */
  readonly subnetsComplete: boolean;
  /** True if all servers (subnets) are selected by id, so that only an edit can change the selection. */
  readonly pinned: { readonly servers: boolean; readonly subnets: boolean };
  /** Port statuses, upper case. */
  readonly statuses: 'any' | readonly string[];
  /** RFC 3339; undefined: ports with any age. */
  readonly createdAfter: string | undefined;
  readonly maxInterfaces: number;
  /** Address families for NICs: `IPv4`, `IPv6` or both. */
  readonly addressFamilies: readonly AddressFamily[];
  readonly routing: Routing;
  /** Server metadata key with the node name. */
  readonly nodeNameKey: string | undefined;
}

/** Node in the business cluster, or in the inventory record when a legacy Viola is used. */
export interface ExistingNode extends ExistingNodeConfig {
  /**
   * True: the last POST had no answer. The node lists every NIC that the business cluster may have, and is posted
   * again.
   */
  readonly isUnanswered?: boolean;
}

/** A server's NICs at the last delivery. */
export interface RecordedNode {
  readonly instanceId: string;
  readonly interfaces: readonly Pick<InterfaceSpec, 'id' | 'name' | 'portId' | 'macAddress'>[];
}

export interface PlanInput {
  readonly owner: Owner;
  /** Business cluster (k8sProviderID). */
  readonly providerId: string;
  /**
   * Former OpenstackConfig for a take-over: `namespace/name`, deleted or consenting, or `CLUSTER-UID/namespace/name`
   * in a different management cluster; '': none.
   */
  readonly takeOverFrom: string;
  /** Uids of OpenstackConfigs of this management cluster that are deleted or in deletion. */
  readonly leftSources: readonly string[];
  /** True: objects without source may be taken. */
  readonly takesUnowned: boolean;
  /** True: this Viola stores cluster and cloud in the source. */
  readonly storesIdentity?: boolean;
  readonly selection: Selection;
  /** Servers covered by the observation; other servers' nodes stay untouched. */
  readonly scope: 'all' | readonly string[];
  readonly observation: Observation;
  /** All MultiNicNodeConfigs in the business cluster. */
  readonly held: readonly ExistingNode[];
  readonly evidence: readonly PortEvidence[];
  readonly serverEvidence: readonly ServerEvidence[];
  /** Former deliveries from the inventory: names outlive their objects. */
  readonly recorded: readonly RecordedNode[];
  /** Removal budgets, with the use by the last hour. */
  readonly budgets: readonly RecordedUse[];
  /** NICs (`nicAt`) with a recorded but unfinished removal: a retry counts once. */
  readonly recordedNics: readonly string[];
  /**
   * `guarded`: the budgets decide. `held`: an earlier plan in this generation held removals. `unreadable`: the records
   * cannot be read.
   */
  readonly removals: 'guarded' | 'held' | 'unreadable';
  /** NICs held by earlier syncs of this generation. */
  readonly storedHold: StoredHold;
  /** Consent to the waiting removals; undefined: none. */
  readonly consent?: RemovalApproval;
  /** Why the operator refuses the consent; undefined: no refusal. */
  readonly refusal?: string;
  /**
   * Removal bases in this sync's first plan, by NIC (`nicAt`). A repeated plan removes no further NIC without evidence.
   * Undefined: first plan.
   */
  readonly decided?: ReadonlyMap<string, RemovalBasis>;
  /** Releases sent within the last hour; an equal release is not sent again. */
  readonly sentReleases: readonly SentRelease[];
  /** Networks of the business cluster; undefined: unknown. */
  readonly clusterNetworks?: readonly ClusterNetwork[];
  /** True: the objects get mode Observe; undefined: Apply. */
  readonly observes?: boolean;
  /**
   * Consent to adopt existing configuration. `unknown`: Viola's support is unknown, and objects keep the consent that
   * Viola wrote. Undefined: no consent.
   */
  readonly adoption?: 'consented' | 'unknown';
  /** True: a legacy Viola, which deletes neither a node nor its last NIC. */
  readonly keepsNodes?: boolean;
  /** True: post every node, even unchanged, and take nodes back from a namesake. */
  readonly force: boolean;
}

export type RemovalCause =
  | Exclude<PortEvidence['verdict'], 'stillAttached' | 'unconfirmed'>
  /**
   * The OpenstackConfig deselected the subnet, or a user consented to remove a NIC without address in a selected
   * subnet.
   */
  | 'notSelected'
  /** The server was deselected. */
  | 'deselected'
  /** Another object delivers the server's NICs. */
  | 'duplicate'
  /** A user consented to remove a port that Nova did not plug. */
  | 'notPlugged';

/** Budget use by removals within the last hour. */
export interface RecordedUse extends BudgetUse {
  /** RFC 3339: an hour after the oldest removal; undefined: no removal within the last hour. */
  readonly freeAt?: string;
}

/** Budget use including this plan. */
export interface PlannedUse extends RecordedUse {
  /** Nodes or NICs that may lose NICs within an hour without consent. */
  readonly allowed: number;
}

/** A user's consent to removals. */
export interface RemovalApproval {
  /** Value of the annotation multinic.io/allow-removals. */
  readonly value: string;
  /** Digests of the NICs that were held when the user consented: the consent covers only these. */
  readonly digests: string;
  /** True: an earlier sync stored the consent with its counts. */
  readonly isStored: boolean;
}

/** NIC missing from the object, kept by the controller until evidence or consent. */
export interface KeptNic {
  /** Lower case. */
  readonly macAddress: string;
  /** `sideEffect`: neither evidence nor consent. */
  readonly basis: Extract<RemovalBasis, 'evidence' | 'consent' | 'sideEffect'>;
}

/** Evidence or consent for a kept NIC, as sent to Viola. */
export interface SentRelease {
  readonly uid: string;
  readonly generation: number;
  /** Empty: an earlier controller, which reports no kept NICs. */
  readonly macAddress: string;
  readonly basis: RemovalBasis;
  /** Value of the consent; empty: evidence. */
  readonly value: string;
}

/** Delivered NIC with a planned or pending removal. */
export interface Removal {
  readonly name: string;
  readonly portId: string | undefined;
  readonly macAddress: string;
  /** `noAddress`: the port exists without an address in a selected subnet, which proves nothing. */
  readonly cause: RemovalCause | 'noAddress' | 'unconfirmed';
  readonly basis: RemovalBasis;
}

export interface NodePlan {
  readonly nodeName: string;
  readonly instanceId: string;
  readonly action: 'none' | 'post' | 'delete';
  /** Object state that this plan was computed against; null: no object. */
  readonly base: Base | null;
  /** Entries after the plan. */
  readonly interfaces: readonly InterfaceSpec[];
  readonly removals: {
    readonly confirmed: readonly Removal[];
    /** NICs that stay unchanged until evidence or consent. */
    readonly unconfirmed: readonly Removal[];
  };
  /** Uids of replaced namesakes, latest first. */
  readonly replaces?: readonly string[];
  /** True: the object had another uid and no management cluster; only the name shows its owner. */
  readonly isUnverified?: boolean;
  /** True: the object gets consent to adopt existing configuration. */
  readonly adopts?: boolean;
  /** Former cloud, kept in the source until the account has read all NICs. Undefined: the owner's cloud. */
  readonly cloud?: string | undefined;
  /**
   * NICs kept by the controller, or known on a node that is deleted; empty: the controller keeps NICs without naming
   * them. Undefined: none.
   */
  readonly keptNics?: readonly KeptNic[];
  /** True: a user consented to removals that an earlier controller keeps without naming NICs. */
  readonly removalsAllowed?: boolean;
  /** Basis of a repeated DELETE; undefined: the removals name their bases. */
  readonly deleteBasis?: DeleteBasis;
  /** True: another action must finish first, and the node needs a new plan soon. */
  readonly waiting: boolean;
  /**
   * True: a new NIC skipped a free name because the status still contains this name; a newer status may free the
   * name.
   */
  readonly passedOver?: boolean;
  /** Reason in words, for display. */
  readonly why: string;
  /** True: the object and its NICs belong to another OpenstackConfig. */
  readonly isForeign?: boolean;
}

export type ProblemReason = Extract<
  OperatorReason,
  | 'InterfaceLimitExceeded'
  | 'InvalidNodeName'
  | 'InvalidPort'
  | 'NameConflict'
  | 'NeutronPortError'
  | 'NeutronSubnetError'
  | 'NovaServerError'
  | 'RemovalHeld'
  | 'RemovalUnconfirmed'
  | 'ServerNotFound'
  | 'ServerSoftDeleted'
  | 'SubnetOverlapsCluster'
>;

/** Obstacle to delivering a node or NIC; everything else is delivered nevertheless. */
export interface Problem {
  readonly reason: ProblemReason;
  /** Subject, such as `node worker-1`. */
  readonly subject: string;
  readonly field?: string;
  readonly value?: string;
  readonly message: string;
}

/** Result for one port on a selected server. */
export interface PortVerdict {
  readonly portId: string;
  readonly serverId: string;
  /** First address in a selected subnet; undefined: none. */
  readonly address?: string;
  /** NIC name; undefined: no NIC. */
  readonly nic?: string;
  /** Reason for a missing NIC, or an anomaly about an existing NIC. */
  readonly reason?: PortReason;
  readonly message?: string;
}

export interface Plan {
  /** Ordered by node name. */
  readonly nodes: readonly NodePlan[];
  readonly problems: readonly Problem[];
  /** One verdict per port on selected servers in scope, ordered by server and port. */
  readonly ports: readonly PortVerdict[];
  readonly ask: readonly Question[];
  /** NICs whose removal waits for consent; undefined: none. */
  readonly heldRemovals?: number;
  /** Budgets with removals from the last hour and from this plan. */
  readonly budgets: readonly PlannedUse[];
  /** NICs that wait for a consent, without those that the given consent covers. */
  readonly heldNics: readonly WaitingNic[];
  /** NICs and nodes that the given consent covers; undefined: no consent, or none of them waits. */
  readonly consentFor?: { readonly nics: number; readonly nodes: number };
  /** Delivered but unselected servers whose removal needs a read by id as evidence. */
  readonly askServers: readonly string[];
  readonly summary: {
    readonly servers: number;
    /** Nodes with NICs from this OpenstackConfig, and the NIC count; another OpenstackConfig's NICs do not count. */
    readonly nodes: number;
    readonly interfaces: number;
    /** Ports with an address in a selected subnet but without NIC. */
    readonly filteredPorts: number;
  };
}
