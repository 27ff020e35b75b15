import { findCondition, rfc3339 } from '../../../api/condition.ts';
import type { ExistingNodeConfig, UnreadableNode } from '../../../api/node-configs-http.ts';
import { pauseOf } from '../../../api/pause.ts';
import type { NodeView } from '../../../api/read-http.ts';
import { isOwn } from '../../../plan/ownership.ts';
import type { PortVerdict } from '../../../plan/plan.ts';
import { generationOf, ownerOf, statusOf } from '../../model/openstack-config.ts';
import { PackedVerdicts } from '../../model/packing/verdicts.ts';
import type { ResolvedConfig } from '../../model/resolve/resolve.ts';
import { type ConfigReads, viewOf } from './config-reads.ts';
import type { LimitedReads } from './limited-reads.ts';
import { nodeViewOf, plannedOf } from './node-view.ts';
import { isUnread } from './nodes.ts';
import { plannedNic, whyUnreadable } from './nodes-of-sync.ts';
import type { ReadDeps } from './read-deps.ts';
import { rowsOf } from './reads-of-sync.ts';
import type { VisibleConfig } from './visible-configs.ts';

interface Reading {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly reads: Promise<ConfigReads | undefined>;
}

const lifetimeMs = 30_000;
/** Age after which a sync's nodes are read again, if no sync will complete soon. */
const oldMs = 60_000;

/**
 * Nodes for OpenstackConfigs without a recent sync, from their objects: a cloud may be down, and a pause, a deletion or a
 * trigger mode such as `manual` may prevent syncs for days. Viola is read at most every 30 s for each.
 */
export class ObjectReads {
  readonly #deps: ReadDeps;
  readonly #limited: LimitedReads;
  readonly #readings = new Map<string, Reading>();

  constructor(deps: ReadDeps, limited: LimitedReads) {
    this.#deps = deps;
    this.#limited = limited;
  }

  /** Returns the OpenstackConfigs; without a recent sync, with the objects' data. */
  async fill(configs: readonly VisibleConfig[]): Promise<readonly VisibleConfig[]> {
    return Promise.all(this.fillEach(configs));
  }

  /** Like `fill`, with a promise each: a hanging business cluster delays only its own OpenstackConfigs. */
  fillEach(configs: readonly VisibleConfig[]): readonly Promise<VisibleConfig>[] {
    const oldest = this.#deps.clock.monotonicMs() - lifetimeMs;
    for (const [key, { at }] of this.#readings) if (at < oldest) this.#readings.delete(key);
    return configs.map(async (config) => {
      const { reads, resolved } = config;
      if (!resolved || !this.#isLate(config) || !this.#isOld(config, resolved)) return config;
      return { ...config, reads: (await this.#read(config, resolved)) ?? reads };
    });
  }

  /** Returns whether nodes exist and no sync will complete soon. */
  #isLate({ object }: VisibleConfig): boolean {
    const { deliveredTo = [], conditions } = statusOf(object);
    if (deliveredTo.length === 0) return false;
    if (object.metadata.deletionTimestamp !== undefined || pauseOf(object).isPaused) return true;
    const isFailing = findCondition(conditions, 'Ready')?.status === 'False';
    return isFailing || this.#deps.triggers.mode !== 'immediate';
  }

  /** Nodes of a former business cluster stay as the last sync left them. */
  #isOld({ reads }: VisibleConfig, { providerId }: ResolvedConfig): boolean {
    if (reads === undefined) return true;
    const ageMs = this.#deps.clock.now().getTime() - Date.parse(reads.at);
    return reads.providerId === providerId && ageMs >= oldMs;
  }

  async #read(config: VisibleConfig, resolved: ResolvedConfig): Promise<ConfigReads | undefined> {
    const { object, reads: last } = config;
    const key = `${object.metadata.uid} ${resolved.providerId} ${last?.at}`;
    const known = this.#readings.get(key);
    if (known) return known.reads;
    const reads = this.#list(config, resolved);
    this.#readings.set(key, { at: this.#deps.clock.monotonicMs(), reads });
    return reads;
  }

  async #list(
    { key, object, reads: last }: VisibleConfig,
    { viola: endpoint, providerId }: ResolvedConfig,
  ): Promise<ConfigReads | undefined> {
    const { management, violas, clock } = this.#deps;
    const source = { ...ownerOf(object), generation: generationOf(object) };
    try {
      // Several callers share a read, so no caller's abort ends the read.
      const { nodes, unreadable, owner } = await this.#limited.run(providerId, async (signal) => {
        const viola = await violas.of(endpoint, providerId, source);
        const listed = await viola.list({ fresh: false, source, instanceIds: [] }, signal);
        return { ...listed, owner: await management.owner(object, signal) };
      });
      const own = nodes.filter((node) => isOwn(node, owner));
      const at = rfc3339(clock.now());
      const decidedAt = statusOf(object).lastSyncedAt ?? at;
      const about = { config: key, providerId, viola: endpoint, at, decidedAt };
      return last
        ? await readAgain(last, { nodes: own, unreadable, at })
        : await readsOfObjects(own, about);
    } catch (error) {
      if (!isUnread(error)) throw error;
      return undefined;
    }
  }
}

type About = Pick<ConfigReads, 'config' | 'providerId' | 'viola' | 'at' | 'decidedAt'>;

async function readsOfObjects(
  nodes: readonly ExistingNodeConfig[],
  about: About,
): Promise<ConfigReads> {
  return {
    ...about,
    cloud: undefined,
    ...(await rowsOf(nodes.map((node) => viewOfObject(node, about)))),
    ports: [],
    servers: new Map(),
    networkNames: new Map(),
    verdicts: await PackedVerdicts.of(nodes.flatMap(verdictsIn)),
    nodeNames: new Map(nodes.map((node) => [serverOf(node), node.nodeName])),
    undelivered: new Map(),
  };
}

/** Returns a sync's data, with the nodes as their objects are now. */
async function readAgain(
  last: ConfigReads,
  {
    nodes,
    unreadable,
    at,
  }: {
    readonly nodes: readonly ExistingNodeConfig[];
    readonly unreadable: readonly UnreadableNode[];
    readonly at: string;
  },
): Promise<ConfigReads> {
  const objects = new Map(nodes.map((node) => [node.nodeName, node]));
  const known = last.rows.map((row) => {
    const existing = objects.get(row.nodeName);
    objects.delete(row.nodeName);
    const planned = plannedOf(viewOf(last, row));
    return nodeViewOf(planned, { existing, unreadable: whyUnreadable(planned, unreadable), at });
  });
  const others = [...objects.values()].map((node) => viewOfObject(node, { ...last, at }));
  return { ...last, at, ...(await rowsOf([...known, ...others])) };
}

function viewOfObject(existing: ExistingNodeConfig, { config, providerId, at }: About): NodeView {
  const { nodeName, spec } = existing;
  const nics = (spec.interfaces ?? []).map((entry) => plannedNic(entry));
  const instanceId = serverOf(existing);
  const planned = { providerId, nodeName, instanceId, config, nics, unusedPorts: [] };
  return nodeViewOf(planned, { existing, at });
}

/** A NIC in an object was decided by an earlier sync. */
function verdictsIn(node: ExistingNodeConfig): PortVerdict[] {
  const serverId = serverOf(node);
  return (node.spec.interfaces ?? []).flatMap((entry) => {
    const { name: nic, portId } = plannedNic(entry);
    return portId === undefined ? [] : [{ portId, serverId, nic }];
  });
}

function serverOf({ spec }: ExistingNodeConfig): string {
  return spec.instanceId?.toLowerCase() ?? '';
}
