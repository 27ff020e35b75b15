import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import type { OpenstackConfigSpec } from '../../../../src/api/openstackconfig.ts';
import { sampleOf002 } from '../../../requirements/fields.ts';
import { provider } from './fixture.ts';
import { it } from './in-turn.ts';
import { cidrs, type Machine, type Place } from './place.ts';

/** Identities and endpoints for service calls. */
export function accountTests(place: () => Place): void {
  describe('credentials', () => {
    it('an unknown openstackProviderID, projectID or k8sProviderID sets ContrabassError, KeystoneError or ViolaPostError', async () => {
      const server = await place().boot();
      const spec = { ...place().usual(), vmNames: [server.id] };
      const { credentials } = spec;
      const wrong = async (change: object, reason: string): Promise<void> => {
        await place().bed.apply('provider', {
          ...spec,
          credentials: { ...credentials, ...change },
        });
        await place().untilRefused('provider', reason);
      };
      await wrong({ openstackProviderID: 'nobody' }, 'ContrabassError');
      await wrong({ projectID: '0'.repeat(32) }, 'KeystoneError');
      await wrong({ k8sProviderID: 'elsewhere' }, 'ViolaPostError');
      expect(await place().cidrsOf(server)).toBeUndefined();
      await place().bed.apply('provider', spec);
      await place().untilHolds(server, cidrs.first);
    });

    it('authURL, username, password, domainName, networkEndpoint, computeEndpoint: the sample of document 002', async () => {
      const { keystoneUrl, username, password, domainName, projectId, user } = place().bed.tenant;
      const sample = parse(sampleOf002()) as { readonly spec: OpenstackConfigSpec };
      const { vmNames = [] } = sample.spec;
      const servers: Machine[] = [];
      for (const name of vmNames)
        servers.push(await place().boot([place().first, place().second], { name }));
      const [network, compute] = await Promise.all([
        place().tap(user.url('network')),
        place().tap(user.url('compute')),
      ]);
      await place().bed.apply('openstack-config', {
        ...sample.spec,
        settings: { portBaseline: 'All' },
        credentials: {
          ...sample.spec.credentials,
          authURL: new URL(keystoneUrl).origin,
          networkEndpoint: new URL(network.url).origin,
          computeEndpoint: new URL(compute.url).origin,
          projectID: projectId,
          username,
          password,
          domainName,
        },
      });
      for (const server of servers) await place().untilHolds(server, cidrs.first);
      const paths = [network, compute].map(
        ({ proxy }) => proxy.requests.at(-1)?.path.split('/')[1],
      );
      expect(paths).toEqual(['v2.0', 'v2.1']);
    });

    it('secretRef.name: a clouds.yaml with an application credential', async () => {
      const server = await place().boot();
      const { id, secret } = await place().bed.tenant.createApplicationCredential();
      const auth = {
        auth_url: place().bed.tenant.keystoneUrl,
        application_credential_id: id,
        application_credential_secret: secret,
      };
      await place().keepSecret(
        'clouds',
        'clouds.yaml',
        JSON.stringify({ clouds: { tenant: { auth } } }),
      );
      const credentials = { secretRef: { name: 'clouds' }, k8sProviderID: provider };
      await place().bed.apply('secret-ref', {
        ...place().usual(),
        credentials,
        vmNames: [server.id],
      });
      await place().untilHolds(server, cidrs.first);
    });
  });

  describe('service endpoints and identities', () => {
    it('settings.contrabassEndpoint, contrabassEncryptKey: the OpenstackConfig uses a separate Contrabass with a separate key', async () => {
      const server = await place().boot();
      const own = await place().bed.startContrabass('key-of-24-bytes-for-aes1');
      const settings = {
        contrabassEndpoint: own.contrabassUrl,
        contrabassEncryptKey: own.encryptKey,
      };
      await place().bed.apply('own-contrabass', {
        ...place().usual(),
        vmNames: [server.id],
        settings: { ...place().usual().settings, ...settings },
      });
      await place().untilHolds(server, cidrs.first);
    });

    it('secrets.contrabassEncryptKeySecretRef: the key in the Secret wins over the key in the object', async () => {
      const server = await place().boot();
      const own = await place().bed.startContrabass('key-of-32-bytes-for-aes-256-cbc-');
      await place().keepSecret('contrabass-key', 'key', own.encryptKey);
      await place().bed.apply('secret-key', {
        ...place().usual(),
        vmNames: [server.id],
        secrets: { contrabassEncryptKeySecretRef: { name: 'contrabass-key', key: 'key' } },
        settings: {
          ...place().usual().settings,
          contrabassEndpoint: own.contrabassUrl,
          contrabassEncryptKey: 'not-the-one-of-it',
        },
      });
      await place().untilHolds(server, cidrs.first);
    });

    it('settings.violaEndpoint, openstackNeutronEndpoint, openstackNovaEndpoint: calls go to these endpoints', async () => {
      const server = await place().boot();
      const { user } = place().bed.tenant;
      const taps = await Promise.all(
        [place().bed.violaUrl, user.url('network'), user.url('compute')].map((url) =>
          place().tap(url),
        ),
      );
      const [violaEndpoint, openstackNeutronEndpoint, openstackNovaEndpoint] = taps.map(
        ({ url }) => url,
      );
      const settings = { violaEndpoint, openstackNeutronEndpoint, openstackNovaEndpoint };
      await place().bed.apply('endpoints', {
        ...place().usual(),
        vmNames: [server.id],
        settings: { ...place().usual().settings, ...settings },
      });
      await place().untilHolds(server, cidrs.first);
      for (const { proxy } of taps) expect(proxy.requests.length).toBeGreaterThan(0);
    });

    it('a self-signed certificate is accepted only with contrabassInsecureTLS / openstackInsecureTLS', async () => {
      const server = await place().boot();
      const { contrabass, tenant } = place().bed;
      const settings = {
        contrabassEndpoint: await place().selfSigned(contrabass.contrabassUrl),
        contrabassEncryptKey: contrabass.encryptKey,
        openstackNeutronEndpoint: await place().selfSigned(tenant.user.url('network')),
      };
      const apply = async (more: object): Promise<void> =>
        place().bed.apply('insecure', {
          ...place().usual({ ...settings, ...more }),
          vmNames: [server.id],
        });
      await apply({});
      await place().untilRefused('insecure', 'ContrabassError', 'certificate');
      await apply({ contrabassInsecureTLS: true });
      await place().untilRefused('insecure', 'NeutronPortError', 'certificate');
      await apply({ contrabassInsecureTLS: true, openstackInsecureTLS: true });
      await place().untilHolds(server, cidrs.first);
    });
  });
}
