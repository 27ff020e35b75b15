import { describe, expect, it } from 'vitest';
import { attach, environment, setScene } from '../../testing/scene.ts';

describe('cloud login with an account from Contrabass', () => {
  it("the login has Contrabass' values, unless the operator or the CR overrides them", async () => {
    await using scene = await setScene({
      ...environment,
      OPENSTACK_NOVA_ENDPOINT: 'https://nova.test',
    });
    scene.clouds.provided = {
      keystoneUrl: 'https://keystone.test',
      username: 'admin',
      password: 'p',
      domainName: 'Default',
      neutronUrl: 'https://neutron.test',
      novaUrl: 'https://other.test',
    };
    scene.create({ settings: { openstackEndpointRegion: 'one', openstackTimeout: '3s' } });
    attach(scene.cloud, 1, 1);
    await scene.look();
    expect(scene.clouds.identities[0]).toEqual({
      keystoneUrl: 'https://keystone.test',
      auth: {
        kind: 'password',
        user: { name: 'admin', domain: { name: 'Default' } },
        password: 'p',
        project: { id: 'project-1' },
      },
      interface: 'public',
      region: 'one',
      neutronUrl: 'https://neutron.test',
      novaUrl: 'https://nova.test',
      tls: { insecure: false },
      timeoutMs: 3_000,
    });
  });

  it('no password is sent to a Keystone that the policy denies', async () => {
    const allowed = { ...environment, ALLOWED_ENDPOINTS: 'https://contrabass.example.com' };
    await using scene = await setScene({ ...allowed, CONTRABASS_ENDPOINT: 'http://127.0.0.1' });
    scene.clouds.provided = {
      keystoneUrl: 'http://169.254.169.254',
      username: 'admin',
      password: 'p',
      domainName: 'Default',
    };
    scene.create();
    await scene.look();
    expect(scene.ready()).toBe(
      'False PolicyDenied: Contrabass returns the Keystone URL "http://169.254.169.254", which is a link-local address, and not in the operator\'s ALLOWED_ENDPOINTS',
    );
    expect(scene.clouds.identities).toEqual([]);
  });

  it.each(['neutronUrl', 'novaUrl'] as const)(
    'no token is requested for a denied %s from Contrabass',
    async (field) => {
      await using scene = await setScene();
      scene.clouds.provided = {
        keystoneUrl: 'https://keystone.test',
        username: 'admin',
        password: 'p',
        domainName: 'Default',
        [field]: 'http://169.254.169.254',
      };
      scene.create();
      await scene.look();
      expect(scene.ready()).toContain('False PolicyDenied: Contrabass returns the N');
      expect(scene.clouds.identities).toEqual([]);
    },
  );

  it('a denied endpoint in the catalog is reported as PolicyDenied', async () => {
    const allowed = { ...environment, ALLOWED_ENDPOINTS: 'https://*.example.com' };
    await using scene = await setScene(allowed);
    scene.cloud.fail('subnet', 'denied');
    scene.create();
    await scene.look();
    expect(scene.clouds.identities[0]?.allowedEndpoints).toEqual(['https://*.example.com', '*']);
    expect(scene.ready()).toContain('False PolicyDenied: neutron');
  });

  it('a Contrabass chosen by the CR is limited by the policy, including its catalog', async () => {
    const allowed = { ...environment, ALLOWED_ENDPOINTS: 'https://*.example.com,*' };
    await using scene = await setScene(allowed);
    scene.kube.secrets.set('multinic-system/contrabass-encrypt-key', {
      metadata: { name: 'contrabass-encrypt-key' },
      data: { CONTRABASS_ENCRYPT_KEY: Buffer.from('0123456789abcdef').toString('base64') },
    });
    scene.create({ settings: { contrabassEndpoint: 'https://theirs.org' } });
    await scene.look();
    expect(scene.clouds.identities[0]?.allowedEndpoints).toEqual(['https://*.example.com', '*']);
  });
});
