import { describe, expect, it } from 'vitest';
import { annotations } from '../../../../src/api/names.ts';
import { inTurn } from '../../../rotation.ts';
import { cidrs, type Machine } from '../fields/place.ts';
import type { Ground } from './ground.ts';

const portOf = ({ ports }: Machine): string => ports[0]?.id ?? '';

/** Evidence that allows the removal of a NIC. */
export function evidenceTests(ground: () => Ground): void {
  const act = inTurn('evidence for removals', 2, (title: string, test: () => Promise<void>) =>
    it(title, test),
  );
  describe('a NIC is removed with evidence', () => {
    act('the port is read by its id with no device', async () => {
      const server = await ground().delivered('unbound');
      await ground().place.bed.tenant.updatePort(portOf(server), { device_id: '' });
      await ground().place.untilHolds(server);
    });

    act('the port is read by its id at another server, where it comes', async () => {
      const { place } = ground();
      const from = await ground().delivered('moved');
      const to = await place.boot([place.second], { name: 'moved-to' });
      await ground().apply('moved', { vmNames: [from.id, to.id] });
      await place.bed.tenant.detach(from.id, portOf(from));
      await place.bed.tenant.attach(to.id, { portId: portOf(from) });
      await place.untilHolds(from);
      await place.untilHolds(to, cidrs.first);
    });

    act("the port is 404, and Nova's record of the server has let it go", async () => {
      const { place } = ground();
      const server = await ground().delivered('deleted-port');
      const other = await place.attach(server);
      await place.untilHolds(server, cidrs.first, cidrs.first);
      await place.bed.tenant.deletePort(other.id);
      // Nova may be reading the server's ports and miss this change; the next change makes Nova refresh the cached record.
      const next = await place.attach(server);
      await place.untilHasPorts(server, portOf(server), next.id);
      await place.untilReady('deleted-port');
    });

    act('server and port are 404 to the account that saw the server before', async () => {
      const server = await withOwnPort(ground(), 'deleted-server');
      await ground().place.bed.tenant.deleteServer(server.id);
      await ground().untilEmpty(server);
      await ground().look('deleted-server');
      await ground().place.untilRefused('deleted-server', 'ServerNotFound');
    });

    act('Nova lists the server as deleted, to an account that never saw it', async () => {
      const { bed } = ground().place;
      const server = await withOwnPort(ground(), 'listed-deleted');
      await bed.annotate('listed-deleted', annotations.paused, 'true');
      await bed.tenant.deleteServer(server.id);
      const account = await bed.tenant.createAccount(['member']);
      await ground().apply('listed-deleted', { credentials: ground().direct(account) });
      expect(await ground().place.cidrsOf(server)).toHaveLength(1);
      await bed.annotate('listed-deleted', annotations.paused, null);
      await ground().untilEmpty(server);
    });

    act('the server is deleted and its port stays', async () => {
      const server = await ground().delivered('kept-port');
      await ground().place.bed.tenant.deleteServer(server.id);
      expect(await ground().place.bed.tenant.port(portOf(server))).toMatchObject({ device_id: '' });
      await ground().untilEmpty(server);
    });

    act('the server is taken out of vmNames', async () => {
      const [stays, goes] = [await ground().delivered('listed'), await ground().place.boot()];
      await ground().apply('listed', { vmNames: [stays.id, goes.id] });
      await ground().place.untilHolds(goes, cidrs.first);
      await ground().apply('listed', { vmNames: [stays.id] });
      await ground().untilEmpty(goes);
      await ground().place.untilHolds(stays, cidrs.first);
    });

    act('the server, read by its id, does not carry any more what selects it', async () => {
      const { place } = ground();
      const server = await place.boot(undefined, { metadata: { pool: 'leaving' } });
      await ground().apply('carried', { vmSelector: { metadata: { pool: 'leaving' } } });
      await place.untilHolds(server, cidrs.first);
      await place.bed.tenant.changeServer(server.id, { metadata: { pool: 'left' } });
      await ground().look('carried');
      await ground().untilEmpty(server);
    });
  });
}

/** A server with a port that Nova created and deletes with the server; Neutron picks the subnet. */
async function withOwnPort(ground: Ground, name: string): Promise<Machine> {
  const { place } = ground;
  const { id } = await place.bed.tenant.createServer({ name, networkIds: [place.networkId] });
  const server = { id, name, ports: [] };
  await ground.apply(name, { vmNames: [id], subnetIDs: [place.first, place.second] });
  await expect.poll(() => place.cidrsOf(server), { timeout: 90_000 }).toHaveLength(1);
  return server;
}
