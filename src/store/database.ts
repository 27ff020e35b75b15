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
}

export type Database = Kysely<Tables>;
