import { rfc3339 } from '../../api/condition.ts';
import { consentsTo } from '../../api/delete-consent.ts';
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

/** An older consent was for a deletion that never came. */
const consentHoldsMs = 3_600_000;

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

  /** Deletes an object with consent, after verifying the ownership. */
  async delete(config: NodeConfig, source: BizSource, signal: AbortSignal): Promise<Written> {
    const { client } = this.#options;
    const live = await this.#read(config, signal);
    const ownership = ownershipOf(live, config, source);
    if (!live || ownership !== 'own') {
      return { kind: ownership === 'foreign' ? 'foreign' : 'moved' };
    }
    if (live.metadata.deletionTimestamp !== undefined) return { kind: 'done' };
    return this.#unlessMoved(async () => {
      const { uid, resourceVersion } = await this.#consent(live, signal);
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

  async #consent(live: KubeObject, signal: AbortSignal): Promise<KubeObject['metadata']> {
    const { client, clock, configs, perform } = this.#options;
    const now = clock.now();
    const { namespace = '', name, uid, resourceVersion } = live.metadata;
    if (consentsTo(live.metadata, now, now, consentHoldsMs)) return live.metadata;
    const noted = { [annotations.deleteConsent]: rfc3339(now) };
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
