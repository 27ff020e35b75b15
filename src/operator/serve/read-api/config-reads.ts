import type { NodeView } from '../../../api/read-http.ts';
import type { Port, Server } from '../../../plan/observation.ts';
import type { Selection } from '../../../plan/plan.ts';
import type { TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';
import type { SharedTexts } from '../../model/packing/texts.ts';
import type { PackedVerdicts } from '../../model/packing/verdicts.ts';
import type { ViolaEndpoint } from '../../model/resolve/endpoints.ts';
import type { SyncContent } from '../../model/sync-content.ts';
import { unpackNode } from './packed-node.ts';

/** Node row: fields for filters, and the remaining fields packed. */
export interface NodeRow {
  readonly nodeName: string;
  readonly state: string;
  readonly reason: string;
  readonly packed: string;
}

/** Delivery result for a node in a sync. */
export interface NodeDelivery {
  readonly ok: boolean;
  readonly reason?: string;
  readonly message?: string;
}

/** Cloud, project and selection in a sync. */
interface ReadCloud {
  readonly name: string;
  readonly projectId: string | undefined;
  readonly selection: Pick<
    Selection,
    'serverIds' | 'serversComplete' | 'subnetIds' | 'subnetsComplete'
  >;
}

/** Read API data for an OpenstackConfig: result from the last full sync in this term. */
export interface ConfigReads {
  /** OpenstackConfig as `namespace/name`. */
  readonly config: string;
  readonly providerId: string;
  readonly viola: ViolaEndpoint;
  /** Undefined: no sync in this term has read the cloud; rows and verdicts come from the objects. */
  readonly cloud: ReadCloud | undefined;
  /** Read time for the business cluster (RFC 3339): the sync's end. */
  readonly at: string;
  /** End time for the sync behind the verdicts (RFC 3339). */
  readonly decidedAt: string;
  /** By node name. */
  readonly rows: readonly NodeRow[];
  readonly totals: NodeTotals;
  /** The selected servers' ports; the cloud's port directory holds the same objects. */
  readonly ports: readonly Port[];
  readonly servers: ReadonlyMap<string, Server>;
  readonly networkNames: ReadonlyMap<string, string>;
  readonly verdicts: PackedVerdicts;
  /** Node names by server. */
  readonly nodeNames: ReadonlyMap<string, string>;
  /** Nodes with a failed or waiting delivery; a node without an entry was delivered or unchanged. */
  readonly undelivered: ReadonlyMap<string, NodeDelivery>;
  /** Texts shared by the rows. */
  readonly texts: SharedTexts;
  /** Content behind the rows; undefined: the rows come from the objects. */
  readonly content?: SyncContent;
}

/** Sums over an OpenstackConfig's nodes. */
export interface NodeTotals {
  readonly nodes: number;
  /** NICs by state. */
  readonly nics: ReadonlyMap<string, number>;
  readonly drifted: number;
  /** RFC 3339; undefined: no node was checked. */
  readonly oldestCheck: string | undefined;
}

/** Returns a row's node. */
export function viewOf({ config, providerId, at, texts }: ConfigReads, row: NodeRow): NodeView {
  const { nodeName, packed } = row;
  return { providerId, nodeName, config, ...unpackNode(packed, texts), observedAt: at };
}

/** Data of the last full sync; undefined: no full sync has completed in this term. */
export const configReads = new Slot<TermMemory, ConfigReads | undefined>(() => undefined);
