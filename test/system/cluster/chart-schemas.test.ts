import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import {
  type ControlPlane,
  startControlPlane,
  toolPath,
} from '../../../rig/control-plane/control-plane.ts';
import { runScript } from '../../../rig/hosts/box/script.ts';
import { render } from '../../packaging/charts/helm.ts';
import { installations } from '../../packaging/charts/installations.ts';
import { type Manifest, manifestsIn } from '../../repo/charts/manifests.ts';
import { type OpenApi, schemaLocation, writeSchemas } from './server-schemas.ts';

let cluster: ControlPlane;
let folder: string;

beforeAll(async () => {
  cluster = await startControlPlane('charts');
  folder = await mkdtemp(join(tmpdir(), 'server-schemas-'));
  const said = await cluster.kubectl(['get', '--raw', '/openapi/v2']);
  await writeSchemas(JSON.parse(said) as OpenApi, folder);
});

afterAll(async () => {
  await cluster?.down();
  await rm(folder, { recursive: true, force: true });
});

/** What a cluster without Prometheus' operator and cert-manager knows. */
function known(manifests: readonly Manifest[]): Manifest[] {
  const foreign = ['ServiceMonitor', 'Certificate'];
  return manifests.filter(({ kind = '' }) => !foreign.includes(kind));
}

function textOf(manifests: readonly unknown[]): string {
  return manifests.map((manifest) => stringify(manifest)).join('---\n');
}

/** Makes what has to be there before a Pod is let in: namespaces, accounts, priorities. */
async function prepare(manifests: readonly Manifest[]): Promise<void> {
  const names = new Set(manifests.flatMap(({ metadata }) => metadata?.namespace ?? []));
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  const namespaces = [...names].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  }));
  const kinds = ['ServiceAccount', 'PriorityClass'];
  const first = manifests.filter(({ kind = '' }) => kinds.includes(kind));
  await cluster.kubectl(['apply', '--filename=-'], textOf([...namespaces, ...first]));
}

describe.each(Object.entries(installations))('%s', (_name, installation) => {
  it('is accepted by an API server as restricted, without a warning', async () => {
    const manifests = known(manifestsIn(await render(installation)));
    await prepare(manifests);
    const flags = ['--dry-run=server', '--validate=strict', '--warnings-as-errors'];
    const said = await cluster.kubectl(['apply', ...flags, '--filename=-'], textOf(manifests));
    expect(said.trim().split('\n')).toHaveLength(manifests.length);
  });

  it('is as strict as its schemas', async () => {
    const location = join(folder, schemaLocation);
    const flags = ['-strict', '-summary', '-output', 'json', '-schema-location', location];
    const manifests = known(manifestsIn(await render(installation)));
    const said = await runScript(await toolPath('kubeconform'), [...flags, '-'], {
      stdin: textOf(manifests),
    });
    const { summary } = JSON.parse(said) as { summary: object };
    expect(summary).toEqual({ valid: manifests.length, invalid: 0, errors: 0, skipped: 0 });
  });
});
