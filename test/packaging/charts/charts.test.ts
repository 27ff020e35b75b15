import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigMap } from 'kubernetes-types/core/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';
import { runScript } from '../../../rig/hosts/box/script.ts';
import { crdPath } from '../../../src/api/crd/path.ts';
import { baseOf, diffOf } from '../../repo/charts/golden.ts';
import { type Manifest, manifestsIn, ofKind } from '../../repo/charts/manifests.ts';
import { type Installation, namespaces, notes, render } from './helm.ts';
import { installations } from './installations.ts';

const root = join(import.meta.dirname, '../../..');
const withoutKinds = ['--set', 'crds.install=false'];
const charts = ['multinic-operator', 'multinic-agent'] as const;

const baseTexts = new Map<string, Promise<string>>();

function baseTextOf(base: string): Promise<string> {
  const text = baseTexts.get(base) ?? render(installations[base] as Installation, ...withoutKinds);
  baseTexts.set(base, text);
  return text;
}

describe.each(Object.entries(installations))('%s', (name, installation) => {
  it('[RW-78] is what its golden file says, at any time', async () => {
    const text = await render(installation, ...withoutKinds);
    expect(await render(installation, ...withoutKinds)).toBe(text);
    const base = baseOf(name);
    if (base === undefined) {
      await expect(text).toMatchFileSnapshot(`golden/${name}.yaml`);
    } else {
      // The diff to what the base is rendered as now: one run with -u updates the golden files of both.
      const baseText = await baseTextOf(base);
      await expect(diffOf(name, text, base, baseText)).toMatchFileSnapshot(`golden/${name}.diff`);
    }
  });
});

describe.each(charts)('the chart %s', (chart) => {
  const namespace = namespaces[chart];

  it('is well-formed', async () => {
    const said = await runScript(await toolPath('helm'), ['lint', '--strict', `charts/${chart}`]);
    expect(said).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  it('[RW-72] installs its kinds as they are, and keeps them', async () => {
    const templates = await readdir(join(root, 'charts', chart, 'templates/crds'));
    const expected = templates.map(async (template) => {
      const kind = await readFile(join(root, crdPath(template)), 'utf8');
      const plain = parse(kind) as Manifest;
      const annotations = { ...plain.metadata?.annotations, 'helm.sh/resource-policy': 'keep' };
      return { ...plain, metadata: { ...plain.metadata, annotations } };
    });
    const groups = ['multinic.io', 'multinic.okestro.io'];
    const [all, fewest] =
      chart === 'multinic-operator'
        ? [{ lifecycle: { enabled: true } }, {}]
        : [
            { controller: { bizConfig: { groups } } },
            { controller: { bizConfig: { groups: [] } } },
          ];
    const manifests = manifestsIn(await render({ chart, values: all }));
    const installed = ofKind(manifests, 'CustomResourceDefinition');
    expect(new Set(installed)).toEqual(new Set(await Promise.all(expected)));
    const rendered = manifestsIn(await render({ chart, values: fewest }));
    expect(ofKind(rendered, 'CustomResourceDefinition')).toHaveLength(1);
  });

  it('keeps what outlives a release', async () => {
    const manifests = manifestsIn(await render({ chart }));
    const kept = manifests.filter(
      ({ metadata }) => metadata?.annotations?.['helm.sh/resource-policy'] === 'keep',
    );
    const mayGo = ['Deployment', 'NetworkPolicy', 'Pod', 'Service', 'ServiceAccount'];
    const rest = manifests.filter(({ kind = '' }) => !mayGo.includes(kind) && !/Role/.test(kind));
    expect(kept).toEqual(rest);
  });

  it('has budgets that the oldest cluster knows', async () => {
    const installation: Installation = { chart, size: 'production' };
    const old = await render(installation, '--kube-version', '1.20.0');
    const [budget] = ofKind<PodDisruptionBudget>(manifestsIn(old), 'PodDisruptionBudget');
    expect(budget?.apiVersion).toBe('policy/v1beta1');
    expect(budget?.spec).not.toHaveProperty('unhealthyPodEvictionPolicy');
    const refused = render(installation, '--kube-version', '1.19.0');
    await expect(refused).rejects.toThrow('kubeVersion: >=1.20.0-0');
  });

  it('has budgets by which no Pod that serves nobody holds up a drain', async () => {
    const [budget] = ofKind(
      manifestsIn(await render({ chart, size: 'production' })),
      'PodDisruptionBudget',
    );
    expect(budget).toHaveProperty('spec.unhealthyPodEvictionPolicy', 'AlwaysAllow');
  });

  it('has the alerts of its folder, each with a link to its runbook', async () => {
    const runbookBaseUrl = 'https://docs.example.com/nic/';
    const labels = { release: 'prometheus' };
    const values = { alerts: { enabled: true, labels, runbookBaseUrl } };
    const manifests = manifestsIn(await render({ chart, values }));
    const text = await readFile(join(root, 'charts', chart, 'files/alerts.yaml'), 'utf8');
    const spec: unknown = parse(
      text.replaceAll('https://runbooks.multinic.invalid/', 'https://docs.example.com/nic/'),
    );
    expect(ofKind(manifests, 'PrometheusRule')).toMatchObject([
      { metadata: { namespace, labels }, spec },
    ]);
  });

  it('has a ConfigMap for each dashboard of its folder', async () => {
    const folder = join(root, 'charts', chart, 'files/dashboards');
    const files = await readdir(folder);
    const values = { dashboards: { enabled: true } };
    const maps = ofKind<ConfigMap>(
      manifestsIn(await render({ chart, values })).filter(
        ({ metadata }) => metadata?.labels?.['grafana_dashboard'] === '1',
      ),
      'ConfigMap',
    );
    expect(maps.map(({ metadata }) => metadata?.namespace)).toEqual(files.map(() => namespace));
    const shown = maps.flatMap(({ data = {} }) => Object.entries(data));
    const expected = files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')]);
    expect(shown).toEqual(await Promise.all(expected));
  });

  it('says three commands to go on with', async () => {
    const said = await notes({ chart });
    expect(said.match(/^\d\. .*(\n {3}\S.*)*\n {5}(helm|kubectl) .*$/gm)).toHaveLength(3);
  });
});
