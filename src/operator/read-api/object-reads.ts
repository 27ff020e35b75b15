import { findCondition, rfc3339 } from '../../api/condition.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { NodeView } from '../../api/read-http.ts';
import type { PortVerdict } from '../../plan/plan.ts';
import { isOwn } from '../../plan/view.ts';
import { generationOf, ownerOf, statusOf } from '../openstack-config.ts';
import type { ResolvedConfig } from '../resolve/resolve.ts';
import type { ConfigReads } from './config-reads.ts';
import type { LimitedReads } from './limited-reads.ts';
import { nodeViewOf } from './node-view.ts';
import { isUnread } from './nodes.ts';
import { plannedNic } from './nodes-of-sync.ts';
import type { ReadDeps } from './read-deps.ts';
import { rowsOf } from './reads-of-sync.ts';
import type { VisibleConfig } from './visible-configs.ts';

interface Reading {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly reads: Promise<ConfigReads | undefined>;
}

const lifetimeMs = 30_000;

/**
 * Nodes for OpenstackConfigs without a completed sync in this term, from their objects: after a restart a cloud may be
 * down, and a trigger mode such as `manual` may start no sync for days. Viola is read at most every 30 s for each.
 */
export class ObjectReads {
  readonly #deps: ReadDeps;
  readonly #limited: LimitedReads;
  readonly #readings = new Map<string, Reading>();

  constructor(deps: ReadDeps, limited: LimitedReads) {
    this.#deps = deps;
    this.#limited = limited;
  }

  /** Returns the OpenstackConfigs; without a completed sync, with the objects' data. */
  async fill(configs: readonly VisibleConfig[]): Promise<readonly VisibleConfig[]> {
    const oldest = this.#deps.clock.monotonicMs() - lifetimeMs;
    for (const [key, { at }] of this.#readings) if (at < oldest) this.#readings.delete(key);
    return Promise.all(
      configs.map(async (config) => {
        const { reads, resolved } = config;
        if (reads || !resolved || !this.#isLate(config)) return config;
        return { ...config, reads: await this.#read(config, resolved) };
      }),
    );
  }

  /** Returns whether nodes exist and no sync will complete soon. */
  #isLate({ object }: VisibleConfig): boolean {
    const { deliveredTo = [], conditions } = statusOf(object);
    if (deliveredTo.length === 0) return false;
    const isFailing = findCondition(conditions, 'Ready')?.status === 'False';
    return isFailing || this.#deps.triggers.mode !== 'immediate';
  }

  async #read(config: VisibleConfig, resolved: ResolvedConfig): Promise<ConfigReads | undefined> {
    const key = `${config.object.metadata.uid} ${resolved.providerId}`;
    const known = this.#readings.get(key);
    if (known) return known.reads;
    const reads = this.#list(config, resolved);
    this.#readings.set(key, { at: this.#deps.clock.monotonicMs(), reads });
    return reads;
  }

  async #list(
    { key, object }: VisibleConfig,
    { viola: endpoint, providerId }: ResolvedConfig,
  ): Promise<ConfigReads | undefined> {
    const { violas, clock } = this.#deps;
    const owner = ownerOf(object);
    const source = { ...owner, generation: generationOf(object) };
    try {
      // Several callers share a read, so no caller's abort ends the read.
      const { nodes } = await this.#limited.run(async (signal) => {
        const viola = await violas.of(endpoint, providerId, source);
        return viola.list({ fresh: false, source, instanceIds: [] }, signal);
      });
      const own = nodes.filter((node) => isOwn(node, { owner, force: false }));
      const at = rfc3339(clock.now());
      const decidedAt = statusOf(object).lastSyncedAt ?? at;
      const about = { config: key, providerId, viola: endpoint, at, decidedAt };
      return await readsOfObjects(own, about);
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
    verdicts: new Map(nodes.flatMap(verdictsIn)),
    nodeNames: new Map(nodes.map((node) => [serverOf(node), node.nodeName])),
    undelivered: new Map(),
  };
}

function viewOfObject(existing: ExistingNodeConfig, { config, providerId, at }: About): NodeView {
  const { nodeName, spec } = existing;
  const nics = (spec.interfaces ?? []).map((entry) => plannedNic(entry));
  const instanceId = serverOf(existing);
  const planned = { providerId, nodeName, instanceId, config, nics, unusedPorts: [] };
  return nodeViewOf(planned, { existing, at });
}

/** A NIC in an object was decided by an earlier sync. */
function verdictsIn(node: ExistingNodeConfig): [string, PortVerdict][] {
  const serverId = serverOf(node);
  return (node.spec.interfaces ?? []).flatMap((entry): [string, PortVerdict][] => {
    const { name: nic, portId } = plannedNic(entry);
    return portId === undefined ? [] : [[portId, { portId, serverId, nic }]];
  });
}

function serverOf({ spec }: ExistingNodeConfig): string {
  return spec.instanceId?.toLowerCase() ?? '';
}
