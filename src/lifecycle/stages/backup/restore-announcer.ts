import type { Reason } from '../../../api/reasons.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import { recordIn } from '../../model/mariadb/operation-record.ts';
import type { Observed } from '../../model/stage.ts';
import { lastRestore } from './restore.ts';

/** Announces each ended restore once per process, by event. */
export class RestoreAnnouncer {
  readonly #recorder: Pick<EventRecorder, 'record'>;
  /** Undefined: no reconcile yet; the status may have an old result then. */
  #announced: string | undefined;

  constructor(recorder: Pick<EventRecorder, 'record'>) {
    this.#recorder = recorder;
  }

  note(observed: Observed): void {
    const last = lastRestore(observed);
    const key = `${last?.request} ${last?.at}`;
    const isFirst = this.#announced === undefined;
    if (key === this.#announced) return;
    this.#announced = key;
    if (isFirst || !last) return;
    const isDone = last.result === 'Succeeded';
    const reason = isDone ? 'Restored' : failureReason(observed);
    const message = isDone
      ? `${last.file} is restored`
      : `the restore "${last.request}" failed: ${last.result}`;
    this.#recorder.record(observed.operator, {
      type: isDone ? 'Normal' : 'Warning',
      reason,
      message,
    });
  }
}

/** Only a restore with changed data is RestoreFailed. */
function failureReason(observed: Observed): Reason {
  const { operation, failedRestore } = recordIn(observed);
  const mayHaveChanged = operation?.outcome?.touched ?? failedRestore !== undefined;
  return mayHaveChanged ? 'RestoreFailed' : 'RestoreRefused';
}
