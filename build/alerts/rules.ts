import { stringify } from 'yaml';
import type { Chart } from './alert.ts';
import { groupsOf } from './alerts.ts';

/** Placeholder URL of the runbooks; the chart replaces it with its value `alerts.runbookBaseUrl`. */
export const runbookBase = 'https://runbooks.multinic.invalid';

/** Returns the alerts of a chart as `spec` of a PrometheusRule, which is also a valid Prometheus rule file. */
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
