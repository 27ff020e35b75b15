import { createDeliveryRecords } from '../clusters/deliver/legacy/delivery-records.ts';
import { createLegacyViola } from '../clusters/deliver/legacy/legacy-viola.ts';
import { FakeLegacyViola } from './fake-legacy-viola.ts';
import { attach, environment, type Scene, setScene } from './scene.ts';

export const legacySettings = { violaCompatibility: 'legacy' } as const;

/** Creates a scene with a legacy Viola for providers biz-1 and biz-2, beside the native Viola. */
export async function setLegacyScene() {
  const legacy = new FakeLegacyViola();
  const env = { ...environment, LEGACY_VIOLA_PROVIDERS: 'biz-1,biz-2' };
  const scene: Scene = await setScene(env, {
    violas: (_settings, within) => {
      const records = createDeliveryRecords(within);
      const { clock } = within;
      return {
        of: async ({ url: endpoint, compatibility }, providerId, owner) => {
          if (compatibility !== 'legacy') return scene.viola;
          const about = { endpoint, providerId, owner };
          return createLegacyViola({ ...about, caller: legacy, records, clock });
        },
        clusters: async () => scene.viola.listClusters(),
        noteSameCluster: () => undefined,
        facts: async () => Promise.resolve({ storesIdentity: false, sameClusterIds: [] }),
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
  });
  return { scene, legacy };
}

/** Delivers two servers: two ports on the first, one on the second. */
export async function deliverToLegacy(scene: Scene): Promise<void> {
  attach(scene.cloud, 1, 1);
  attach(scene.cloud, 2, 2);
  attach(scene.cloud, 3, 1);
  scene.create({ settings: legacySettings });
  await scene.look();
}

/** Makes `count` servers (at most 250) named worker-N with port pN; returns their ids. */
export function manyServers({ cloud }: Scene, count: number): string[] {
  const [server] = cloud.vms;
  if (!server) throw new Error('the cloud has no server');
  const ids = Array.from(
    { length: count },
    (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  );
  cloud.vms = ids.map((id, n) => ({ ...server, id, name: `worker-${n}` }));
  attach(cloud, 1, 1);
  const [port] = cloud.ports;
  if (!port) throw new Error('the cloud has no port');
  cloud.ports = ids.map((deviceId, n) => {
    const macAddress = `fa:16:3e:00:00:${n.toString(16).padStart(2, '0')}`;
    const fixedIps = [{ subnetId: 'sub-a', ipAddress: `10.0.10.${n}` }];
    return { ...port, id: `p${n}`, deviceId, macAddress, fixedIps };
  });
  return ids;
}
