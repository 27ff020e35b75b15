import { rfc3339 } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import { annotations, fieldManagers, labels } from '../../api/names.ts';
import {
  type BizSource,
  isLabelledAs,
  isOwnedByExpansion,
  sourceIn,
} from '../../biz-config/ownership.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { apiVersionOf, defineResource } from '../../kube/resource.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { type NodeConfig, nodeConfigs, refOfConfig } from '../objects/stores.ts';
import { deletionTime, hasUserDeleteConsent } from './blocked-removals.ts';
import type { NodeWrite } from './plan.ts';

export interface LiveObjectsOptions {
  readonly client: Pick<KubeClient, 'apply' | 'delete' | 'find' | 'patch'>;
  readonly configs: Store<NodeConfig>;
  readonly perform: Perform<Effect>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Ownership from managed fields: `own`: created from this source and owned by the expansion only; `foreign`: another
 * writer; `otherSource`: another source of the expansion; `gone`: no object.
 */
export type Ownership = 'own' | 'foreign' | 'otherSource' | 'gone';

/**
 * Result of a write. `moved`: the object changed meanwhile, retry; `contested`: another field manager owns a field with
 * a different value; `refused`: the API server rejects the content.
 */
export type Written =
  | { readonly kind: 'done' | 'moved' | 'foreign' }
  | { readonly kind: 'contested' | 'refused'; readonly message: string };

/** Stored objects with managed fields, which the cache drops. */
const wholeNodeConfigs = defineResource<KubeObject>({
  ...nodeConfigs,
  parse: (raw) => raw as KubeObject,
});

/** Reads and writes MultiNicNodeConfigs as field manager `biz-config`. */
export class LiveObjects {
  readonly #options: LiveObjectsOptions;

  constructor(options: LiveObjectsOptions) {
    this.#options = options;
  }

