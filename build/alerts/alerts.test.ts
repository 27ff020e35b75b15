import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { multiNicBizConfigReasons } from '../../src/api/reasons/multinicbizconfig.ts';
import { nicReasons } from '../../src/api/reasons/nic.ts';
import { nodeReasons } from '../../src/api/reasons/node.ts';
import { openstackConfigReasons } from '../../src/api/reasons/openstackconfig.ts';
import type { ReasonRow } from '../../src/api/reasons/reason-row.ts';
import { reasons, rowOf } from '../../src/api/reasons.ts';
import { filesBelow, textOf } from '../../test/repo/tree.ts';
import { type Alert, charts, languages } from './alert.ts';
import { alerts } from './alerts.ts';
import { alertFiles } from './files.ts';
import { knownMetrics } from './known-metrics-in-test.ts';
import { controllersOf } from './processes.ts';
import { selectorsIn } from './selectors-in-test.ts';

const all = Object.entries<Alert>(alerts);
const folder = join(import.meta.dirname, '../../docs/runbooks');

function exprsOf({ exprs }: Alert): readonly string[] {
  return charts.flatMap((chart) => exprs[chart] ?? []);
}

const known = await knownMetrics();

describe.each(all)('%s', (_name, alert) => {
  it('the expression selects existing metrics and labels', () => {
    const selectors = exprsOf(alert).flatMap(selectorsIn);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, matchers } of selectors) {
      expect([...known.keys()]).toContain(metric);
      const labels = known.get(metric) ?? [];
      expect(labels, metric).toEqual(expect.arrayContaining([...matchers.keys()]));
    }
  });

  it('summary and description use only labels of the result', () => {
    const texts = `${alert.summary} ${alert.description}`;
    const named = [...texts.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    for (const expr of exprsOf(alert)) {
      const [, kept = ''] = /^\w+(?:\([\d.]+, \w+)? by \(([^)]*)\)/.exec(expr) ?? [];
      expect(kept.split(', ')).toEqual(expect.arrayContaining(named));
    }
  });

  it('every text is in English and Korean', () => {
    const texts = [
      alert.meaning,
      alert.impact,
      ...alert.fix,
      ...alert.diagnosis.map(({ say }) => say),
    ];
    for (const { en, ko } of texts) {
      expect(en).not.toMatch(/[가-힣]/);
      expect(ko).toMatch(/[가-힣]/);
    }
  });
});

function reasonsIn(matchers: ReadonlyMap<string, string>): readonly string[] {
  return matchers.get('reason')?.slice(1, -1).split('|') ?? [];
}

/** Returns the reasons of a metric that alerts select. */
function selectedReasons(metric: string): readonly string[] {
  return all.flatMap(([, alert]) =>
    exprsOf(alert)
      .flatMap(selectorsIn)
      .filter((selector) => selector.metric === metric)
      .flatMap(({ matchers }) => reasonsIn(matchers)),
  );
}

describe('reasons for not Ready', () => {
  const rows = Object.entries<ReasonRow>(reasons);
  const alerted = rows.filter(([, { alerts: names = [] }]) => names.length > 0);
  // NICs with any other reason are Failed.
  const ofNics = Object.keys(nicReasons).filter((name) => rowOf(name)?.alerts !== undefined);
  const ofNodes = [...Object.keys(nodeReasons), 'RemovalHeld', ...ofNics];

  it.each(alerted)('the alert for %s selects the reason', (reason, { alerts: names = [] }) => {
    for (const name of names) {
      const selectors = exprsOf(alerts[name]).flatMap(selectorsIn);
      const selected = selectors.flatMap(({ matchers }) => reasonsIn(matchers));
      expect(selected, name).toContain(reason);
    }
  });

  it.each([
    ['multinic_openstack_configs_not_ready', Object.keys(openstackConfigReasons)],
    ['multinic_node_configs_not_ready', ofNodes],
    ['multinic_biz_configs_not_ready', [...Object.keys(multiNicBizConfigReasons), 'RemovalHeld']],
  ])('exactly one alert selects each reason of %s that needs action', (metric, possible) => {
    expect(ofNics).toEqual(['WaitingForNIC']);
    expect(selectedReasons(metric).toSorted()).toEqual(
      possible.filter((reason) => rowOf(reason)?.alerts?.length).toSorted(),
    );
  });
});

