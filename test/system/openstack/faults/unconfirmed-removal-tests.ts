import { describe, it } from 'vitest';
import { annotations } from '../../../../src/api/names.ts';
import { inTurn } from '../../../rotation.ts';
import { cidrs, type Machine } from '../fields/place.ts';
import type { Ground } from './ground.ts';

const portOf = ({ ports }: Machine): string => ports[0]?.id ?? '';

/** Observations that only suggest the removal of a NIC. */
export function unconfirmedRemovalTests(ground: () => Ground): void {
  const act = inTurn('unconfirmed removals', 2, (title: string, test: () => Promise<void>) =>
    it(title, test),
  );
  describe('a NIC stays without evidence for the removal', () => {
    act('the port has no address: until it has one again', async () => {
      const { place } = ground();
      const server = await ground().delivered('no-address');
      const { fixed_ips: fixed = [] } = server.ports[0] ?? {};
      await ground().unchanged([server], async () => {
        await place.bed.tenant.updatePort(portOf(server), { fixed_ips: [] });
        await place.untilRefused('no-address', 'RemovalUnconfirmed', 'no address');
        await ground().look('no-address');
        await place.bed.tenant.updatePort(portOf(server), { fixed_ips: fixed });
        await place.untilReady('no-address');
      });
    });

    act('the port is in another subnet: until somebody gives leave', async () => {
      const { place } = ground();
      const server = await ground().delivered('other-subnet');
      await ground().unchanged([server], async () => {
        const there = [{ subnet_id: place.second }];
        await place.bed.tenant.updatePort(portOf(server), { fixed_ips: there });
        await place.untilRefused('other-subnet', 'RemovalUnconfirmed');
        await ground().look('other-subnet');
      });
      await place.bed.annotate('other-subnet', annotations.allowRemovals, 'yes');
      await place.untilHolds(server);
    });

    act('the name of the subnet is that of another one', async () => {
      const { place } = ground();
      const rename = async (id: string, name: string): Promise<void> => {
        const request = { path: `/v2.0/subnets/${id}`, body: { subnet: { name } } };
        await place.bed.tenant.user.ask('network', { method: 'PUT', ...request });
      };
      await rename(place.first, 'lan');
      const server = await ground().delivered('renamed', { subnetIDs: [], subnetName: 'lan' });
      await ground().unchanged([server], async () => {
        await rename(place.first, 'former-lan');
        await rename(place.second, 'lan');
        await ground().look('renamed');
        await place.untilRefused('renamed', 'RemovalUnconfirmed');
        await rename(place.second, 'storage');
        await rename(place.first, 'lan');
        await ground().look('renamed');
        await place.untilReady('renamed');
      });
    });

    act('the account is one of another project', async () => {
      const { place, stranger } = ground();
      const server = await ground().delivered('other-project');
      const credentials = ground().direct(stranger, stranger);
      await ground().unchanged([server], async () => {
        await ground().apply('other-project', { credentials });
        await place.untilRefused('other-project', 'SubnetNotFound');
        await ground().look('other-project');
        await ground().apply('other-project', { credentials: place.usual().credentials });
        await place.untilReady('other-project');
      });
    });

    // The controller checks evidence against the node; the operator sets no limit.
    act('ports of many servers detached at once, with evidence for each NIC', async () => {
      const { place } = ground();
      const { bed } = place;
      const subnets = Array.from({ length: 6 }, () => place.first);
      const servers = [await place.boot(subnets), await place.boot(subnets)];
      const wanted = servers.map(({ ports }) => ports.map(() => cidrs.first));
      await ground().apply('many', { vmNames: servers.map(({ id }) => id) });
      for (const [n, server] of servers.entries()) {
        await place.untilHolds(server, ...(wanted[n] ?? []));
      }
      await bed.annotate('many', annotations.paused, 'true');
      const ports = servers.flatMap((server) => server.ports);
      await Promise.all(ports.map(({ id }) => bed.tenant.updatePort(id, { device_id: '' })));
      await bed.annotate('many', annotations.paused, null);
      for (const each of servers) await place.untilHolds(each);
    });
  });
}
