import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Alert, charts } from '../../build/alerts/alert.ts';
import { type AlertName, alerts } from '../../build/alerts/alerts.ts';
import { agentDashboard } from '../../build/alerts/dashboards/agent.ts';
import { operatorDashboard } from '../../build/alerts/dashboards/operator.ts';
import { runbookBase } from '../../build/alerts/rules.ts';
import { type Scenario, scenarios } from './alerts/scenarios.ts';
import type { Series } from './alerts/series.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-alerts-'));
});

afterAll(() => rm(folder, { recursive: true }));

function promtool(...words: readonly string[]) {
  return promisify(execFile)(join(root, 'rig/unpacked/unpacked'), ['run', 'promtool', ...words]);
}

const rulesOf = (chart: string): string => join(root, `charts/${chart}/files/alerts.yaml`);
const names = Object.keys(alerts) as readonly AlertName[];

describe.each(charts)('the rules of %s', (chart) => {
  it('are rules to Prometheus, each once', async () => {
    const { stdout } = await promtool(
      'check',
      'rules',
      '--lint=all',
      '--lint-fatal',
      rulesOf(chart),
    );
    const own = names.filter((name) => alerts[name].exprs[chart] !== undefined);
    expect(stdout).toContain(`SUCCESS: ${own.length} rules found`);
  });

  it.each(names.filter((name) => alerts[name].exprs[chart] !== undefined))(
    '%s fires when it should, and then only',
    async (name) => {
      const scenario = scenarios[name][chart];
      if (!scenario) throw new Error(`nothing is known that makes ${name} of ${chart} fire`);
      const file = join(folder, `${chart}-${name}.json`);
      await writeFile(file, JSON.stringify(testOf(name, scenario, rulesOf(chart))));
      const { stdout } = await promtool('test', 'rules', file);
      expect(stdout).toContain('SUCCESS');
    },
  );
});

it.each([operatorDashboard, agentDashboard])(
  'what $title asks is PromQL',
  async ({ uid, rows }) => {
    const queries = rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries));
    const rules = queries.map(([expr], at) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const file = join(folder, `${uid}.json`);
    await writeFile(file, JSON.stringify({ groups: [{ name: uid, rules }] }));
    const { stdout } = await promtool('check', 'rules', file);
    expect(stdout).toContain(`SUCCESS: ${queries.length} rules found`);
  },
);

/** A test as promtool reads it: YAML, of which JSON is a part. */
function testOf(name: AlertName, scenario: Scenario, rules: string) {
  const alert: Alert = alerts[name];
  const pending = minutesOf(alert.for);
  const at = (minutes: number, expected: readonly object[]) => ({
    eval_time: `${minutes}m`,
    alertname: name,
    exp_alerts: expected,
  });
  // Rates need a moment before there are any.
  const late = pending + 5;
  return {
    rule_files: [rules],
    evaluation_interval: '1m',
    tests: [
      unit(scenario.fires, [at(pending - 1, []), at(late, [firing(name, alert, scenario)])]),
      unit(scenario.quiet, [at(late, []), at(late + 40, [])]),
    ],
  };
}

function unit(series: Series, checks: readonly object[]) {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    alert_rule_test: checks,
  };
}

function firing(name: string, { summary, description, severity }: Alert, scenario: Scenario) {
  const { labels = {}, value = '' } = scenario;
  const told = (text: string): string =>
    text
      .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '')
      .replaceAll(/\{\{ \$value[^}]*\}\}/g, value);
  return {
    exp_labels: { ...labels, severity },
    exp_annotations: {
      summary: told(summary),
      description: told(description),
      runbook_url: `${runbookBase}/${name}.md`,
    },
  };
}

function minutesOf(duration: string): number {
  const [, count, suffix] = /^(\d+)([mhd])$/.exec(duration) ?? [];
  return Number(count) * { m: 1, h: 60, d: 1440 }[suffix as 'm' | 'h' | 'd'];
}