it('MultiNicReconcileFailing selects all controllers in the chart', () => {
  const parts = {
    'multinic-operator': ['operator', 'lifecycle'],
    'multinic-agent': ['controller'],
  };
  for (const chart of charts) {
    const sources = parts[chart].flatMap((part) => filesBelow(`src/${part}`)).map(textOf);
    const names = sources.flatMap((text) =>
      [...text.matchAll(/(?:\bcontrollerName =|controllers\.define\(\{\s+name:) '([\w-]+)'/g)].map(
        ([, name = '']) => name,
      ),
    );
    expect(controllersOf[chart].toSorted()).toEqual(names.toSorted());
  }
});

it('a single expression per controller selects reconciles', () => {
  const selected = all.flatMap(([, alert]) =>
    exprsOf(alert)
      .flatMap(selectorsIn)
      .filter(({ metric }) => metric === 'multinic_reconcile_total')
      .flatMap(({ matchers }) => matchers.get('controller')?.slice(1, -1).split('|') ?? ['any']),
  );
  expect(selected.toSorted()).toEqual(Object.values(controllersOf).flat().toSorted());
});

describe('runbooks', () => {
  const pages = [...alertFiles()].filter(([path]) => path.endsWith('.md'));

  it('each alert has one runbook per language', () => {
    expect(pages).toHaveLength((all.length + 1) * languages.length);
  });

  it.each(pages)('%s links to existing pages and headings', (_path, text) => {
    const links = [...text.matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)];
    for (const [, to = '', heading] of links) {
      const generated = pages.find(([path]) => path === `docs/runbooks/${to}`);
      expect(generated !== undefined || existsSync(join(folder, to)), to).toBe(true);
      if (heading !== undefined) expect(headingsOf(join(folder, to))).toContain(heading);
    }
  });

  it.each(pages)('%s has commands with namespaces and names of the charts', (_path, text) => {
    for (const [, namespace] of text.matchAll(/kubectl -n (\S+)/g)) {
      expect([
        'multinic-operator-system',
        'multinic-system',
        'multinic-agents',
        'multinic-clusters',
      ]).toContain(namespace);
    }
    for (const [, name] of text.matchAll(/deployments?[ /](multinic\S+|viola\S*)/g)) {
      expect([
        'multinic-operator-controller-manager',
        'multinic-agent-controller',
        'multinic-operator',
        'viola-api',
      ]).toContain(name?.replace(/[`,.]+$/, ''));
    }
  });
});

describe('runbook commands', () => {
  const commands = all.flatMap(([name, { diagnosis }]) =>
    diagnosis.flatMap(({ run = '' }) => run.split('; ').map((one) => [name, one] as const)),
  );

  it('can-i --list commands name a namespace', () => {
    const asked = commands.filter(([, run]) => run.includes('can-i --list'));
    expect(asked.length).toBeGreaterThan(0);
    for (const [, run] of asked) expect(run).toMatch(/^kubectl -n \S+ auth can-i --list /);
  });

  it('no command reads kinds of two clusters, except CRDs', () => {
    for (const [, run] of commands) {
      const both = /openstackconfigs/.test(run) && /multinicnodeconfigs/.test(run);
      // kubectl reports a missing CRD beside existing ones, but an unknown kind ends the command.
      expect(both && !/ get crds? /.test(run), run).toBe(false);
    }
  });

  it('label selectors use labels of MultiNIC Pods and Jobs', () => {
    const selectors = commands.flatMap(([, run]) => / -l ([^' ]+)/.exec(run)?.[1] ?? []);
    expect(selectors.length).toBeGreaterThan(0);
    for (const term of selectors.flatMap((selector) => selector.split(','))) {
      expect(term).toMatch(
        /^(app\.kubernetes\.io\/(part-of=multinic|component=(operator|viola|controller|lifecycle))|multinic\.example\.com\/protected=true|multinic\.io\/node-name=NODE)$/,
      );
    }
  });

  it('the command for the legacy controller selects its objects and no MultiNIC objects', () => {
    const [, text = ''] = commands.find(([, run]) => run.includes('get deployments,jobs')) ?? [];
    const [, selector = ''] = /-l '([^']*)'/.exec(text) ?? [];
    const selects = (labels: Readonly<Record<string, string>>): boolean =>
      selector.split(',').every((term) => {
        const [key = '', value] = term.split('=');
        return value === undefined ? !(key.slice(1) in labels) : labels[key] === value;
      });
    const name = { 'app.kubernetes.io/name': 'multinic-agent' };
    expect(selects({ ...name, 'app.kubernetes.io/managed-by': 'multinic-controller' })).toBe(true);
    expect(selects({ ...name, 'app.kubernetes.io/component': 'agent' })).toBe(false);
    expect(selects({ ...name, 'app.kubernetes.io/component': 'controller' })).toBe(false);
  });

  it('commands contain no unquoted glob characters', () => {
    for (const [, run] of commands) expect(run.replaceAll(/'[^']*'/g, '')).not.toMatch(/[*?[\]]/);
  });
});

/** Returns the heading anchors of a page in GitHub form. */
function headingsOf(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  );
}
