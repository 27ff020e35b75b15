import type { Generated, Kysely } from 'kysely';

/** A node's config in the business cluster. */
export interface NodeConfigTable {
  readonly provider_id: string;
  readonly node_name: string;
  readonly instance_id: string;
  /** JSON with nodeName, instanceId and interfaces. */
  readonly config: string;
  /** Config hash: sha256 (hex). */
  readonly hash: string;
  /** The copied MultiNicNodeConfig's UID and generation. */
  readonly uid: string;
  readonly generation: number;
  /** OpenstackConfig that delivers the node. */
  readonly cr_namespace: string;
  readonly cr_name: string;
  /** Last config change: RFC 3339 in UTC, hence text order is time order. */
  readonly updated_at: string;
  readonly interface_count: number;
  /** Hash over the port data from the last sync; '' = not stored yet. */
  readonly seen_hash: string;
}

/** Lifecycle columns in the legacy tables; times are UTC, in `sqlTime` format. */
interface Lifecycle {
  readonly id: Generated<number>;
  /** `active` or `deleted`. */
  readonly status: string | null;
  readonly created_at: string | null;
  readonly modified_at: string | null;
  /** Null while the resource exists. A returning resource gets the same row again. */
  readonly deleted_at: string | null;
  /** Business cluster; '' in rows from the legacy operator. */
  readonly provider_id: string;
}

/** A subnet with at least one delivered NIC. */
export interface SubnetTable extends Lifecycle {
  readonly subnet_id: string;
  readonly subnet_name: string;
  readonly cidr: string;
  readonly network_id: string;
  readonly network_name: string;
}

/** A server with a delivered node config. */
export interface NodeTable extends Lifecycle {
  readonly attached_node_id: string;
  readonly attached_node_name: string;
}

/** A delivered NIC with the observed port data; `created_at` is Neutron's time if known. */
export interface InterfaceTable extends Lifecycle {
  readonly port_id: string;
  readonly subnet_id: string;
  readonly macaddress: string;
  readonly attached_node_id: string | null;
  readonly attached_node_name: string | null;
  readonly cr_namespace: string;
  readonly cr_name: string;
  /** 1: the node reports the NIC as configured. */
  readonly netplan_success: number;
  readonly network_id: string;
  /** Neutron's status, upper case; '' = not observed yet. */
  readonly port_status: string;
  /** JSON list: the port's addresses; '' = not observed yet. */
  readonly addresses: string;
}

/** Synced OpenstackConfigs with the last spec hash. */
interface CrStateTable {
  readonly id: Generated<number>;
  readonly cr_namespace: string;
  readonly cr_name: string;
  /** sha256 (hex) over the spec without passwords. */
  readonly spec_hash: string;
  readonly last_updated: string | null;
}

/** Log: NIC changes with time and OpenstackConfig. */
export interface ChangeLogTable {
  readonly id: Generated<number>;
  readonly at: string;
  readonly provider_id: string;
  readonly node_name: string;
  readonly instance_id: string;
  /** `added`, `changed`, `removed` or `port-replaced`. */
  readonly change: string;
  readonly name: string;
  readonly port_id: string;
  readonly mac_address: string;
  /** JSON entry before and after; '' = none. */
  readonly before_entry: string;
  readonly after_entry: string;
  readonly cr_namespace: string;
  readonly cr_name: string;
  readonly cr_generation: number;
  /** Basis of a removal; '' = unknown, or no removal. */
  readonly basis: string;
}

/** A server's NICs at the last delivery. These rows survive node removal, because NIC names must stay. */
export interface ServerNicsTable {
  readonly instance_id: string;
  /** JSON with nodeName, instanceId and interfaces. */
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
