import type { metricTable } from '../../../api/metrics.ts';
import type { Reason } from '../../../api/reasons.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import type { Logger } from '../../../process/log.ts';
import type { Metrics } from '../../../process/metrics.ts';
import type { OperatorObject } from '../../model/multinicoperator.ts';
import type { AdmissionRequest } from './admission-review.ts';
import type { Refusals } from './refusals.ts';

interface RefusalReportDeps {
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly refusals: Pick<Refusals, 'count'>;
  readonly metrics: Pick<Metrics<typeof metricTable>, 'count'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly namespace: string;
}

/** Returns a function that reports a refused change in log and metric, and on the MultiNicOperator. */
export function createRefusalReport(deps: RefusalReportDeps) {
  const { recorder, refusals, metrics, log, namespace } = deps;
  return (request: AdmissionRequest, involved: OperatorObject | undefined): void => {
    const { operation, resource, subResource, name, userInfo } = request;
    const kind = subResource === '' ? resource.resource : `${resource.resource}/${subResource}`;
    const what = { user: userInfo.username, operation, object: `${kind} ${name}` };
    log.warn(what, 'change of a managed object refused');
    metrics.count('multinic_operator_protection_events_total', { event: 'refused' });
    if (!involved) return;
    refusals.count({ namespace, name: involved.metadata.name });
    const reason = 'MutationPrevented' satisfies Reason;
    const message = `${operation} of ${what.object} by ${what.user} refused`;
    recorder.record(involved, { type: 'Warning', reason, message });
  };
}
