import type { NodeView } from '../../api/read-http.ts';
import type { Port, Server } from '../../plan/observation.ts';
import type { PortVerdict, Selection } from '../../plan/plan.ts';
import type { ViolaEndpoint } from '../resolve/endpoints.ts';
import { type SharedTexts, unpackNode } from './packed-node.ts';

/** Row of a node: what filters and sums use, and the rest packed. */
export interface NodeRow {
  readonly nodeName: string;
  readonly state: string;
  readonly reason: string;
  readonly packed: string;
}

/** Result of a node's delivery in one sync. */
export interface NodeDelivery {
  readonly ok: boolean;
  readonly reason?: string;
  readonly message?: string;
}

/** What a sync selected in which cloud. */
export interface ReadCloud {
  readonly name: string;
  readonly projectId: string | undefined;
  readonly selection: Pick<
    Selection,
    'serverIds' | 'serversComplete' | 'subnetIds' | 'subnetsComplete'
  >;
}

/** What the read API answers about an OpenstackConfig: the result of the last sync of all servers in this term. */
export interface ConfigReads {
  /** OpenstackConfig as `namespace/name`. */
  readonly config: string;
  readonly providerId: string;
  readonly viola: ViolaEndpoint;
  /** Undefined: no sync of this term has read the cloud; rows and verdicts are those of the objects. */
  readonly cloud: ReadCloud | undefined;
  /** When the business cluster was read (RFC 3339): the end of the sync. */
  readonly at: string;
  /** End of the sync that decided about the ports (RFC 3339). */
  readonly decidedAt: string;
  /** By node name. */
  readonly rows: readonly NodeRow[];
  readonly totals: NodeTotals;
  /** Ports of the selected servers; the cloud's port directory holds the same objects. */
  readonly ports: readonly Port[];
  readonly servers: ReadonlyMap<string, Server>;
  readonly networkNames: ReadonlyMap<string, string>;
  readonly verdicts: ReadonlyMap<string, PortVerdict>;
  /** Node names by server. */
  readonly nodeNames: ReadonlyMap<string, string>;
  /** Nodes whose delivery failed or waits; a node without an entry was delivered or unchanged. */
  readonly undelivered: ReadonlyMap<string, NodeDelivery>;
  /** Shared texts of the rows. */
  readonly texts: SharedTexts;
}

/** Sums of an OpenstackConfig's nodes. */
export interface NodeTotals {
  readonly nodes: number;
  /** NICs by state. */
  readonly nics: ReadonlyMap<string, number>;
  readonly drifted: number;
  /** RFC 3339; undefined: no node was checked. */
  readonly oldestCheck: string | undefined;
}

/** Returns the node of a row. */
export function viewOf({ config, providerId, at, texts }: ConfigReads, row: NodeRow): NodeView {
  const { nodeName, packed } = row;
  return { providerId, nodeName, config, ...unpackNode(packed, texts), observedAt: at };
}
