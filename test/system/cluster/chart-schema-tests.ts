import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import * as z from 'zod';
import { type ControlPlane, toolPath } from '../../../rig/control-plane/control-plane.ts';
import { runScript } from '../../../rig/hosts/box/script.ts';
import { render } from '../../packaging/charts/helm.ts';
import { installations } from '../../packaging/charts/installations.ts';
import { type Manifest, manifestsIn } from '../../repo/charts/manifests.ts';
import { emptyCluster } from './empty-cluster.ts';
import { type OpenApi, schemaLocation, writeSchemas } from './server-schemas.ts';

const verdicts = z.object({
  resources: z.array(z.object({ filename: z.string(), status: z.string(), msg: z.string() })),
});

/** What a cluster without Prometheus' operator and cert-manager knows. */
function known(manifests: readonly Manifest[]): Manifest[] {
  const foreign = ['ServiceMonitor', 'Certificate'];
  return manifests.filter(({ kind = '' }) => !foreign.includes(kind));
}

function textOf(manifests: readonly unknown[]): string {
  return manifests.map((manifest) => stringify(manifest)).join('---\n');
}

/** Charts grant rights there, and install no Pods: the namespaces keep their labels. */
const ofKubernetes = new Set(['default', 'kube-system']);

/** Creates the prerequisites for Pods: namespaces, ServiceAccounts, PriorityClasses. */
async function prepare(plane: ControlPlane, manifests: readonly Manifest[]): Promise<void> {
  const names = new Set(manifests.flatMap(({ metadata }) => metadata?.namespace ?? []));
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  const namespaces = [...names]
    .filter((name) => !ofKubernetes.has(name))
    .map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }));
  const kinds = ['ServiceAccount', 'PriorityClass'];
  const first = new Map(
    manifests
      .filter(({ kind = '' }) => kinds.includes(kind))
      .map((one) => [`${one.kind} ${one.metadata?.namespace}/${one.metadata?.name}`, one]),
  );
  await plane.kubectl(['apply', '--filename=-'], textOf([...namespaces, ...first.values()]));
}

/** Every installation of the charts, with schemas and admission of a real API server. */
export function chartSchemaTests(plane: () => ControlPlane): void {
  describe('charts', () => {
    const rendered = new Map<string, readonly Manifest[]>();
    /** Errors from kubeconform, or `valid`, for each object in an installation. */
    const found = new Map<string, readonly string[]>();
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'server-schemas-'));
      await emptyCluster(plane());
      for (const [name, installation] of Object.entries(installations)) {
        rendered.set(name, known(manifestsIn(await render(installation))));
      }
      await prepare(plane(), [...rendered.values()].flat());
      await conform();
    });

    afterAll(() => rm(folder, { recursive: true, force: true }));

    /** Once for all, as it compiles the schemas in seconds. */
    async function conform(): Promise<void> {
      const said = await plane().kubectl(['get', '--raw', '/openapi/v2']);
      await writeSchemas(JSON.parse(said) as OpenApi, folder);
      const place = join(folder, 'manifests');
      await mkdir(place);
      for (const [name, manifests] of rendered) {
        await writeFile(join(place, `${name}.yaml`), textOf(manifests));
      }
      const flags = ['-strict', '-verbose', '-output', 'json', '-schema-location'];
      const args = [...flags, join(folder, schemaLocation), place];
      // kubeconform exits with 1 for an invalid object.
      const command = ['-c', '"$@" || [ $? = 1 ]', '-', await toolPath('kubeconform'), ...args];
      const { resources } = verdicts.parse(JSON.parse(await runScript('sh', command)));
      for (const name of rendered.keys()) {
        const own = resources.filter(({ filename }) => filename === join(place, `${name}.yaml`));
        found.set(
          name,
          own.map(({ status, msg }) => (status === 'statusValid' ? 'valid' : `${status} ${msg}`)),
        );
      }
    }

    describe.each(Object.keys(installations))('%s', (name) => {
      it('an API server with Pod Security restricted accepts the charts without a warning', async () => {
        const manifests = rendered.get(name) ?? [];
        const flags = ['--dry-run=server', '--validate=strict', '--warnings-as-errors'];
        const said = await plane().kubectl(['apply', ...flags, '--filename=-'], textOf(manifests));
        expect(said.trim().split('\n')).toHaveLength(manifests.length);
      });

      it('kubeconform refuses unknown fields', () => {
        expect(found.get(name)).toEqual((rendered.get(name) ?? []).map(() => 'valid'));
      });
    });
  });
}
