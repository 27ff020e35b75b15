import type { metricTable } from '../../../api/metrics.ts';
import type { Reason } from '../../../api/reasons.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import type { Metrics } from '../../../process/metrics.ts';
import { isBreakGlassActive } from '../../model/break-glass.ts';
import type { Observed } from '../../model/stage.ts';

export interface BreakGlassDeps {
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly metrics: Pick<Metrics<typeof metricTable>, 'count'>;
}

/** Announces each protection pause once per process, by event and metric. */
export class BreakGlassAnnouncer {
  readonly #deps: BreakGlassDeps;
  #announced: number | undefined;

  constructor(deps: BreakGlassDeps) {
    this.#deps = deps;
  }

  note({ operator, accepted, now }: Observed): void {
    const { value } = accepted.protection;
    const until = isBreakGlassActive(value, now) ? value?.breakGlassUntil : undefined;
    if (until?.getTime() === this.#announced) return;
    this.#announced = until?.getTime();
    if (!until) return;
    this.#deps.metrics.count('multinic_operator_protection_events_total', { event: 'break_glass' });
    this.#deps.recorder.record(operator, {
      type: 'Warning',
      reason: 'BreakGlass' satisfies Reason,
      message: `protection and recovery of managed objects are paused until ${until.toISOString()}`,
    });
  }
}
