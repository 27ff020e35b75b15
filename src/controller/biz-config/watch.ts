import { labelValue } from '../../api/label-value.ts';
import type { metricTable } from '../../api/metrics.ts';
import { type BizConfigGroup, labels } from '../../api/names.ts';
import { type BizConfig, bizConfigsIn } from '../../biz-config/biz-config.ts';
import { identityOf } from '../../biz-config/entries.ts';
import { type Change, Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { crds } from '../../kube/core-resources.ts';
import type { PartContext } from '../../process/part.ts';
import { createWatch } from '../../runtime/watch.ts';
import { jittered } from '../../time/backoff.ts';
import { passed } from '../../time/clock.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf } from '../objects/stores.ts';
import { notReadyIndex, notReadyReasonsIn } from './not-ready.ts';

/** Interval for checking the CustomResourceDefinition, ±20 %. */
const definitionEveryMs = 60_000;

export interface GroupWatchOptions {
  readonly client: Pick<KubeClient, 'find' | 'list' | 'watch'>;
  readonly context: Pick<PartContext<typeof metricTable>, 'clock' | 'random' | 'log' | 'metrics'>;
  readonly namespace: string;
}

/** Watch on one group's MultiNicBizConfigs. */
export interface GroupWatch {
  readonly group: BizConfigGroup;
  readonly store: Store<BizConfig>;
  /** Watches while the CustomResourceDefinition exists, until the signal aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Creates a watch that starts and stops with its CustomResourceDefinition; a missing CRD is no error. */
export function createGroupWatch(group: BizConfigGroup, options: GroupWatchOptions): GroupWatch {
  const { client, namespace } = options;
  const { clock, random, log } = options.context;
  const resource = bizConfigsIn(group);
  const definition = `${resource.plural}.${group}`;
  const store = new Store<BizConfig>({
    packed: true,
    indexes: {
      label: ({ metadata }) => [labelValue(metadata.name)],
      node: nodesIn,
      [notReadyIndex]: notReadyReasonsIn,
    },
  });
  const reflector = createWatch({ resource, store, namespace, name: definition }, options);

  async function run(signal: AbortSignal): Promise<void> {
    let following: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
    const stop = async (): Promise<void> => {
      following?.stop.abort(signal.reason);
      await following?.done;
      following = undefined;
    };
    try {
      do {
        const isDefined = await readDefinition(signal);
        if (isDefined && !following && !signal.aborted) {
          const controller = new AbortController();
          following = { stop: controller, done: reflector.run(controller.signal) };
          log.info({ kind: definition }, 'watch started');
        }
        if (!isDefined && following) {
          await stop();
          // No source is left; objects created from former sources stay.
          store.replace([]);
          log.info({ kind: definition }, 'CRD removed, watch stopped');
        }
      } while (await passed(clock, jittered(definitionEveryMs, random), signal));
    } finally {
      await stop();
    }
  }

  /** Returns false only if the API server reports the CRD missing; on other errors a list shows the problem. */
  async function readDefinition(signal: AbortSignal): Promise<boolean> {
    try {
      return (await client.find(crds, { name: definition }, { signal })) !== undefined;
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, definition }, 'CRD read failed');
      return true;
    }
  }

  return { group, store, run };
}

/** Returns index values by which node objects find their source. */
function nodesIn({ spec }: BizConfig): string[] {
  const found = (spec?.nodeConfigs ?? []).map(identityOf).flatMap((identity) => {
    const { objectName, nodeName, instanceId } = identity;
    return valuesOf([objectName, nodeName], instanceId);
  });
  return [...new Set(found)];
}

function valuesOf(names: readonly string[], instanceId: string | undefined): string[] {
  const named = names.filter((name) => name !== '').map((name) => `name ${name}`);
  return instanceId === undefined ? named : [...named, `id ${instanceId}`];
}

/** Returns a source's queue key. */
export function sourceKey(group: BizConfigGroup, key: string): string {
  return `${group}/${key}`;
}

/** Returns the watch and name for a queue key; throws if the group is not watched. */
export function findSource(
  watches: readonly GroupWatch[],
  key: string,
): { readonly watch: GroupWatch; readonly name: string } {
  const watch = watches.find(({ group }) => key.startsWith(`${group}/`));
  if (!watch) throw new Error(`no group of ${key} is watched`);
  return { watch, name: key.slice(watch.group.length + 1) };
}

/** Returns sources affected by a changed MultiNicNodeConfig, by label and by node. */
export function keysOfChild(watches: readonly GroupWatch[], change: Change<NodeConfig>): string[] {
  const versions = change.type === 'updated' ? [change.object, change.previous] : [change.object];
  const keys = versions.flatMap((config) =>
    watches.flatMap(({ group, store }) =>
      keysIn(store, config).map((key) => sourceKey(group, key)),
    ),
  );
  return [...new Set(keys)];
}

function keysIn(store: Store<BizConfig>, config: NodeConfig): readonly string[] {
  const label = config.metadata.labels?.[labels.bizConfig];
  const names = [config.metadata.name, nodeNameOf(config)];
  return [
    ...(label === undefined ? [] : store.keysByIndex('label', label)),
    ...valuesOf(names, instanceIdOf(config)).flatMap((value) => store.keysByIndex('node', value)),
  ];
}
