/** Graph or number: PromQL queries with legends. */
export interface Panel {
  readonly title: string;
  readonly kind: 'graph' | 'number';
  readonly unit: Unit;
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  /** Expected and alarming values, for the panel's description. */
  readonly about?: string;
}

/** Grafana units. */
type Unit = 'short' | 's' | 'bytes' | 'ops' | 'cores';

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly Row[];
}

const width = 24;
const heights = { graph: 8, number: 4 } as const;
const refIds = 'ABCDEFGH';
const datasource = { type: 'prometheus', uid: '${datasource}' };

/** Returns a dashboard for import into Grafana; the user selects the Prometheus data source there. */
export function dashboardJson({ uid, title, rows }: Dashboard): string {
  const json = {
    uid,
    title,
    tags: ['multinic'],
    schemaVersion: 39,
    editable: true,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }],
    },
    panels: placed(rows),
  };
  return `${JSON.stringify(json, undefined, 2)}\n`;
}

/** Returns all panels with ids and grid positions: each row below a heading, panels side by side. */
function placed(rows: readonly Row[]): readonly object[] {
  let y = 0;
  const panels = rows.flatMap((row) => {
    const heading = {
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: width, h: 1 },
    };
    y += 1;
    const w = Math.floor(width / row.panels.length);
    const below = row.panels.map((panel, at) => ({
      ...panelJson(panel),
      gridPos: { x: at * w, y, w, h: heights[panel.kind] },
    }));
    y += Math.max(...row.panels.map(({ kind }) => heights[kind]));
    return [heading, ...below];
  });
  return panels.map((panel, at) => ({ id: at + 1, ...panel }));
}

function panelJson({ title, kind, unit, queries, about }: Panel): object {
  const isGraph = kind === 'graph';
  return {
    type: isGraph ? 'timeseries' : 'stat',
    title,
    ...(about === undefined ? {} : { description: about }),
    datasource,
    fieldConfig: { defaults: { unit: unit === 'cores' ? 'short' : unit, min: 0 }, overrides: [] },
    options: isGraph
      ? {
          legend: { displayMode: 'list', placement: 'bottom' },
          tooltip: { mode: 'multi', sort: 'desc' },
        }
      : { colorMode: 'none', graphMode: 'area', reduceOptions: { calcs: ['lastNotNull'] } },
    targets: queries.map(([expr, legendFormat], at) => ({
      refId: refIds[at],
      datasource,
      expr,
      legendFormat,
    })),
  };
}
