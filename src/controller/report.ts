import type { Effect } from '../api/effects.ts';
import { fieldManagers } from '../api/names.ts';
import type { Store } from '../kube/cache/store.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { Perform } from '../process/effects.ts';
import type { Clock } from '../time/clock.ts';
import { recordReady } from './events.ts';
import { type ControllerMetrics, outcomeLabel } from './metrics.ts';
import { type NodeConfig, nodeConfigs } from './node-config.ts';
import { standBackPatch } from './stand-back.ts';
import { type StatusInput, statusOf, statusPatch } from './status.ts';
import { refOfConfig } from './world.ts';

export interface ReportOptions {
  readonly client: Pick<KubeClient, 'patchStatus'>;
  readonly configs: Store<NodeConfig>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly metrics: ControllerMetrics;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
}

export type News = Omit<StatusInput, 'config' | 'now'>;

export interface Reporter {
  report(config: NodeConfig, news: News, signal: AbortSignal): Promise<void>;
  /** Says on the object that another controller has it in its hands. */
  standBack(config: NodeConfig, signal: AbortSignal): Promise<void>;
}

/** Writes what is known about an object into its status, when that is new. */
export function createReporter(options: ReportOptions): Reporter {
  const { client, configs, recorder, metrics, perform, clock } = options;

  async function report(config: NodeConfig, news: News, signal: AbortSignal): Promise<void> {
    const next = statusOf({ config, ...news, now: clock.now() });
    const patch = statusPatch(config, next);
    if (patch === undefined) return;
    await write(config, patch, signal);
    recordReady(recorder, config, next.conditions ?? []);
    const { situation } = news;
    // The end of a run moves lastProcessed once.
    if (situation.kind === 'ended' && config.status?.lastProcessed !== next.lastProcessed) {
      const outcome = outcomeLabel(situation.run.ended.verdict);
      metrics.count('multinic_job_results_total', { outcome });
    }
  }

  async function standBack(config: NodeConfig, signal: AbortSignal): Promise<void> {
    const patch = standBackPatch(config, clock.now());
    if (patch === undefined) return;
    await write(config, patch, signal);
    const message = 'the deployed controller has this cluster in its hands; nothing is done';
    recorder.record(config, { type: 'Warning', reason: 'OtherControllerActive', message });
  }

  async function write(config: NodeConfig, patch: unknown, signal: AbortSignal): Promise<void> {
    const written = await perform('controller.status.write', () =>
      client.patchStatus(nodeConfigs, refOfConfig(config), patch, {
        fieldManager: fieldManagers.controller,
        signal,
      }),
    );
    // What the watch will tell in a moment, so that nobody decides on the state before.
    configs.upsert(written);
  }

  return { report, standBack };
}
