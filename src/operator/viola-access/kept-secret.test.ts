import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessFixture } from '../../../test/fixtures/access.ts';
import { SecretError } from '../../certificates/owned-secret.ts';
import { type Secret, secrets } from '../../kube/core-resources.ts';
import { createPerform } from '../../process/effects.ts';
import { createAccessSecrets, kept } from './kept-secret.ts';

let bed: AccessFixture;

beforeAll(async () => {
  bed = await AccessFixture.start();
});
afterAll(async () => bed[Symbol.asyncDispose]());
beforeEach(async () => bed.empty());

const content = { data: { token: 'a' }, annotations: { 'multinic.io/token-since': 'now' } };
const managedBy = 'app.kubernetes.io/managed-by';

/** Reads and writes as a leader. */
function io() {
  const { client, namespace } = bed;
  return createAccessSecrets({ client, namespace, perform: createPerform(() => undefined) });
}

async function theirs(change: Partial<Secret> = {}): Promise<void> {
  const metadata = { namespace: bed.namespace, name: kept.token.name };
  const object = {
    data: { token: 'dGhlaXJz' },
    ...change,
    metadata: { ...metadata, ...change.metadata },
  };
  await bed.client.create(secrets, object, { fieldManager: 'kubectl-create' });
}

describe('a Secret that is kept', () => {
  it('is labelled as ours and read as it was written', async () => {
    const own = io();
    const none = await own.read(kept.token, bed.signal);
    expect(none).toEqual({ fence: undefined, data: {}, annotations: {} });
    const written = await own.write(kept.token, none, content, bed.signal);
    expect(await own.read(kept.token, bed.signal)).toEqual(written);
    expect(written).toMatchObject(content);
    expect((await bed.secret(kept.token.name))?.metadata.labels).toEqual({
      'app.kubernetes.io/name': 'multinic-operator',
      'app.kubernetes.io/component': 'operator',
      'app.kubernetes.io/part-of': 'multinic',
      [managedBy]: 'multinic-operator',
    });
  });

  it('is not written onto what somebody wrote, deleted or made meanwhile', async () => {
    const own = io();
    const none = await own.read(kept.token, bed.signal);
    const first = await own.write(kept.token, none, content, bed.signal);
    const refused = [none, first];
    await bed.edit(kept.token.name, { token: 'b' });
    for (const held of refused) {
      const error = await own.write(kept.token, held, content, bed.signal).catch(String);
      expect(error).toMatch(/SecretTrouble/);
    }
    await bed.delete(kept.token.name);
    await expect(own.write(kept.token, first, content, bed.signal)).rejects.toMatchObject({
      isRace: true,
    });
    expect(await bed.secret(kept.token.name)).toBeUndefined();
  });

  it('takes its own keys back from whoever edited them, and leaves others alone', async () => {
    const own = io();
    await own.write(kept.token, await own.read(kept.token, bed.signal), content, bed.signal);
    await bed.edit(kept.token.name, { token: 'b', more: 'c' });
    await own.write(kept.token, await own.read(kept.token, bed.signal), content, bed.signal);
    expect(await bed.data(kept.token.name)).toEqual({ token: 'a', more: 'c' });
  });

  it.each([
    ['without a sign of us', {}],
    ['that Helm made', { metadata: { name: 'x', labels: { [managedBy]: 'Helm' } } }],
  ])('is left alone when it is somebody else’s, %s', async (_, { metadata }: Partial<Secret>) => {
    await theirs({ metadata: { ...metadata, name: kept.token.name, namespace: bed.namespace } });
    await expect(io().read(kept.token, bed.signal)).rejects.toThrow(
      'the Secret multinic-operator-viola-token was not made by the operator and is left alone; delete it, or label it app.kubernetes.io/managed-by=multinic-operator',
    );
    expect(await bed.data(kept.token.name)).toEqual({ token: 'theirs' });
  });

  it('is ours after a restore of a backup, which keeps labels and no managers', async () => {
    const labels = { [managedBy]: 'multinic-operator' };
    await theirs({ metadata: { name: kept.token.name, namespace: bed.namespace, labels } });
    expect(await io().read(kept.token, bed.signal)).toMatchObject({ data: { token: 'theirs' } });
  });

  it('is ours after somebody took its labels', async () => {
    const own = io();
    await own.write(kept.token, await own.read(kept.token, bed.signal), content, bed.signal);
    const ref = { namespace: bed.namespace, name: kept.token.name };
    await bed.client.patch(secrets, ref, { metadata: { labels: null } });
    const held = await own.read(kept.token, bed.signal);
    const written = await own.write(kept.token, held, content, bed.signal);
    expect(written.data).toEqual(content.data);
    expect((await bed.secret(kept.token.name))?.metadata.labels).toHaveProperty([managedBy]);
  });

  it('says what to do when it has another type, which no write can change', async () => {
    const labels = { [managedBy]: 'multinic-operator' };
    const metadata = { name: kept.certificate.name, namespace: bed.namespace, labels };
    await bed.client.create(secrets, { metadata, data: {} });
    await expect(io().read(kept.certificate, bed.signal)).rejects.toThrow(
      'has the type Opaque, which cannot be changed to kubernetes.io/tls; delete it and it is made anew',
    );
  });

  it('names itself when the API server refuses, and throws what ended the work', async () => {
    const own = io();
    bed.api.faults.answer({ verb: 'get', resource: 'secrets', status: 403, reason: 'Forbidden' });
    const error = await own.read(kept.grants, bed.signal).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SecretError);
    expect(error).toMatchObject({ about: 'viola-api-tokens', isRace: false });
    const ended = AbortSignal.abort(new Error('the lease is lost'));
    await expect(own.read(kept.grants, ended)).rejects.toThrow('the lease is lost');
  });
});
