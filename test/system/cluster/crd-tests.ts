import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { untilEstablished } from '../../../rig/control-plane/established.ts';
import { bizConfigOf003 } from '../../requirements/samples.ts';
import { scaled } from '../../speed.ts';
import { legacyNodeConfig, legacyStatus, openstackConfigs, seedNodeConfig } from './deployed.ts';
import { emptyCluster } from './empty-cluster.ts';

const run = promisify(execFile);
/** kubectl's standard error: that is where the server's warnings are shown. */
async function stderrOf(cluster: ControlPlane, ...args: string[]): Promise<string> {
  const script = new URL('../../../rig/control-plane/control-plane', import.meta.url).pathname;
  const { stderr } = await run(script, ['kubectl', cluster.name, ...args]);
  return stderr;
}

/** The CRDs, and legacy objects under these CRDs. */
export function crdTests(plane: () => ControlPlane): void {
  const apply = (object: unknown) =>
    plane().kubectl(['apply', '--validate=strict', '-f', '-'], JSON.stringify(object));

  describe('the CRDs on a current kube-apiserver', () => {
    beforeAll(async () => {
      await emptyCluster(plane());
      await plane().kubectl(['create', 'namespace', 'multinic-system']);
    });

    it('[RW-70] the API server accepts the CRDs without a warning', async () => {
      expect(await stderrOf(plane(), 'create', '-f', 'deploy/crds')).toBe('');
      await untilEstablished(plane());
      // kubectl and the API server still list kinds that the tests before had, for some time.
      await vi.waitFor(
        async () => {
          for (const kind of ['osc', 'mnnc', 'multinic']) {
            const cache = await mkdtemp(join(tmpdir(), 'multinic-discovery-'));
            const said = await stderrOf(plane(), 'get', kind, '-A', '--cache-dir', cache);
            await rm(cache, { recursive: true });
            expect(said).toBe('No resources found\n');
          }
        },
        { timeout: scaled(60_000), interval: 1_000 },
      );
    });

    it('the CRDs accept the MultiNicBizConfig in document 003 word for word, in both groups', async () => {
      await plane().kubectl(['create', '-f', 'deploy/crds/optional']);
      await untilEstablished(plane());
      const sample = bizConfigOf003();
      const applied = (text: string) =>
        plane().kubectl(['apply', '--validate=strict', '-f', '-'], text);
      expect(await applied(sample)).toContain('multinicbizconfig.multinic.okestro.io/');
      const own = sample.replace('multinic.okestro.io/v1', 'multinic.io/v1');
      expect(await applied(own)).toContain('multinicbizconfig.multinic.io/');
      await plane().kubectl(['delete', 'multinicbizconfigs.multinic.io', '--all', '-A']);
      await plane().kubectl(['delete', '-f', 'deploy/crds/optional']);
    });

    it.each(openstackConfigs)('the CRDs accept OpenstackConfig $metadata.name', async (object) => {
      expect(await apply(object)).toContain('created');
    });

    it('[RW-70] the CRDs accept an object of the legacy Viola, served in both versions', async () => {
      expect(await apply(legacyNodeConfig)).toContain('created');
      const stored = await plane().kubectl([
        'get',
        'multinicnodeconfigs.v1.multinic.io',
        legacyNodeConfig.metadata.name,
        '--namespace=multinic-system',
        '--output=jsonpath={.spec.interfaces[1].name}',
      ]);
      expect(stored).toBe('multinic1');
    });

    it('the CRDs accept the object in seed 004 with host-form cidr and 1-based ids', async () => {
      expect(await apply(seedNodeConfig)).toContain('created');
    });

    it('[RW-71] the CRDs accept status in the form of the legacy controller', async () => {
      const patch = JSON.stringify({ status: legacyStatus });
      const target = ['mnnc', legacyNodeConfig.metadata.name, '-n', 'multinic-system'];
      await plane().kubectl([
        'patch',
        ...target,
        '--subresource=status',
        '--type=merge',
        '-p',
        patch,
      ]);
      const state = await plane().kubectl(['get', ...target, '-o', 'jsonpath={.status.state}']);
      expect(state).toBe('Failed');
    });

    it('the CRDs refuse an invalid MAC and name the field', async () => {
      const [first, ...others] = legacyNodeConfig.spec.interfaces;
      const broken = {
        ...legacyNodeConfig,
        metadata: { ...legacyNodeConfig.metadata, name: 'broken' },
        spec: {
          ...legacyNodeConfig.spec,
          interfaces: [{ ...first, macAddress: 'fa:16' }, ...others],
        },
      };
      await expect(apply(broken)).rejects.toThrow(/spec\.interfaces\[0\]\.macAddress/);
    });
  });
}
