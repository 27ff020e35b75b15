import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubeError } from '../../../kube/errors.ts';
import { attach, environment, type Scene, setScene } from '../../testing/scene.ts';

const { CONTRABASS_ENCRYPT_KEY: _key, ...withoutKey } = environment;
let scene: Scene;

beforeEach(async () => {
  scene = await setScene(withoutKey);
  attach(scene.cloud, 1, 1);
});

afterEach(async () => scene[Symbol.asyncDispose]());

function secret(name: string, key: string, value: string): void {
  const data = { [key]: Buffer.from(`${value}\n`).toString('base64') };
  scene.kube.secrets.set(`multinic-system/${name}`, { metadata: { name }, data });
}

const reference = {
  secrets: { contrabassEncryptKeySecretRef: { name: 'mine', key: 'aes' } },
};

describe('Contrabass’ encrypt key', () => {
  it('the encrypt key in the referenced Secret comes first', async () => {
    secret('mine', 'aes', 'referenced');
    secret('contrabass-encrypt-key', 'CONTRABASS_ENCRYPT_KEY', 'usual');
    scene.create({ ...reference, settings: { contrabassEncryptKey: 'plain' } });
    await scene.look();
    expect(scene.clouds.requests[0]?.encryptKey).toBe('referenced');
  });

  it('the encrypt key comes from Secret contrabass-encrypt-key, else the CR, else the operator', async () => {
    scene.create({ settings: { contrabassEncryptKey: ' plain ' } });
    await scene.look();
    secret('contrabass-encrypt-key', 'CONTRABASS_ENCRYPT_KEY', 'usual');
    await scene.look();
    expect(scene.clouds.requests.map(({ encryptKey }) => encryptKey)).toEqual(['plain', 'usual']);
    await using other = await setScene();
    other.create();
    await other.look();
    expect(other.clouds.requests[0]?.encryptKey).toBe(environment['CONTRABASS_ENCRYPT_KEY']);
  });

  it('a missing encrypt key gives an error with the places to set the key', async () => {
    scene.create();
    await scene.look();
    expect(scene.ready()).toBe(
      'False ConfigError: contrabassEncryptKey is required (create Secret multinic-system/contrabass-encrypt-key with key CONTRABASS_ENCRYPT_KEY, or set spec.secrets.contrabassEncryptKeySecretRef)',
    );
  });

  it.each([
    ['is missing', undefined],
    ['has no such key', 'other'],
    ['is empty', 'aes'],
  ])(
    'a referenced Secret that %s is an error, without fallback to other keys',
    async (_why, key) => {
      if (key) secret('mine', key, '');
      secret('contrabass-encrypt-key', 'CONTRABASS_ENCRYPT_KEY', 'usual');
      scene.create(reference);
      await scene.look();
      expect(scene.ready()).toContain(
        'False ConfigError: spec.secrets.contrabassEncryptKeySecretRef',
      );
      expect(scene.clouds.requests).toEqual([]);
    },
  );

  it('an unreadable Secret is an error without fallback, until the Secret is readable', async () => {
    scene.create({ settings: { contrabassEncryptKey: 'plain' } });
    scene.kube.secretFailure = new KubeError({ status: 403, reason: 'Forbidden', message: 'no' });
    await scene.look();
    expect(scene.ready()).toBe(
      'False ConfigError: Secret multinic-system/contrabass-encrypt-key cannot be read: no; grant the operator read access to Secrets in namespace multinic-system (chart value secretNamespaces, Role multinic-operator-secrets)',
    );
    scene.kube.secretFailure = undefined;
    await scene.look();
    expect(scene.ready()).toBe('True Synced: synced 1 node');
  });
});

describe('the operator’s own encrypt key', () => {
  it.each(['contrabassEndpoint', 'openstackNeutronEndpoint', 'openstackNovaEndpoint'])(
    'the operator’s encrypt key is not used when %s is outside ALLOWED_ENDPOINTS',
    async (field) => {
      await using other = await setScene();
      other.create({ settings: { [field]: 'https://evil.org' } });
      await other.look();
      expect(other.ready()).toContain(`False PolicyDenied: spec.settings.${field}: not in`);
      expect(other.clouds.requests).toEqual([]);
    },
  );

  it("the operator’s encrypt key is used when ALLOWED_ENDPOINTS allows the CR's endpoint", async () => {
    await using other = await setScene({ ...environment, ALLOWED_ENDPOINTS: 'https://*.org' });
    other.create({ settings: { contrabassEndpoint: 'https://good.org' } });
    await other.look();
    expect(other.clouds.requests[0]?.endpoint).toBe('https://good.org');
  });
});
