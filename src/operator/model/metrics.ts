import type { metricTable } from '../../api/metrics.ts';
import type { Metrics } from '../../process/metrics.ts';

export type OperatorMetrics = Pick<Metrics<typeof metricTable>, 'count' | 'set' | 'observe'>;

/** This controller's name in metrics shared by all controllers. */
export const controllerName = 'openstack-config';
