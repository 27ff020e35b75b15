import type { metricTable } from '../api/metrics.ts';
import { createReflector, type Reflector, type ReflectorOptions } from '../kube/cache/reflector.ts';
import type { KubeObject } from '../kube/object.ts';
import type { PartContext } from '../process/part.ts';
import { countSteps, sampleSilence } from './kube-metrics.ts';

/** Access of a watch to its API server, log and metrics. */
export interface WatchContext extends Pick<ReflectorOptions<KubeObject>, 'client'> {
  readonly context: Pick<PartContext<typeof metricTable>, 'clock' | 'random' | 'log' | 'metrics'>;
}

type WatchOptions<T extends KubeObject> = Omit<
  ReflectorOptions<T>,
  'client' | 'clock' | 'random' | 'onError' | 'onStep'
>;

/**
 * Creates a watch with its metrics and log lines. `name` distinguishes several watches of one kind in both; default:
 * the kind.
 */
export function createWatch<T extends KubeObject>(
  options: WatchOptions<T>,
  { client, context }: WatchContext,
): Reflector {
  const { clock, random, log, metrics } = context;
  const kind = options.name ?? options.resource.kind;
  const reflector = createReflector({
    ...options,
    client,
    clock,
    random,
    onStep: countSteps(metrics, kind),
    onError: (error, retryInMs) => log.warn({ err: error, kind, retryInMs }, 'watch interrupted'),
  });
  sampleSilence(metrics, reflector);
  return reflector;
}
