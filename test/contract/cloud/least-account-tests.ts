import { expect } from 'vitest';
import type { Contract } from './contract.ts';

/** Minimal rights for an account, as in the credentials guide. */
export function leastAccountTests(contract: Contract): void {
  contract(
    'least-account-01',
    'an account with the role reader and no other is shown all that is read',
    async ({ as, freshCloud, tenant, server, netA, signal }) => {
      const { username, password } = await tenant.createAccount(['reader']);
      const cloud = freshCloud(as({ username, password }));
      const ports = await cloud.portsOf([server.id], signal());
      const [port] = ports;
      if (!port) throw new Error('the server has no port');
      expect(await cloud.port(port.id, signal())).toMatchObject({ kind: 'found' });
      expect(await cloud.portsWithMac(port.macAddress, signal())).toContainEqual(port);
      const { macAddress } = port;
      expect(await cloud.portRecord(port.id, signal())).toMatchObject({ kind: 'found' });
      expect(await cloud.projectPorts({ macAddress }, signal())).toContainEqual(port);
      expect(await cloud.subnet(netA.subnet4, signal())).toMatchObject({ kind: 'found' });
      expect(await cloud.subnetsByName('sub-a4', signal())).toHaveLength(1);
      expect(await cloud.network(netA.id, signal())).toMatchObject({ kind: 'found' });
      expect([...(await cloud.servers([server.id], signal())).keys()]).toEqual([server.id]);
      const listed = await cloud.projectServers([], Number.POSITIVE_INFINITY, signal());
      expect([...listed.keys()]).toContain(server.id);
      expect(await cloud.server(server.id, signal())).toMatchObject({ kind: 'found' });
      expect(await cloud.serverTags(server.id, signal())).toMatchObject({ kind: 'found' });
      expect(await cloud.wasDeleted(server.id, signal())).toBe(false);
    },
  );
}
