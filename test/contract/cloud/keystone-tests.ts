import { expect } from 'vitest';
import type { ApplicationCredentialAuth } from '../../../src/openstack/cloud-identity.ts';
import type { Contract } from './contract.ts';

/** Logins, tokens and the catalog. */
export function keystoneTests(contract: Contract): void {
  contract(
    'keystone-01',
    'a password login scoped by project id gives a token and a catalog',
    async ({ parts, signal }) => {
      const session = await parts().keystone.session(signal());
      expect(session.token).not.toBe('');
      const types = session.catalog.map((entry) => entry.type);
      expect(types).toEqual(expect.arrayContaining(['identity', 'network', 'compute', 'image']));
    },
  );

  contract(
    'keystone-02',
    'concurrent reads share one login',
    async ({ freshCloud, netA, signal }) => {
      const cloud = freshCloud();
      await Promise.all([cloud.network(netA.id, signal()), cloud.subnet(netA.subnet4, signal())]);
      expect(cloud.calls).toBe(3);
    },
  );

  contract('keystone-03', 'a token is used again', async ({ freshCloud, netA, netB, signal }) => {
    const cloud = freshCloud();
    await cloud.network(netA.id, signal());
    await cloud.network(netB.id, signal());
    expect(cloud.calls).toBe(3);
  });

  contract(
    'keystone-04',
    'a revoked token is replaced once and the read repeated',
    async ({ parts, tenant, netA, signal }) => {
      const { keystone, neutron } = parts();
      const { token } = await keystone.session(signal());
      // Revoke the token before the first request to Neutron: Neutron's middleware caches valid tokens for minutes.
      const headers = { 'x-subject-token': token };
      await tenant.user.ask('identity', { method: 'DELETE', path: '/auth/tokens', headers });
      expect(await neutron.network(netA.id, signal())).toMatchObject({ kind: 'found' });
      expect((await keystone.session(signal())).token).not.toBe(token);
    },
  );

  contract(
    'keystone-05',
    'a dropped session is replaced by a new login',
    async ({ parts, signal }) => {
      const { keystone } = parts();
      const first = await keystone.session(signal());
      keystone.drop(first);
      const second = await keystone.session(signal());
      expect(second.token).not.toBe(first.token);
      keystone.drop(first);
      expect(await keystone.session(signal())).toBe(second);
    },
  );

  contract(
    'keystone-06',
    'a wrong password is badCredential and is not told',
    async ({ freshCloud, as, netA, signal }) => {
      const cloud = freshCloud(as({ password: 'not-the-password' }));
      const failure: unknown = await cloud
        .network(netA.id, signal())
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ service: 'keystone', kind: 'badCredential', status: 401 });
      expect(String(failure)).not.toContain('not-the-password');
    },
  );

  contract(
    'keystone-07',
    'an unknown user is badCredential',
    async ({ freshCloud, as, netA, signal }) => {
      const cloud = freshCloud(as({ username: 'nobody' }));
      await expect(cloud.network(netA.id, signal())).rejects.toMatchObject({
        kind: 'badCredential',
      });
    },
  );

  contract(
    'keystone-08',
    'an unknown domain is badCredential',
    async ({ freshCloud, as, netA, signal }) => {
      const cloud = freshCloud(as({ domainName: 'nowhere' }));
      await expect(cloud.network(netA.id, signal())).rejects.toMatchObject({
        kind: 'badCredential',
      });
    },
  );

  contract(
    'keystone-09',
    'a project without a role for the user is badCredential',
    async ({ freshCloud, as, stranger, netA, signal }) => {
      const cloud = freshCloud(as({ projectId: stranger.projectId }));
      await expect(cloud.network(netA.id, signal())).rejects.toMatchObject({
        kind: 'badCredential',
      });
    },
  );

  contract(
    'keystone-10',
    'the URL of Keystone may end in /v3 or not, with a slash or not',
    async ({ freshCloud, identity, netA, signal }) => {
      const root = identity.keystoneUrl.replace(/\/v3$/, '');
      for (const keystoneUrl of [root, `${root}/`, `${root}/v3`, `${root}/v3/`]) {
        expect(await freshCloud({ keystoneUrl }).network(netA.id, signal())).toMatchObject({
          kind: 'found',
        });
      }
    },
  );

  contract(
    'keystone-11',
    'the region of the catalog and every interface can be chosen',
    async ({ freshCloud, netA, signal }) => {
      for (const kind of ['public', 'internal', 'admin'] as const) {
        const cloud = freshCloud({ region: 'RegionOne', interface: kind });
        expect(await cloud.network(netA.id, signal())).toMatchObject({ kind: 'found' });
      }
    },
  );

  contract(
    'keystone-12',
    'an unknown region is noEndpoint and names those that exist',
    async ({ freshCloud, netA, signal }) => {
      const cloud = freshCloud({ region: 'RegionTwo' });
      await expect(cloud.network(netA.id, signal())).rejects.toMatchObject({
        kind: 'noEndpoint',
        message: expect.stringContaining('"RegionOne"') as unknown,
      });
    },
  );

  contract(
    'keystone-13',
    'a URL from the configuration wins over the catalog',
    async ({ freshCloud, tenant, netA, server, signal }) => {
      const cloud = freshCloud({
        region: 'RegionTwo',
        neutronUrl: `${tenant.user.url('network')}/v2.0/`,
        novaUrl: tenant.user.url('compute'),
      });
      expect(await cloud.network(netA.id, signal())).toMatchObject({ kind: 'found' });
      expect(await cloud.server(server.id, signal())).toMatchObject({ kind: 'found' });
    },
  );

  contract(
    'keystone-14',
    'a request without a token is 401 with the recorded body',
    async ({ tenant }) => {
      for (const [service, path] of [
        ['network', '/v2.0/ports'],
        ['compute', '/servers/detail'],
      ] as const) {
        const answer = await tenant.user.raw(service, {
          path,
          headers: { 'x-auth-token': 'gAAAAABbad' },
        });
        expect(answer.status).toBe(401);
        expect(answer.body).toEqual({
          error: {
            code: 401,
            title: 'Unauthorized',
            message: 'The request you have made requires authentication.',
          },
        });
      }
    },
  );

  contract('keystone-15', 'a member makes no projects', async ({ tenant }) => {
    const body = { project: { name: 'mine' } };
    const answer = await tenant.user.raw('identity', { method: 'POST', path: '/projects', body });
    expect(answer.status).toBe(403);
  });

  contract(
    'keystone-16',
    'a login without a project shows whether the password is right',
    async ({ tenant }) => {
      const { username, domainName } = tenant;
      for (const [password, status] of [
        [tenant.password, 201],
        ['not-the-password', 401],
      ] as const) {
        const user = { name: username, domain: { name: domainName }, password };
        const identity = { methods: ['password'], password: { user } };
        const body = { auth: { identity, scope: 'unscoped' } };
        const path = '/auth/tokens';
        const answer = await tenant.user.raw('identity', { method: 'POST', path, body });
        expect(answer.status).toBe(status);
      }
    },
  );

  contract(
    'keystone-17',
    'a project without a role is told from a wrong password',
    async ({ freshCloud, as, stranger, netA, signal }) => {
      for (const projectId of [stranger.projectId, '0'.repeat(32)]) {
        await expect(
          freshCloud(as({ projectId })).network(netA.id, signal()),
        ).rejects.toMatchObject({
          message: expect.stringContaining('has no role in project') as unknown,
        });
      }
    },
  );

  contract(
    'keystone-18',
    'users and projects are named by id, or by name in a domain that is named or numbered',
    async ({ freshCloud, as, tenant, cloudUnderTest, netA, signal }) => {
      const { username: name, password, projectId, user } = tenant;
      const { username: projectName } = tenant;
      const domains = [{ id: 'default' }, { name: cloudUnderTest.admin.domainName }];
      const logins = [
        { user: { id: user.userId }, project: { id: projectId } },
        ...domains.map((domain) => ({
          user: { name, domain },
          project: { name: projectName, domain },
        })),
      ];
      for (const login of logins) {
        const cloud = freshCloud({ auth: { kind: 'password', password, ...login } });
        expect(await cloud.network(netA.id, signal())).toMatchObject({ kind: 'found' });
        expect(cloud.projectId).toBe(projectId);
      }
      const gone = { ...as({}).auth, project: { name: 'nowhere', domain: { id: 'default' } } };
      await expect(freshCloud({ auth: gone }).network(netA.id, signal())).rejects.toMatchObject({
        message: expect.stringContaining('has no role in project "nowhere" of domain') as unknown,
      });
    },
  );

  contract(
    'keystone-19',
    'an application credential, by id or by name, reads what is in its project',
    async ({ freshCloud, tenant, cloudUnderTest, netA, server, signal }) => {
      const { id, name, secret } = await tenant.createApplicationCredential();
      const { domainName } = cloudUnderTest.admin;
      const user = { name: tenant.username, domain: { name: domainName } };
      for (const credential of [{ id }, { name, user }]) {
        const auth = { kind: 'applicationCredential', credential, secret } as const;
        const cloud = freshCloud({ auth });
        expect(await cloud.subnetsByName('sub-b4', signal())).toHaveLength(1);
        expect(await cloud.portsOf([server.id], signal())).not.toEqual([]);
        expect(await cloud.server(server.id, signal())).toMatchObject({ kind: 'found' });
        expect(await cloud.network(netA.id, signal())).toMatchObject({ kind: 'found' });
        expect(cloud.projectId).toBe(tenant.projectId);
      }
    },
  );

  contract(
    'keystone-20',
    'an application credential with a wrong secret, of another name, or taken back is badCredential',
    async ({ freshCloud, tenant, netA, signal }) => {
      const made = await tenant.createApplicationCredential();
      const { id, secret } = made;
      const user = { id: tenant.user.userId };
      const login = async (credential: ApplicationCredentialAuth['credential'], given: string) => {
        const auth = { kind: 'applicationCredential', credential, secret: given } as const;
        return freshCloud({ auth }).network(netA.id, signal());
      };
      const refused = { service: 'keystone', kind: 'badCredential' };
      await expect(login({ id }, 'not-the-secret')).rejects.toMatchObject(refused);
      await expect(login({ name: 'nobody', user }, secret)).rejects.toMatchObject(refused);
      await expect(login({ id: '0'.repeat(32) }, secret)).rejects.toMatchObject(refused);
      await expect(login({ id }, secret)).resolves.toMatchObject({ kind: 'found' });
      await made.revoke();
      await expect(login({ id }, secret)).rejects.toMatchObject(refused);
    },
  );
}
