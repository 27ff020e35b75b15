import type { Generated, Kysely } from 'kysely';

/** One node's config as the business cluster holds it. */
export interface NodeConfigTable {
  readonly provider_id: string;
  readonly node_name: string;
  readonly instance_id: string;
  /** JSON of nodeName, instanceId and interfaces. */
  readonly config: string;
  /** sha256 (hex) of the config. */
  readonly hash: string;
  /** State of the MultiNicNodeConfig this is a copy of. */
  readonly uid: string;
  readonly generation: number;
  /** OpenstackConfig the node comes from. */
  readonly cr_namespace: string;
  readonly cr_name: string;
  /** When the config last changed: RFC 3339 in UTC, so that text order is time order. */
  readonly updated_at: string;
  readonly interface_count: number;
  /** Hash of what the last look saw of its ports; '' = nothing was noted yet. */
  readonly seen_hash: string;
}

/** What a row of the deployed system's tables says of itself; times are UTC, as `sqlTime` writes them. */
interface Lifecycle {
  readonly id: Generated<number>;
  /** `active` or `deleted`. */
  readonly status: string | null;
  readonly created_at: string | null;
  readonly modified_at: string | null;
  /** Null while it is there. A row that comes back is the same row again. */
  readonly deleted_at: string | null;
  /** Business cluster; '' in rows that the deployed system wrote. */
  readonly provider_id: string;
}

/** A subnet that a delivered NIC has its address of. */
export interface SubnetTable extends Lifecycle {
  readonly subnet_id: string;
  readonly subnet_name: string;
  readonly cidr: string;
  readonly network_id: string;
  readonly network_name: string;
}

/** A server that a node config was delivered for. */
export interface NodeTable extends Lifecycle {
  readonly attached_node_id: string;
  readonly attached_node_name: string;
}

/** A delivered NIC, with what was seen of its port; `created_at` is the port's own when Neutron tells it. */
export interface InterfaceTable extends Lifecycle {
  readonly port_id: string;
  readonly subnet_id: string;
  readonly macaddress: string;
  readonly attached_node_id: string | null;
  readonly attached_node_name: string | null;
  readonly cr_namespace: string;
  readonly cr_name: string;
  /** 1: the node reports it configured. */
  readonly netplan_success: number;
  readonly network_id: string;
  /** Neutron's word, upper case; '' = not seen yet. */
  readonly port_status: string;
  /** JSON list of the port's addresses; '' = not seen yet. */
  readonly addresses: string;
}

/** The OpenstackConfigs that were looked at, and what of. */
export interface CrStateTable {
  readonly id: Generated<number>;
  readonly cr_namespace: string;
  readonly cr_name: string;
  /** sha256 (hex) of the spec without passwords. */
  readonly spec_hash: string;
  readonly last_updated: string | null;
}

/** Who changed which NIC when. */
export interface ChangeLogTable {
  readonly id: Generated<number>;
  readonly at: string;
  readonly provider_id: string;
  readonly node_name: string;
  readonly instance_id: string;
  /** `added`, `changed` or `removed`. */
  readonly change: string;
  readonly name: string;
  readonly port_id: string;
  readonly mac_address: string;
  /** JSON of the entry before and after; '' = none. */
  readonly before_entry: string;
  readonly after_entry: string;
  readonly cr_namespace: string;
  readonly cr_name: string;
  readonly cr_generation: number;
}

/** The NICs that a server had at its last delivery; they outlive the node they stood in, because names do. */
export interface ServerNicsTable {
  readonly instance_id: string;
  /** JSON of nodeName, instanceId and interfaces. */
  readonly config: string;
  readonly updated_at: string;
}

export interface Tables {
  readonly node_config: NodeConfigTable;
  readonly change_log: ChangeLogTable;
  readonly server_nics: ServerNicsTable;
  readonly multi_subnet: SubnetTable;
  readonly node_table: NodeTable;
  readonly multi_interface: InterfaceTable;
  readonly cr_state: CrStateTable;
}

export type Database = Kysely<Tables>;
