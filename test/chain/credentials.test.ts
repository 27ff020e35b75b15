import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { namespaces } from '../../src/api/names.ts';
import { secrets } from '../../src/kube/core-resources.ts';
import { applyConfig, attach, detach, type Edit } from '../fixtures/chain/acts.ts';
import { expectHealthy } from '../fixtures/chain/multinic.ts';
import {
  generous,
  nodeConfigOf,
  untilConfigIsReady,
  untilConfigured,
} from '../fixtures/chain/waits.ts';
import { openWorld, type Worker, type World } from '../fixtures/chain/world.ts';

let world: World;
let worker: Worker;

beforeAll(async () => {
  world = await openWorld(['worker-1']);
  [worker] = world.workers as [Worker];
  await applyConfig(world, worker);
  await attach(world, worker);
  await untilConfigured(world, worker, 'multinic0');
});

afterAll(() => world?.[Symbol.asyncDispose]());

const ref = { name: 'clouds', namespace: namespaces.system };

/** Stores a clouds.yaml with this account in the Secret. */
async function keep(auth: Readonly<Record<string, string>>): Promise<void> {
  const { client } = world.management;
  const text = stringify({ clouds: { tenant: { auth } } });
  const data = { 'clouds.yaml': Buffer.from(text).toString('base64') };
  await client.apply(secrets, { metadata: ref, data }, { fieldManager: 'people', force: true });
}

type Credentials = NonNullable<Edit['credentials']>;

const forms: Readonly<Record<string, () => Promise<Credentials>>> = {
  'in the CR': async () => {
    const { keystoneUrl, username, password, domainName } = world.tenant;
    const authURL = keystoneUrl.replace(/\/v3$/, '');
    return { openstackProviderID: undefined, authURL, username, password, domainName };
  },
  'in a clouds.yaml': async () => {
    const { keystoneUrl, username, password, projectId } = world.tenant;
    await keep({ auth_url: keystoneUrl, username, password, project_id: projectId });
    return { openstackProviderID: undefined, projectID: undefined, secretRef: { name: ref.name } };
  },
  'in a clouds.yaml as an application credential': async () => {
    const { id, secret } = await world.tenant.createApplicationCredential();
    const auth = { application_credential_id: id, application_credential_secret: secret };
    await keep({ auth_url: world.tenant.keystoneUrl, ...auth });
    return { openstackProviderID: undefined, projectID: undefined, secretRef: { name: ref.name } };
  },
};

describe.each(Object.entries(forms))('OpenStack credentials as %s', (_form, credentialsOf) => {
  it('changed OpenStack credentials keep existing NICs, and ports still attach and detach', async () => {
    await applyConfig(world, worker, { credentials: await credentialsOf() });
    await untilConfigIsReady(world, worker);
    await untilConfigured(world, worker, 'multinic0');
    const { port_id: portId } = await attach(world, worker);
    await untilConfigured(world, worker, 'multinic0', 'multinic1');
    await detach(world, worker, portId);
    await vi.waitFor(
      () => expect(nodeConfigOf(world, worker)?.spec.interfaces).toHaveLength(1),
      generous,
    );
    await untilConfigured(world, worker, 'multinic0');
    await untilConfigIsReady(world, worker);
    await expectHealthy(world);
  });
});
