import type { Reason } from '../../../api/reasons.ts';
import { triggerConfigMap } from '../../../api/trigger-config.ts';
import type { Reflector } from '../../../kube/cache/reflector.ts';
import { type Change, Store } from '../../../kube/cache/store.ts';
import { type ConfigMap, configMaps } from '../../../kube/core-resources.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { createWatch, type WatchContext } from '../../../runtime/watch.ts';
import {
  immediately,
  readPolicy,
  type TriggerPolicy,
  unreadable,
} from '../../../triggers/policy.ts';

export interface TriggerWatchDeps extends WatchContext {
  /** The operator's own namespace. */
  readonly namespace: string;
  readonly recorder: Pick<EventRecorder, 'record'>;
  /** Called with each changed policy. */
  readonly onPolicy: (policy: TriggerPolicy) => void;
}

/**
 * Watches the ConfigMap with the trigger policy. Without the ConfigMap every cause starts a sync. While the ConfigMap
 * is unusable, the last usable policy stays, if any, and an Event names the problem. No sync may start before the first
 * list, because a user may want no polling.
 */
export function watchTriggers(deps: TriggerWatchDeps): Reflector {
  const { client, context, namespace } = deps;
  const store = new Store<ConfigMap>();
  store.subscribe(take(deps));
  const { name } = triggerConfigMap;
  // Logged by every replica, leader or not: `kubectl logs | grep trigger` reads any replica.
  context.log.info({ configMap: name }, 'watching the trigger configuration');
  const fieldSelector = `metadata.name=${name}`;
  return createWatch(
    { resource: configMaps, name, namespace, fieldSelector, store },
    { client, context },
  );
}

function take({ recorder, context: { log, metrics }, onPolicy }: TriggerWatchDeps) {
  const usable = (is: boolean) => metrics.set('multinic_trigger_config_usable', {}, is ? 1 : 0);
  usable(true);
  let known = false;
  const use = (policy: TriggerPolicy): void => {
    known = true;
    onPolicy(policy);
  };
  return (change: Change<ConfigMap>): void => {
    if (change.type === 'deleted') {
      usable(true);
      log.info(
        { mode: immediately.mode },
        'trigger configuration deleted, every cause starts a sync',
      );
      use(immediately);
      return;
    }
    const { object } = change;
    if (change.type === 'updated' && textIn(change.previous) === textIn(object)) return;
    try {
      const policy = policyIn(object);
      usable(true);
      const { mode, onChange: immediateOnCRChange } = policy;
      log.info({ mode, immediateOnCRChange }, 'trigger configuration read');
      use(policy);
    } catch (error) {
      // `readPolicy` throws only errors in the text.
      usable(false);
      const reason = 'TriggerConfigUnusable' satisfies Reason;
      const meanwhile = known
        ? 'the previous configuration stays in use'
        : 'until it is corrected, only changed objects and requests start a sync';
      if (!known) onPolicy(unreadable);
      const message = `${error instanceof Error ? error.message : String(error)}; ${meanwhile}`;
      log.error({ reason }, message);
      const { kind } = configMaps;
      recorder.record(
        { ...object, apiVersion: apiVersionOf(configMaps), kind },
        { type: 'Warning', reason, message },
      );
    }
  };
}

function textIn({ data }: ConfigMap): string | undefined {
  return data?.[triggerConfigMap.key];
}

function policyIn(object: ConfigMap): TriggerPolicy {
  const text = textIn(object);
  const { name, key } = triggerConfigMap;
  if (text === undefined) throw new Error(`ConfigMap ${name} has no key ${key}; add it`);
  return readPolicy(text);
}