  async ownership(config: NodeConfig, source: BizSource, signal: AbortSignal): Promise<Ownership> {
    return ownershipOf(await this.#read(config, signal), config, source);
  }

  /** Creates or changes an object, never overriding foreign fields, and only in its observed version. */
  async apply(
    { object, metadata, spec }: NodeWrite,
    namespace: string,
    signal: AbortSignal,
  ): Promise<Written> {
    const { client, configs, perform } = this.#options;
    // No object ever has version 1, hence an existing object causes a conflict.
    const { uid, resourceVersion = '1' } = object?.metadata ?? {};
    const draft = {
      apiVersion: apiVersionOf(nodeConfigs),
      kind: nodeConfigs.kind,
      metadata: { ...metadata, namespace, resourceVersion, ...(uid ? { uid } : {}) },
      spec: { ...spec },
    };
    try {
      const stored = await perform('controller.biz-config.apply', () =>
        client.apply(nodeConfigs, draft, { fieldManager: fieldManagers.bizConfig, signal }),
      );
      configs.upsert(stored);
      return { kind: 'done' };
    } catch (error) {
      return judge(error, object);
    }
  }

  /**
   * Deletes an object after verifying the ownership. `consentAt`: time of a user's consent to the deletion; undefined:
   * the deletion is named.
   */
  async delete(
    config: NodeConfig,
    source: BizSource,
    consentAt: string | undefined,
    signal: AbortSignal,
  ): Promise<Written> {
    const { client } = this.#options;
    return this.#ifOwn(config, source, signal, async (live) => {
      if (live.metadata.deletionTimestamp !== undefined) return;
      const { uid, resourceVersion } = await this.#consent(live, consentAt, signal);
      const preconditions = {
        ...(uid ? { uid } : {}),
        ...(resourceVersion ? { resourceVersion } : {}),
      };
      await this.#options.perform('controller.biz-config.delete', () =>
        client.delete(nodeConfigs, refOfConfig(config), {
          ...preconditions,
          propagationPolicy: 'Background',
          signal,
        }),
      );
    });
  }

  /** Adds the consent of this time to an object in deletion, after verifying the ownership. */
  async consentToDeletion(
    config: NodeConfig,
    source: BizSource,
    consentAt: string,
    signal: AbortSignal,
  ): Promise<Written> {
    return this.#ifOwn(config, source, signal, async (live) => {
      if (live.metadata.deletionTimestamp === undefined) return;
      await this.#consent(live, consentAt, signal);
    });
  }

  async #ifOwn(
    config: NodeConfig,
    source: BizSource,
    signal: AbortSignal,
    write: (live: KubeObject) => Promise<void>,
  ): Promise<Written> {
    const live = await this.#read(config, signal);
    const ownership = ownershipOf(live, config, source);
    if (!live || ownership !== 'own') {
      return { kind: ownership === 'foreign' ? 'foreign' : 'moved' };
    }
    return this.#unlessMoved(() => write(live));
  }

  /** Stamps a missing consent; returns the metadata that carries the consent. */
  async #consent(
    live: KubeObject,
    consentAt: string | undefined,
    signal: AbortSignal,
  ): Promise<KubeObject['metadata']> {
    const { client, clock, configs, perform } = this.#options;
    const { namespace = '', name, uid, resourceVersion } = live.metadata;
    if (consentAt === undefined || hasUserDeleteConsent(live, clock.now())) return live.metadata;
    // The API server's clock may be ahead: a consent counts only near the deletion.
    const deletedMs = deletionTime(live)?.getTime() ?? 0;
    const at = new Date(Math.max(Date.parse(consentAt), deletedMs));
    const noted = { [annotations.deleteConsent]: rfc3339(at) };
    const patch = { metadata: { uid, resourceVersion, annotations: noted } };
    const stored = await perform('controller.biz-config.consent', () =>
      client.patch(nodeConfigs, { namespace, name }, patch, {
        fieldManager: fieldManagers.bizConfig,
        signal,
      }),
    );
    configs.upsert(stored);
    return stored.metadata;
  }

  /** Removes only the source's label from another writer's object. */
  async release(config: NodeConfig, source: BizSource, signal: AbortSignal): Promise<Written> {
    const { client, configs, perform } = this.#options;
    const live = await this.#read(config, signal);
    if (!live || ownershipOf(live, config, source) !== 'foreign') return { kind: 'moved' };
    if (live.metadata.labels?.[labels.bizConfig] === undefined) return { kind: 'moved' };
    const { uid, resourceVersion } = live.metadata;
    const patch = { metadata: { uid, resourceVersion, labels: { [labels.bizConfig]: null } } };
    return this.#unlessMoved(async () => {
      const stored = await perform('controller.biz-config.release', () =>
        client.patch(nodeConfigs, refOfConfig(config), patch, {
          fieldManager: fieldManagers.bizConfig,
          signal,
        }),
      );
      configs.upsert(stored);
    });
  }

  async #unlessMoved(write: () => Promise<void>): Promise<Written> {
    try {
      await write();
      return { kind: 'done' };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const { status, message } = error;
      if (status === 404 || status === 409) return { kind: 'moved' };
      if (isRefusal(status)) return { kind: 'refused', message };
      throw error;
    }
  }

  #read(config: NodeConfig, signal: AbortSignal): Promise<KubeObject | undefined> {
    return this.#options.client.find(wholeNodeConfigs, refOfConfig(config), { signal });
  }
}

function judge(error: unknown, object: NodeConfig | undefined): Written {
  if (!(error instanceof KubeError)) throw error;
  const { status, causes, message } = error;
  if (status === 409) {
    const isOfFields = object !== undefined && causes.length > 0;
    return isOfFields ? { kind: 'contested', message } : { kind: 'moved' };
  }
  if (isRefusal(status)) return { kind: 'refused', message };
  throw error;
}

/** A 403 may also come from an admission webhook, policy or quota for a single object: other objects continue. */
function isRefusal(status: number): boolean {
  return [400, 403, 422].includes(status);
}

function ownershipOf(
  live: KubeObject | undefined,
  cached: NodeConfig,
  source: BizSource,
): Ownership {
  if (!live || live.metadata.uid !== cached.metadata.uid) return 'gone';
  const named = sourceIn(live.metadata);
  if (named && (named.group !== source.group || named.name !== source.name)) return 'otherSource';
  const isOwn = isLabelledAs(live.metadata, source) && isOwnedByExpansion(live);
  return isOwn ? 'own' : 'foreign';
}
