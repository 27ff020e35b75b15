import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';
import { runScript } from '../../../rig/hosts/box/script.ts';
import {
  containerOf,
  environmentOf,
  type Manifest,
  manifestsIn,
} from '../../repo/charts/manifests.ts';
import { render } from './helm.ts';

const root = join(import.meta.dirname, '../../..');

/** With names that YAML takes for numbers, all that are allowed in Kubernetes. */
async function oddly(chart: string, values: object): Promise<Manifest[]> {
  const place = ['template', '123', join(root, 'charts', chart), '--namespace', '1e3'];
  const stdin = stringify(values);
  return manifestsIn(
    await runScript(await toolPath('helm'), [...place, '--values', '-'], { stdin }),
  );
}

/** Paths of what is a text in Kubernetes and is not here. */
function notTexts(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) {
    const isText = /\.(name|namespace|\w*Name|key|\w*labels\.[^.]*(\.[^.]*)*)$/i.test(path);
    return isText && typeof value !== 'string' ? [`${path}: ${String(value)}`] : [];
  }
  return Object.entries(value).flatMap(([key, inner]) => notTexts(inner, `${path}.${key}`));
}

const operator = {
  namespaces: { system: '077', clusters: '1e5' },
  operator: {
    priorityClassName: '88',
    settings: { watchNamespace: '1e4' },
    caBundle: { configMap: '1e6', key: '99' },
    persistence: { existingClaim: '0123' },
  },
  viola: {
    tls: { mode: 'secret', secretName: '11', ca: { secret: '12', key: '13' } },
    tokens: { mode: 'secret', secretName: '14', operatorToken: { secretName: '15', key: '16' } },
  },
};
const agent = {
  agent: { namespace: '1e7', priorityClassName: '21', imagePullSecrets: [{ name: '007' }] },
};

it.each([
  ['multinic-operator', operator],
  ['multinic-agent', agent],
])('in %s names that look like numbers stay texts', async (chart, values) => {
  const manifests = await oddly(chart, values);
  expect(manifests.flatMap((one) => notTexts(one, one.kind ?? ''))).toEqual([]);
});

function read(manifests: readonly Manifest[], part: string): Record<string, string> {
  return environmentOf(containerOf(manifests, part), () => '');
}

it('a part reads them as they are', async () => {
  expect(read(await oddly('multinic-operator', operator), 'operator')).toMatchObject({
    SECRET_NAMESPACES: '1e4',
  });
  expect(read(await oddly('multinic-agent', agent), 'controller')).toMatchObject({
    AGENT_NAMESPACE: '1e7',
    AGENT_IMAGE_PULL_SECRETS: '007',
    AGENT_PRIORITY_CLASS: '21',
  });
});

it('null takes back what has no default, and is as if nobody had said it', async () => {
  const values = {
    operator: {
      image: { tag: null, digest: null },
      settings: { listen: null, logLevel: null, dbHost: null, allowedEndpoints: null },
      secretSettings: { dbPassword: null },
      persistence: { storageClassName: null, existingClaim: null },
      caBundle: { configMap: null },
    },
    viola: { settings: { legacyListener: null }, tls: { secretName: null } },
    alerts: { runbookBaseUrl: null },
  };
  const chart = 'multinic-operator';
  expect(await render({ chart, values })).toBe(await render({ chart }));
});

it('an endpoint that is allowed at any port is let out to any', async () => {
  const to = [{ ipBlock: { cidr: '192.0.2.0/24' } }];
  const values = {
    operator: { settings: { allowedEndpoints: ['https://*.example.com:*'] } },
    networkPolicy: { cloud: { to } },
  };
  const manifests = await render({ chart: 'multinic-operator', values });
  expect(manifests).toContain(`# Contrabass and OpenStack\n    - ${JSON.stringify({ to })}\n`);
});

it('values of a chart that includes ours and its others are no mistake', async () => {
  const values = { global: { storageClass: 'fast' } };
  expect(await render({ chart: 'multinic-agent', values })).toContain('kind: Deployment');
});
