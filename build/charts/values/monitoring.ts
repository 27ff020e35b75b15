import * as z from 'zod';
import { flag, group, text, textByName } from './describe.ts';

/** Objects for Prometheus and Grafana; installed only if the cluster has the CRDs. */
export const monitoring = {
  serviceMonitor: group('ServiceMonitors of the Prometheus operator.', {
    enabled: flag(false, 'Whether they are made.'),
    interval: text().describe('How often metrics are read.').default('30s'),
    labels: textByName('Labels by which a Prometheus finds them.'),
  }),
  alerts: group('PrometheusRule with the alerts, each with its runbook.', {
    enabled: flag(false, 'Whether it is made.'),
    labels: textByName('Labels by which a Prometheus finds it.'),
    runbookBaseUrl: z
      .string()
      .regex(/^https?:\/\/[^\s/]+/)
      .describe('Where docs/runbooks of this version can be read; alerts link there.')
      .optional(),
  }),
  dashboards: group('ConfigMaps with the dashboards of Grafana.', {
    enabled: flag(false, 'Whether they are made.'),
    labels: textByName('Labels by which the sidecar of Grafana finds them.').default({
      grafana_dashboard: '1',
    }),
  }),
};
