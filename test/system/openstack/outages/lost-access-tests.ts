import { expect } from 'vitest';
import type { ApplicationCredential } from '../../../../rig/openstack/tenant.ts';
import type { Ground } from '../faults/ground.ts';
import { cidrs, generous } from '../fields/place.ts';
import type { Act } from './act.ts';

/** Accounts that are revoked or lose rights while the operator uses them. */
export function lostAccessTests(ground: () => Ground, act: Act): void {
  act(
    'an account that loses its rights keeps its NICs, says why, logs in no more than it must, and goes on when it may again',
    async () => {
      const { place, stranger } = ground();
      const { cloud, tenant } = place.bed;
      const keystone = await place.tap(tenant.keystoneUrl);
      const asCredential = async ({ id, secret }: ApplicationCredential) =>
        ground().cloudsYaml('revoked', {
          auth_url: keystone.url,
          application_credential_id: id,
          application_credential_secret: secret,
        });
      const credential = await tenant.createApplicationCredential();
      const account = await tenant.createAccount(['member']);
      // From a second project: as administrator the account sees servers and ports of all projects, without this role none.
      const administrator = await stranger.createAccount(['admin', 'member']);
      const credentials = {
        revoked: await asCredential(credential),
        'no-role': ground().direct(account),
        'role-less': ground().direct(administrator, stranger),
      };
      const servers = [];
      for (const [name, each] of Object.entries(credentials)) {
        servers.push(await ground().delivered(name, { credentials: each }));
      }
      const before = keystone.proxy.requests.length;
      await ground().unchanged(servers, async () => {
        await credential.revoke();
        await account.revoke('member');
        await administrator.revoke('admin');
        // Services remember a token that was good for five minutes.
        await cloud.stop('neutron-server', 'nova-api');
        await cloud.start();
        await place.untilRefused('revoked', 'KeystoneError', 'it was revoked');
        await ground().failingLooks('revoked', 'KeystoneError', 'it was revoked');
        await place.untilRefused('no-role', 'KeystoneError', 'no role');
        await ground().failingLooks('no-role', 'KeystoneError', 'no role');
        await place.untilRefused('role-less', 'RemovalUnconfirmed');
        await ground().failingLooks('role-less', 'RemovalUnconfirmed');
        expect(keystone.proxy.requests.length - before).toBeLessThanOrEqual(2);
        await account.grant('member');
        await administrator.grant('admin');
        await asCredential(await tenant.createApplicationCredential());
        for (const name of Object.keys(credentials)) {
          const again = async () => {
            await ground().look(name);
            return place.conditionOf(name);
          };
          await expect.poll(again, generous).toMatchObject({ status: 'True' });
        }
      });
      for (const server of servers) await place.attach(server);
      for (const server of servers) await place.untilHolds(server, cidrs.first, cidrs.first);
    },
  );
}
