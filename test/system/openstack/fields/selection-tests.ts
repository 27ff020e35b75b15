import { describe, expect } from 'vitest';
import { it } from './in-turn.ts';
import { cidrs, type Place } from './place.ts';

/** Selection of ports that become NICs. */
export function selectionTests(place: () => Place): void {
  describe('subnets', () => {
    it('subnetIDs: ports in each subnet', async () => {
      const server = await place().boot([place().first, place().second]);
      await place().bed.apply('subnet-ids', {
        ...place().usual(),
        subnetIDs: [place().second, place().first],
        vmNames: [server.id],
      });
      await place().untilHolds(server, cidrs.first, cidrs.second);
    });

    it('subnetID: wins over subnetName', async () => {
      const server = await place().boot([place().first, place().second]);
      const one = { subnetIDs: [], subnetID: place().second, subnetName: 'k8s-subnet' };
      await place().bed.apply('subnet-id', { ...place().usual(), ...one, vmNames: [server.id] });
      await place().untilHolds(server, cidrs.second);
    });

    it('subnetName: the only subnet with this name; an unknown name is reported', async () => {
      const server = await place().boot([place().first, place().second]);
      const named = (subnetName: string) => ({
        ...place().usual(),
        subnetIDs: [],
        subnetName,
        vmNames: [server.id],
      });
      await place().bed.apply('subnet-name', named('strage'));
      await place().untilRefused('subnet-name', 'SubnetNotFound');
      await place().bed.apply('subnet-name', named('storage'));
      await place().untilHolds(server, cidrs.second);
    });
  });

  describe('servers', () => {
    it('vmNames: by id and by exact name; an unknown server is reported, and the remaining servers are served', async () => {
      const [byId, byName] = [await place().boot(), await place().boot()];
      const nobody = 'a1b2c3d4-0000-4000-8000-000000000000';
      await place().bed.apply('vm-names', {
        ...place().usual(),
        vmNames: [byId.id, byName.name, nobody],
      });
      await Promise.all([
        place().untilHolds(byId, cidrs.first),
        place().untilHolds(byName, cidrs.first),
      ]);
      await place().untilRefused('vm-names', 'ServerNotFound');
    });

    it('vmSelector.metadata: servers with all pairs', async () => {
      const carries = await place().boot(undefined, { metadata: { pool: 'storage', zone: 'a' } });
      const other = await place().boot(undefined, { metadata: { pool: 'compute', zone: 'a' } });
      const vmSelector = { metadata: { pool: 'storage', zone: 'a' } };
      await place().bed.apply('metadata', { ...place().usual(), vmSelector });
      await place().untilHolds(carries, cidrs.first);
      expect(await place().cidrsOf(other)).toBeUndefined();
    });

    it('vmSelector.tags: servers with these tags in Nova', async () => {
      const [tagged, other] = [await place().boot(), await place().boot()];
      await place().bed.tenant.changeServer(tagged.id, { tags: ['multinic', 'gold'] });
      await place().bed.tenant.changeServer(other.id, { tags: ['gold'] });
      await place().bed.apply('tags', {
        ...place().usual(),
        vmSelector: { tags: ['multinic', 'gold'] },
      });
      await place().untilHolds(tagged, cidrs.first);
      expect(await place().cidrsOf(other)).toBeUndefined();
    });
  });
}
