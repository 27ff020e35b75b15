import type { Ground } from '../faults/ground.ts';
import type { Act } from './act.ts';

/** A stopped nova-compute: Nova's record of a server stays behind Neutron. */
export function lateRecordTests(ground: () => Ground, act: Act): void {
  act(
    "a NIC stays while the port is 404, and Nova's record still has its MAC: until it has not",
    async () => {
      const { place } = ground();
      const { cloud, tenant } = place.bed;
      const server = await ground().delivered('lagging');
      // nova-compute, which updates Nova's record, is stopped.
      await cloud.stop('nova-compute-compute1');
      try {
        await ground().unchanged([server], async () => {
          await tenant.deletePort(server.ports[0]?.id ?? '');
          await place.untilRefused('lagging', 'RemovalUnconfirmed');
          await ground().look('lagging');
        });
      } finally {
        await cloud.start();
      }
      await place.untilHolds(server);
      await place.untilReady('lagging');
    },
  );
}
