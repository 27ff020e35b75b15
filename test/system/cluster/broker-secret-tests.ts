import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { crdDefinitions } from '../../../src/api/crd/definition.ts';
import { loadKubeconfig } from '../../../src/kube/access/kubeconfig.ts';
import { crds } from '../../../src/kube/core-resources.ts';
import { retryMs } from '../../../src/operator/cloud/broker-secret/broker-secrets.ts';
import { openstackConfigs } from '../../../src/operator/model/openstack-config.ts';
import { spec } from '../../../src/operator/testing/scene.ts';
import { SecretsFixture } from '../../fixtures/secrets.ts';
import { scaled } from '../../speed.ts';

const broker = { username: 'r', password: 'p', hosts: ['10.0.0.1:5672'] };
const name = 'rabbitmq-osc';
const generous = { timeout: scaled(60_000), interval: 200 };
/** The garbage collector discovers new kinds every 30 s. */
const collected = { timeout: scaled(180_000), interval: 200 };

let bed: SecretsFixture;

async function makeConfig(): Promise<string> {
  const metadata = { namespace: bed.namespace, name: 'osc' };
  const made = await bed.client.create(openstackConfigs, { metadata, spec });
  return made.metadata.uid ?? '';
}

async function kept(uid: string, of = broker): Promise<void> {
  bed.secrets.keep({ namespace: bed.namespace, name: 'osc', uid }, of);
  await bed.idle();
}

/**
 * Secrets of brokers with a real garbage collector, missing in the embedded API server. The collector can miss a deletion if the CRD was
 * deleted and created again, so these tests need a new control plane.
 */
export function brokerSecretTests(plane: () => ControlPlane): void {
  describe('broker Secrets', () => {
    beforeAll(async () => {
      bed = SecretsFixture.on(await loadKubeconfig(plane().kubeconfig));
      for (const definition of Object.values(crdDefinitions())) {
        await bed.client.create(crds, definition);
      }
      await bed.empty();
      // A kind is served some time after it was made.
      const { namespace } = bed;
      await vi.waitFor(async () => bed.client.list(openstackConfigs, { namespace }), generous);
    });

    afterAll(async () => {
      await bed?.follow();
      await bed?.[Symbol.asyncDispose]();
    });

    it('a broker Secret follows the broker, is deleted with its OpenstackConfig, and is created again for the next', async () => {
      const uid = await makeConfig();
      await kept(uid);
      expect((await bed.secret(name))?.metadata.ownerReferences?.map((one) => one.uid)).toEqual([
        uid,
      ]);
      await kept(uid, { ...broker, password: 'another' });
      expect(await bed.data(name)).toMatchObject({ RABBITMQ_PASSWORD: 'another' });
      expect(bed.effects).toHaveLength(4);
      await kept(uid, { ...broker, password: 'another' });
      expect(bed.effects).toHaveLength(4);

      await bed.client.delete(openstackConfigs, { namespace: bed.namespace, name: 'osc' });
      const next = await makeConfig();
      await kept(next);
      await expect.poll(async () => bed.secret(name), collected).toBeUndefined();
      await bed.clock.advance(retryMs);
      await kept(next);
      expect((await bed.secret(name))?.metadata.ownerReferences?.map((one) => one.uid)).toEqual([
        next,
      ]);
    });

    it('a Secret that a user created meanwhile stays unchanged', async () => {
      await bed.delete(name);
      bed.lines.length = 0;
      await bed.leadWith({
        beforeWrite: async () => bed.make(name, {}, { RABBITMQ_URLS: 'theirs' }),
      });
      await kept('another-uid');
      expect(await bed.data(name)).toEqual({ RABBITMQ_URLS: 'theirs' });
      expect(bed.lines).toEqual([expect.stringContaining('cannot be written')]);
    });
  });
}
