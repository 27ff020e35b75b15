import type { ClusterNetwork } from '../api/cluster-networks.ts';
import type { InventoryChange } from '../api/inventory-http.ts';
import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import type { OpenstackConfig } from '../api/openstackconfig.ts';
import type { ClusterView, NodeView, PortView } from '../api/read-http.ts';
import type { Fact } from './fact.ts';

/** A Kubernetes Node of a business cluster. */
export interface KubernetesNode {
  readonly name: string;
  readonly internalIps: readonly string[];
  readonly isReady: boolean;
  readonly systemUuid: string;
}

/** The agent Job that ran last on a node. */
export interface AgentJob {
  readonly name: string;
  readonly attempt: number | undefined;
  /** The Pod's waiting or failure reason, such as ImagePullBackOff; undefined: none. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
}

/** Build of each part, by part and cluster. */
export interface PartVersion {
  readonly part: 'operator' | 'viola' | 'controller' | 'lifecycle' | 'cli';
  /** Undefined: management cluster, or this process. */
  readonly providerId: string | undefined;
  readonly version: string;
}

/** Parts in one cluster, with health and build; empty: not installed by a chart. */
export interface Parts {
  readonly health: readonly PartHealth[];
  readonly versions: readonly PartVersion[];
}

/** Controllers by provider. */
export type ControllerFacts = ReadonlyMap<string, Fact<Parts>>;

/** A port's past as NIC. */
export interface Formerly {
  /** Last change, if the NIC was removed; undefined: no removal in the searched history. */
  readonly removal:
    | Pick<InventoryChange, 'providerId' | 'nodeName' | 'name' | 'at' | 'basis'>
    | undefined;
  /** Oldest searched change (RFC 3339); undefined: unknown. */
  readonly oldest: string | undefined;
}

/** Everything that one port's explanation uses. */
export interface PortFacts {
  /** Undefined: no account of an OpenstackConfig sees such a port. */
  readonly port: Fact<PortView | undefined>;
  /** Undefined: no business cluster of this id is registered. */
  readonly cluster: Fact<ClusterView | undefined>;
  /** Read through Viola; undefined: no OpenstackConfig delivers the node. */
  readonly node: Fact<NodeView | undefined>;
  /** Undefined: no Node has the server's systemUUID. */
  readonly kubernetesNode: Fact<KubernetesNode | undefined>;
  /** Undefined: no agent Job exists. */
  readonly job: Fact<AgentJob | undefined>;
  /** Nodes with a NIC in the port's network, to compare the MTU. */
  readonly neighbours: Fact<readonly NodeView[]>;
  readonly versions: Fact<readonly PartVersion[]>;
  /** Absent: no access options. Their builds are also in `versions`. */
  readonly controllers: ControllerFacts;
  /** OpenstackConfigs, for complete commands; absent: commands append to a list by JSON patch. */
  readonly configs?: Fact<readonly OpenstackConfig[]>;
  /** All ports on the port's server; absent: only the port itself is known. */
  readonly serverPorts?: Fact<readonly PortView[]>;
  /** True: the user entered a server, not a port. */
  readonly isOfServer?: boolean;
  /** Read for a port without server; absent: not needed. */
  readonly formerly?: Fact<Formerly>;
  /** NIC name, if the user entered NODE/NIC. */
  readonly nicName?: string;
  /** Time of this explanation. */
  readonly now: Date;
}

/** A part's waiting Pod, such as a Pod without image. */
export interface PodNotStarted {
  readonly pod: string;
  /** Waiting reason from a container or the scheduler, such as ErrImagePull or Unschedulable. */
  readonly reason: string;
  /** The waiting container's image; absent: no container waits. */
  readonly image?: string | undefined;
  /** Message from the Pod's last Event, else from the waiting state; absent: no message. */
  readonly message?: string | undefined;
}

/** Health of one part. */
export interface PartHealth {
  readonly part: 'operator' | 'viola' | 'inventory' | 'controller' | 'lifecycle';
  readonly providerId: string | undefined;
  /** Namespace with the Deployment; absent: no Deployment. */
  readonly namespace?: string | undefined;
  readonly readyReplicas: number;
  readonly replicas: number;
  /** Leader Pod, for the operator; undefined: none or not applicable. */
  readonly leader: string | undefined;
  /** Why it is not healthy; undefined: healthy. */
  readonly problem: string | undefined;
  /**
   * The operator's installation; default `Deployment`. `Process`: a Lease without a Deployment, such as `make run`.
   * `None`: neither a Deployment nor a Lease exists; with 0 replicas and without leader.
   */
  readonly installed?: 'Deployment' | 'Process' | 'None';
  /** True during a rollout within its deadline, with enough ready replicas; absent: no rollout. */
  readonly isUpdating?: boolean;
  /** Namespaces with an operator, first the examined namespace; absent: no second operator. */
  readonly homes?: readonly string[];
  /** Waiting Pods; absent: none, or not read. */
  readonly notStarted?: readonly PodNotStarted[];
}

/** Everything that an examination of the whole system uses. */
export interface SystemFacts {
  readonly parts: Fact<readonly PartHealth[]>;
  readonly configs: Fact<readonly OpenstackConfig[]>;
  /** Namespace with the examined OpenstackConfigs; absent: all namespaces. */
  readonly namespace?: string;
  readonly clusters: Fact<readonly ClusterView[]>;
  readonly nodes: Fact<readonly NodeView[]>;
  readonly versions: Fact<readonly PartVersion[]>;
  /** Their builds are also in `versions`. */
  readonly controllers: ControllerFacts;
  /** Kubernetes Nodes by provider. */
  readonly kubernetesNodes: ReadonlyMap<string, Fact<readonly KubernetesNode[]>>;
  /** MultiNicNodeConfigs by provider, read in the business cluster. */
  readonly nodeConfigs: ReadonlyMap<string, Fact<readonly MultiNicNodeConfig[]>>;
  /** Networks for Services and Pods by provider; empty: the cluster names none. */
  readonly clusterNetworks: ReadonlyMap<string, Fact<readonly ClusterNetwork[]>>;
  readonly now: Date;
}
