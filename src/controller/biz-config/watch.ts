import { labelValue } from '../../api/label-value.ts';
import type { metricTable } from '../../api/metrics.ts';
import { type BizConfigGroup, labels } from '../../api/names.ts';
import { type BizConfig, bizConfigsIn } from '../../biz-config/biz-config.ts';
import { identityOf } from '../../biz-config/entries.ts';
import { createReflector, type Reflector } from '../../kube/cache/reflector.ts';
import { type Change, Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { crds } from '../../kube/core-resources.ts';
import { countSteps } from '../../kube-metrics.ts';
import type { PartContext } from '../../process/part.ts';
import { jittered } from '../../time/backoff.ts';
import { passed } from '../../time/clock.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf } from '../objects/stores.ts';

/** How often it is read whether the CustomResourceDefinition exists, ±20 %. */
const definitionEveryMs = 60_000;

export interface GroupWatchOptions {
  readonly client: Pick<KubeClient, 'find' | 'list' | 'watch'>;
  readonly context: Pick<PartContext<typeof metricTable>, 'clock' | 'random' | 'log' | 'metrics'>;
  readonly namespace: string;
}

/** The MultiNicBizConfigs of one group. */
export interface GroupWatch {
  readonly group: BizConfigGroup;
  readonly store: Store<BizConfig>;
  /** Since the server was last heard about the kind; undefined while it does not exist. */
  readonly silence: Pick<Reflector, 'name' | 'silentMs'>;
  /** Follows them while their CustomResourceDefinition exists, until the signal aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A watch that comes and goes with its CustomResourceDefinition, whose absence is no error. */
export function createGroupWatch(group: BizConfigGroup, options: GroupWatchOptions): GroupWatch {
  const { client, namespace } = options;
  const { clock, random, log, metrics } = options.context;
  const resource = bizConfigsIn(group);
  const definition = `${resource.plural}.${group}`;
  const store = new Store<BizConfig>({
    packed: true,
    indexes: { label: ({ metadata }) => [labelValue(metadata.name)], node: nodesIn },
  });
  const reflector = createReflector({
    client,
    resource,
    store,
    clock,
    random,
    namespace,
    name: definition,
    onError: (error, retryInMs) =>
      log.warn({ err: error, kind: definition, retryInMs }, 'watch interrupted'),
    onStep: countSteps(metrics, definition),
  });

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
          log.info({ kind: definition }, 'kind followed');
        }
        if (!isDefined && following) {
          await stop();
          // No source is left; the objects that were made from them stay.
          store.replace([]);
          log.info({ kind: definition }, 'kind is gone');
        }
      } while (await passed(clock, jittered(definitionEveryMs, random), signal));
    } finally {
      await stop();
    }
  }

  /** False only if the API server says that there is none: a list shows what else is wrong. */
  async function readDefinition(signal: AbortSignal): Promise<boolean> {
    try {
      return (await client.find(crds, { name: definition }, { signal })) !== undefined;
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, definition }, 'definition not read');
      return true;
    }
  }

  const silence = {
    name: definition,
    get silentMs() {
      return reflector.state === 'stopped' ? undefined : reflector.silentMs;
    },
  };
  return { group, store, silence, run };
}

/** Values by which objects of these nodes find the source. */
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

/** Key of a source in the queue. */
export function sourceKey(group: BizConfigGroup, key: string): string {
  return `${group}/${key}`;
}

/** Where the source of a queue key is; throws when its group is not watched. */
export function findSource(
  watches: readonly GroupWatch[],
  key: string,
): { readonly watch: GroupWatch; readonly name: string } {
  const watch = watches.find(({ group }) => key.startsWith(`${group}/`));
  if (!watch) throw new Error(`no group of ${key} is watched`);
  return { watch, name: key.slice(watch.group.length + 1) };
}

/** Sources that a changed MultiNicNodeConfig concerns: by its label, and by the node that it means. */
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
