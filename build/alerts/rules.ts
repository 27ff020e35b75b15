import { stringify } from 'yaml';
import type { Chart } from './alert.ts';
import { groupsOf } from './alerts.ts';

/** Where runbooks are found; the chart puts its value `alerts.runbookBaseUrl` in its place. */
export const runbookBase = 'https://runbooks.multinic.invalid';

/** The alerts of a chart as the `spec` of a PrometheusRule, which Prometheus itself reads as well. */
export function rulesOf(chart: Chart): string {
  const groups = [...groupsOf(chart)].map(([name, alerts]) => ({
    name: `${chart}.${name}`,
    rules: alerts.map(([alert, { exprs, for: pending, severity, summary, description }]) => ({
      alert,
      expr: exprs[chart],
      for: pending,
      labels: { severity },
      annotations: { summary, description, runbook_url: `${runbookBase}/${alert}.md` },
    })),
  }));
  return stringify({ groups }, { lineWidth: 0 });
}
