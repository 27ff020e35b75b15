import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessFixture } from '../../../../test/fixtures/access.ts';
import { SecretError } from '../../../certificates/owned-secret.ts';
import { type Secret, secrets } from '../../../kube/core-resources.ts';
import { createPerform } from '../../../process/effects.ts';
import { createAccessSecrets, managedSecrets } from './access-secrets.ts';

let fixture: AccessFixture;

beforeAll(async () => {
  fixture = await AccessFixture.start();
});
afterAll(async () => fixture[Symbol.asyncDispose]());
beforeEach(async () => fixture.empty());

const content = { data: { token: 'a' }, annotations: { 'multinic.io/token-since': 'now' } };
const managedBy = 'app.kubernetes.io/managed-by';

/** Returns a leader's access to the Secrets. */
function io() {
  const { client, namespace } = fixture;
  return createAccessSecrets({ client, namespace, perform: createPerform(() => undefined) });
}

async function createForeign(change: Partial<Secret> = {}): Promise<void> {
  const metadata = { namespace: fixture.namespace, name: managedSecrets.token.name };
  const object = {
    data: { token: 'dGhlaXJz' },
    ...change,
    metadata: { ...metadata, ...change.metadata },
  };
  await fixture.client.create(secrets, object, { fieldManager: 'kubectl-create' });
}

describe('managed Secret', () => {
  it('a managed Secret carries our labels and is read as written', async () => {
    const own = io();
    const none = await own.read(managedSecrets.token, fixture.signal);
    expect(none).toEqual({ fence: undefined, data: {}, annotations: {} });
    const written = await own.write(managedSecrets.token, none, content, fixture.signal);
    expect(await own.read(managedSecrets.token, fixture.signal)).toEqual(written);
    expect(written).toMatchObject(content);
    expect((await fixture.secret(managedSecrets.token.name))?.metadata.labels).toEqual({
      'app.kubernetes.io/name': 'multinic-operator',
      'app.kubernetes.io/component': 'operator',
      'app.kubernetes.io/part-of': 'multinic',
      [managedBy]: 'multinic-operator',
    });
  });

  it('a write fails when the Secret was written, deleted or created since its read', async () => {
    const own = io();
    const none = await own.read(managedSecrets.token, fixture.signal);
    const first = await own.write(managedSecrets.token, none, content, fixture.signal);
    const refused = [none, first];
    await fixture.edit(managedSecrets.token.name, { token: 'b' });
    for (const stale of refused) {
      const error = await own
        .write(managedSecrets.token, stale, content, fixture.signal)
        .catch(String);
      expect(error).toMatch(/SecretTrouble/);
    }
    await fixture.delete(managedSecrets.token.name);
    await expect(
      own.write(managedSecrets.token, first, content, fixture.signal),
    ).rejects.toMatchObject({
      isRace: true,
    });
    expect(await fixture.secret(managedSecrets.token.name)).toBeUndefined();
  });

  it('a write restores edited keys of ours and leaves foreign keys unchanged', async () => {
    const own = io();
    await own.write(
      managedSecrets.token,
      await own.read(managedSecrets.token, fixture.signal),
      content,
      fixture.signal,
    );
    await fixture.edit(managedSecrets.token.name, { token: 'b', more: 'c' });
    await own.write(
      managedSecrets.token,
      await own.read(managedSecrets.token, fixture.signal),
      content,
      fixture.signal,
    );
    expect(await fixture.data(managedSecrets.token.name)).toEqual({ token: 'a', more: 'c' });
  });

  it.each([
    ['without our labels or field managers', {}],
    ['managed by Helm', { metadata: { name: 'x', labels: { [managedBy]: 'Helm' } } }],
  ])('a foreign Secret stays unchanged: %s', async (_, { metadata }: Partial<Secret>) => {
    await createForeign({
      metadata: { ...metadata, name: managedSecrets.token.name, namespace: fixture.namespace },
    });
    await expect(io().read(managedSecrets.token, fixture.signal)).rejects.toThrow(
      'Secret multinic-operator-viola-token was not created by the operator and stays unchanged; delete it, or hand it over by its label app.kubernetes.io/managed-by=multinic-operator',
    );
    expect(await fixture.data(managedSecrets.token.name)).toEqual({ token: 'theirs' });
  });

  it('a Secret restored from a backup is ours by its label, without field managers', async () => {
    const labels = { [managedBy]: 'multinic-operator' };
    await createForeign({
      metadata: { name: managedSecrets.token.name, namespace: fixture.namespace, labels },
    });
    expect(await io().read(managedSecrets.token, fixture.signal)).toMatchObject({
      data: { token: 'theirs' },
    });
  });

  it('a Secret stays ours after a user removed its labels', async () => {
    const own = io();
    await own.write(
      managedSecrets.token,
      await own.read(managedSecrets.token, fixture.signal),
      content,
      fixture.signal,
    );
    const ref = { namespace: fixture.namespace, name: managedSecrets.token.name };
    await fixture.client.patch(secrets, ref, { metadata: { labels: null } });
    const read = await own.read(managedSecrets.token, fixture.signal);
    const written = await own.write(managedSecrets.token, read, content, fixture.signal);
    expect(written.data).toEqual(content.data);
    expect((await fixture.secret(managedSecrets.token.name))?.metadata.labels).toHaveProperty([
      managedBy,
    ]);
  });

  it('a Secret of another type gives an error with the next step', async () => {
    const labels = { [managedBy]: 'multinic-operator' };
    const metadata = {
      name: managedSecrets.certificate.name,
      namespace: fixture.namespace,
      labels,
    };
    await fixture.client.create(secrets, { metadata, data: {} });
    await expect(io().read(managedSecrets.certificate, fixture.signal)).rejects.toThrow(
      'has type Opaque, which cannot be changed to kubernetes.io/tls; delete it, and the operator creates it again',
    );
  });

  it('an API error names the Secret, and an abort throws its own reason', async () => {
    const own = io();
    fixture.api.faults.answer({
      verb: 'get',
      resource: 'secrets',
      status: 403,
      reason: 'Forbidden',
    });
    const error = await own
      .read(managedSecrets.grants, fixture.signal)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SecretError);
    expect(error).toMatchObject({ about: 'viola-api-tokens', isRace: false });
    const ended = AbortSignal.abort(new Error('the lease is lost'));
    await expect(own.read(managedSecrets.grants, ended)).rejects.toThrow('the lease is lost');
  });
});
