import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nicReasons } from '../../src/api/reasons/nic.ts';
import { nodeReasons } from '../../src/api/reasons/node.ts';
import { openstackConfigReasons } from '../../src/api/reasons/openstackconfig.ts';
import { type Alert, charts, languages } from './alert.ts';
import { alerts } from './alerts.ts';
import { alertFiles } from './files.ts';
import { knownMetrics } from './known-metrics-in-test.ts';
import { selectorsIn } from './selectors-in-test.ts';

const all = Object.entries<Alert>(alerts);
const folder = join(import.meta.dirname, '../../docs/runbooks');

function exprsOf({ exprs }: Alert): readonly string[] {
  return charts.flatMap((chart) => exprs[chart] ?? []);
}

const known = await knownMetrics();

describe.each(all)('%s', (_name, alert) => {
  it('is about metrics and labels that there are', () => {
    const selectors = exprsOf(alert).flatMap(selectorsIn);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, matchers } of selectors) {
      expect([...known.keys()]).toContain(metric);
      const labels = known.get(metric) ?? [];
      expect(labels, metric).toEqual(expect.arrayContaining([...matchers.keys()]));
    }
  });

  it('names labels only that its result has', () => {
    const texts = `${alert.summary} ${alert.description}`;
    const named = [...texts.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    for (const expr of exprsOf(alert)) {
      const [, kept = ''] = /^\w+(?:\([\d.]+, \w+)? by \(([^)]*)\)/.exec(expr) ?? [];
      expect(kept.split(', ')).toEqual(expect.arrayContaining(named));
    }
  });

  it('is told in both languages', () => {
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

/** The reasons that alerts select of a metric. */
function told(metric: string): readonly string[] {
  return all.flatMap(([, alert]) =>
    exprsOf(alert)
      .flatMap(selectorsIn)
      .filter((selector) => selector.metric === metric)
      .flatMap(({ matchers }) => matchers.get('reason')?.slice(1, -1).split('|') ?? []),
  );
}

describe('the reasons for which something is not Ready', () => {
  const fine = {
    operator: [
      'Synced',
      'NoChange',
      'Healthy',
      'Error',
      'Paused',
      'WaitingForTrigger',
      'TimeoutCapped',
      'SecretInSpec',
      'TLSNotVerified',
      'SecretNotOurs',
      'Connected',
      'Disconnected',
      // Of Events about multinic.io/check-nodes.
      'ChecksRequested',
      'CheckNodesRefused',
      // Of ports and of the condition NICsReady, never of Ready.
      'PortTooOld',
      'PortStatus',
      'SubnetNotSelected',
      'FamilyNotWanted',
      'PortWithoutAddress',
      'PortNotPlugged',
      'NetworkUnread',
      'WaitingForName',
      'NoPorts',
      'NICsConfigured',
      'NICsNotConfigured',
      'NoNodeStatus',
      'StatusUnsupported',
    ],
    // A rollout that is stopped has an alert of its own.
    controller:
      'RolloutWaiting RolloutStopped AllInterfacesConfigured AsApplied SpecChanged JobScheduled JobSucceeded Accepted WaitingForTurn NameDiffers NodeGone'.split(
        ' ',
      ),
  };
  // A NIC with any other reason is Failed.
  const ofNics = ['WaitingForNIC'];
  const ofNodes = [...Object.keys(nodeReasons), 'RemovalHeld', ...ofNics];

  it.each([
    ['multinic_openstack_configs_not_ready', Object.keys(openstackConfigReasons), fine.operator],
    ['multinic_node_configs_not_ready', ofNodes, fine.controller],
  ])('of %s are told each by one alert', (metric, reasons, notTold) => {
    expect(ofNics.every((reason) => reason in nicReasons)).toBe(true);
    expect(told(metric).toSorted()).toEqual(
      reasons.filter((reason) => !notTold.includes(reason)).toSorted(),
    );
  });
});

describe('the runbooks', () => {
  const pages = [...alertFiles()].filter(([path]) => path.endsWith('.md'));

  it('are one for each alert and language', () => {
    expect(pages).toHaveLength((all.length + 1) * languages.length);
  });

  it.each(pages)('%s links to pages and headings that there are', (_path, text) => {
    const links = [...text.matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)];
    for (const [, to = '', heading] of links) {
      const generated = pages.find(([path]) => path === `docs/runbooks/${to}`);
      expect(generated !== undefined || existsSync(join(folder, to)), to).toBe(true);
      if (heading !== undefined) expect(headingsOf(join(folder, to))).toContain(heading);
    }
  });

  it.each(pages)('%s has commands for what the charts install', (_path, text) => {
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

describe('the commands of the runbooks', () => {
  const commands = all.flatMap(([name, { diagnosis }]) =>
    diagnosis.flatMap(({ run = '' }) => run.split('; ').map((one) => [name, one] as const)),
  );

  it('ask for rights in a namespace: others are not listed', () => {
    const asked = commands.filter(([, run]) => run.includes('can-i --list'));
    expect(asked.length).toBeGreaterThan(0);
    for (const [, run] of asked) expect(run).toMatch(/^kubectl -n \S+ auth can-i --list /);
  });

  it('get nothing from one cluster that only another one has', () => {
    for (const [, run] of commands) {
      const both = /openstackconfigs/.test(run) && /multinicnodeconfigs/.test(run);
      // A definition that is not there is told beside the one that is; an unknown kind ends the command.
      expect(both && !/ get crds? /.test(run), run).toBe(false);
    }
  });

  it('select by labels that Pods and Jobs have', () => {
    const selectors = commands.flatMap(([, run]) => / -l ([^' ]+)/.exec(run)?.[1] ?? []);
    expect(selectors.length).toBeGreaterThan(0);
    for (const term of selectors.flatMap((selector) => selector.split(','))) {
      expect(term).toMatch(
        /^(app\.kubernetes\.io\/(part-of=multinic|component=(operator|viola|controller|lifecycle))|multinic\.example\.com\/protected=true|multinic\.io\/node-name=NODE)$/,
      );
    }
  });

  it('show the other controller and its Jobs, and nothing of ours', () => {
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

  it('mean the same to every shell', () => {
    for (const [, run] of commands) expect(run.replaceAll(/'[^']*'/g, '')).not.toMatch(/[*?[\]]/);
  });
});

/** Names of the headings of a page as GitHub makes them. */
function headingsOf(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  );
}
