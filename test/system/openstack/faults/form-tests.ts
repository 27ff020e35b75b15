import { describe, it } from 'vitest';
import type { OpenstackConfigSpec } from '../../../../src/api/openstackconfig.ts';
import { rotated } from '../../../rotation.ts';
import { cidrs } from '../fields/place.ts';
import type { Ground } from './ground.ts';

type Credentials = OpenstackConfigSpec['credentials'];

const forms: Readonly<Record<string, (ground: Ground) => Promise<Credentials>>> = {
  provider: async ({ place }) => place.usual().credentials,
  direct: async (ground) => {
    // The sample in document 002 names no business cluster.
    const { k8sProviderID: _, ...credentials } = { ...ground.direct(ground.place.bed.tenant) };
    return credentials;
  },
  'clouds-password': async (ground) => {
    const { keystoneUrl, username, password, domainName, projectId } = ground.place.bed.tenant;
    const account = { username, password, user_domain_name: domainName, project_id: projectId };
    return ground.cloudsYaml('clouds-password', { auth_url: keystoneUrl, ...account });
  },
  'clouds-credential': async (ground) => {
    const { tenant } = ground.place.bed;
    const { id, secret } = await tenant.createApplicationCredential();
    return ground.cloudsYaml('clouds-credential', {
      auth_url: tenant.keystoneUrl,
      application_credential_id: id,
      application_credential_secret: secret,
    });
  },
};

/** Every form of credentials, for the whole life of a NIC. */
export function formTests(ground: () => Ground): void {
  describe('credentials: a NIC comes and goes', () => {
    it.each(rotated('forms of credentials', Object.entries(forms), 2, ([form]) => form))(
      '%s',
      async (form, credentialsOf) => {
        const { place } = ground();
        const { bed } = place;
        const server = await ground().delivered(form, {
          credentials: await credentialsOf(ground()),
        });
        const port = await place.attach(server);
        await place.untilHolds(server, cidrs.first, cidrs.first);
        await bed.tenant.detach(server.id, port.id);
        await place.untilHolds(server, cidrs.first);
        await bed.tenant.detach(server.id, server.ports[0]?.id ?? '');
        await place.untilHolds(server);
        await place.untilReady(form);
      },
    );
  });
}
