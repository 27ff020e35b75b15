import { describe, expect, it } from 'vitest';
import { knownMetrics } from '../known-metrics-in-test.ts';
import { selectorsIn } from '../selectors-in-test.ts';
import { agentDashboard } from './agent.ts';
import { dashboardJson } from './dashboard.ts';
import { operatorDashboard } from './operator.ts';

const known = await knownMetrics();

describe.each([operatorDashboard, agentDashboard])('$title', (dashboard) => {
  const panels = dashboard.rows.flatMap((row) => row.panels);

  it.each(panels)('panel $title queries existing metrics and labels', ({ queries }) => {
    for (const [expr, legend] of queries) {
      const selectors = selectorsIn(expr);
      expect(selectors.length).toBeGreaterThan(0);
      for (const { metric, matchers } of selectors) {
        expect([...known.keys()]).toContain(metric);
        expect(known.get(metric) ?? []).toEqual(expect.arrayContaining([...matchers.keys()]));
      }
      // A legend may use labels from `by`, and the labels of a process.
      const summed = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, by = '']) =>
        by.split(', '),
      );
      const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      expect([...summed, 'part', 'pod']).toEqual(expect.arrayContaining(named));
    }
  });

  it('the dashboard has each panel once, without overlaps', () => {
    interface Placed {
      readonly id: number;
      readonly gridPos: { readonly x: number; readonly y: number; readonly w: number };
    }
    const { panels: placed } = JSON.parse(dashboardJson(dashboard)) as {
      panels: readonly Placed[];
    };
    const distinct = new Set(placed.map(({ gridPos: { x, y } }) => `${x} ${y}`));
    expect(distinct.size).toBe(placed.length);
    expect(new Set(placed.map(({ id }) => id)).size).toBe(placed.length);
    for (const { gridPos } of placed) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  it('the dashboard JSON contains no URLs', () => {
    expect(dashboardJson(dashboard)).not.toMatch(/https?:|\/\//);
  });
});
