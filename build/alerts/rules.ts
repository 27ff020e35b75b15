import { stringify } from 'yaml';
import type { Chart } from './alert.ts';
import { groupsOf } from './alerts.ts';

/** Placeholder URL for runbooks; the chart replaces the placeholder with the value `alerts.runbookBaseUrl`. */
export const runbookBase = 'https://runbooks.multinic.invalid';

/** Returns a chart's alerts as `spec` for a PrometheusRule; a Prometheus rule file has the same form. */
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
