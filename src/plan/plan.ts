import type { InterfaceSpec, Routing } from '../api/multinicnodeconfig.ts';
import type { Base, ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { AddressFamily } from '../api/openstackconfig.ts';
import type { OperatorReason } from '../api/reasons.ts';
import type { RemovalBasis } from '../api/removals.ts';
import type { Observation, PortEvidence, Question, ServerEvidence } from './observation.ts';

/** The OpenstackConfig a plan is made for. */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What the OpenstackConfig selects, with every name resolved to an id. */
export interface Selection {
  readonly serverIds: readonly string[];
  /** False while a name could not be resolved, or servers could not be listed: then no server counts as taken out. */
  readonly serversComplete: boolean;
  /** Order is precedence. */
  readonly subnetIds: readonly string[];
  /** False while a selected subnet could not be found: then none counts as taken out. */
  readonly subnetsComplete: boolean;
  /** Whether all servers (subnets) are named by id, so that only an edit of the CR can change the selection. */
  readonly pinned: { readonly servers: boolean; readonly subnets: boolean };
  /** Port statuses, upper case. */
  readonly statuses: 'any' | readonly string[];
  /** RFC 3339; undefined = ports of any age. */
  readonly createdAfter: string | undefined;
  readonly maxInterfaces: number;
  /** Families of the addresses that NICs get; `IPv4`, `IPv6` or both. */
  readonly addressFamilies: readonly AddressFamily[];
  readonly routing: Routing;
  /** Server metadata key that holds the node name. */
  readonly nodeNameKey: string | undefined;
}

/** A node as the business cluster holds it, or as the inventory records it behind a legacy Viola. */
export interface ExistingNode extends ExistingNodeConfig {
  /** True: its last POST was not answered. It has every NIC that the business cluster may hold, and is posted again. */
  readonly isUnanswered?: boolean;
}

/** The NICs that a server had at the last delivery. */
export interface RecordedNode {
  readonly instanceId: string;
  readonly interfaces: readonly Pick<InterfaceSpec, 'id' | 'name' | 'portId' | 'macAddress'>[];
}

export interface PlanInput {
  readonly owner: Owner;
  /** Another OpenstackConfig, `namespace/name`, which is gone or agrees that this one takes its objects over; '' = none. */
  readonly takeOverFrom: string;
  readonly selection: Selection;
  /** Servers the observation is about; nodes of other servers are left alone. */
  readonly scope: 'all' | readonly string[];
  readonly observation: Observation;
  /** Every MultiNicNodeConfig of the business cluster. */
  readonly held: readonly ExistingNode[];
  readonly evidence: readonly PortEvidence[];
  readonly serverEvidence: readonly ServerEvidence[];
  /** What was delivered to servers before, as the inventory knows it: names outlive the object they stand in. */
  readonly recorded: readonly RecordedNode[];
  /** NICs that are delivered for the whole cloud; the measure of an unusually large removal. */
  readonly cloudInterfaces: number;
  /** NICs that were removed just before, and count with those that go now (`nicsGoing`). */
  readonly recentRemovals: readonly string[];
  /** `guarded`: `decideRemovals` says what is held. `allowed`: somebody agreed. `held`: too many are held already. */
  readonly removals: 'guarded' | 'allowed' | 'held';
  /** True: a legacy Viola, which removes neither a node nor its last NIC. */
  readonly keepsNodes?: boolean;
  /** Post every node, changed or not, and take back what a namesake has replaced. */
  readonly force: boolean;
}

export type RemovalCause =
  | Exclude<PortEvidence['verdict'], 'stillAttached' | 'unconfirmed'>
  /** The CR no longer selects its subnet, or somebody gave leave to remove it for want of an address in one. */
  | 'notSelected'
  /** The server was taken out of the selection. */
  | 'deselected'
  /** Another object delivers the NICs of its server. */
  | 'duplicate'
  /** Somebody agreed that a port leaves that Nova did not plug. */
  | 'notPlugged';

/** One delivered NIC that goes, or would go. */
export interface Removal {
  readonly name: string;
  readonly portId: string | undefined;
  readonly macAddress: string;
  /** `noAddress`: the port is there without an address in a selected subnet, which proves nothing. */
  readonly cause: RemovalCause | 'noAddress' | 'unconfirmed';
  readonly basis: RemovalBasis;
}

export interface NodePlan {
  readonly nodeName: string;
  readonly instanceId: string;
  readonly action: 'none' | 'post' | 'delete';
  /** State of the object that this was computed against; null = there is none. */
  readonly base: Base | null;
  /** What the object holds afterwards. */
  readonly interfaces: readonly InterfaceSpec[];
  readonly removals: {
    readonly confirmed: readonly Removal[];
    /** NICs that stay exactly as they are until there is evidence, or until the removal is allowed. */
    readonly unconfirmed: readonly Removal[];
  };
  /** Uids of namesakes of this OpenstackConfig that the object was written for before, the last one first. */
  readonly replaces?: readonly string[];
  /** Somebody agreed to the removals, here and in the business cluster. */
  readonly removalsAllowed?: boolean;
  /** Something has to happen elsewhere first; look again soon. */
  readonly waiting: boolean;
  /** A new NIC did not get the first free name because the status still has a NIC under it; a newer one may not. */
  readonly passedOver?: boolean;
  /** For people. */
  readonly why: string;
  /** The object belongs to another OpenstackConfig, whose NICs these are. */
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
>;

/** Something that keeps a node or a NIC from being delivered; everything else is delivered all the same. */
export interface Problem {
  readonly reason: ProblemReason;
  /** What it is about, such as `node worker-1`. */
  readonly subject: string;
  readonly field?: string;
  readonly value?: string;
  readonly message: string;
}

/** Why a port is no NIC. */
export type PortReason =
  | ProblemReason
  | Extract<
      OperatorReason,
      | 'FamilyNotWanted'
      | 'NetworkUnread'
      | 'PortNotPlugged'
      | 'PortStatus'
      | 'PortTooOld'
      | 'PortWithoutAddress'
      | 'SubnetNotSelected'
      | 'Waiting'
      | 'WaitingForName'
    >;

/** What becomes of one port of a selected server. */
export interface PortVerdict {
  readonly portId: string;
  readonly serverId: string;
  /** The first address in a selected subnet; undefined: none. */
  readonly address?: string;
  /** Name of its NIC; undefined: it is no NIC. */
  readonly nic?: string;
  /** Why it is no NIC, or what is unusual about one that is. */
  readonly reason?: PortReason;
  readonly message?: string;
}

export interface Plan {
  /** In the order of node names. */
  readonly nodes: readonly NodePlan[];
  readonly problems: readonly Problem[];
  /** One verdict for each port of the selected servers in scope, in the order of servers and ports. */
  readonly ports: readonly PortVerdict[];
  readonly ask: readonly Question[];
  /** Servers of delivered nodes that are not selected any more: whether they left the selection is to be read by id. */
  readonly askServers: readonly string[];
  readonly summary: {
    readonly servers: number;
    /** Nodes with NICs of this OpenstackConfig, and their NICs; those of another one count there. */
    readonly nodes: number;
    readonly interfaces: number;
    /** Ports with an address in a selected subnet that are no NIC. */
    readonly filteredPorts: number;
  };
}
