import { describe, expect, it } from 'vitest';
import type { Secret } from '../../kube/core-resources.ts';
import { readRegistration } from './secret.ts';

function secret(data: Readonly<Record<string, string>>): Secret {
  const encoded = Object.entries(data).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  return {
    metadata: { name: 'biz', labels: { 'multinic.io/provider-id': 'biz-1' } },
    data: Object.fromEntries(encoded) as Record<string, string>,
  };
}

function kubeconfig(user: object): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster: { server: 'https://biz.example:6443' } }],
    users: [{ name: 'u', user }],
  });
}

describe('readRegistration', () => {
  it('readRegistration accepts a Secret with a kubeconfig', async () => {
    const registration = await readRegistration(secret({ kubeconfig: kubeconfig({ token: 't' }) }));
    expect(registration).toMatchObject({
      providerId: 'biz-1',
      namespace: 'multinic-system',
      access: { server: 'https://biz.example:6443' },
    });
  });

  it('readRegistration accepts server, token, CA and namespace', async () => {
    const data = {
      server: 'https://biz.example:6443',
      token: 't',
      'ca.crt': 'PEM',
      namespace: 'nics',
    };
    const { access, namespace } = await readRegistration(secret(data));
    expect(access).toMatchObject({ server: data.server, ca: 'PEM' });
    expect(await access.token?.()).toBe('t');
    expect(namespace).toBe('nics');
  });

  it('readRegistration trims trailing line breaks from values created from files', async () => {
    const data = { server: 'https://biz.example:6443\n', token: 't\n', namespace: 'nics\r\n' };
    const { access, namespace } = await readRegistration(secret(data));
    expect([access.server, await access.token?.(), namespace]).toEqual([
      'https://biz.example:6443',
      't',
      'nics',
    ]);
  });

  it('readRegistration accepts plain HTTP to loopback', async () => {
    const data = { server: 'http://127.0.0.1:8080', token: 't' };
    expect((await readRegistration(secret(data))).access.server).toBe(data.server);
  });

  it.each([
    ['an empty Secret', {}, 'has neither kubeconfig nor server and token'],
    ['a blank token', { server: 'https://biz.example', token: '\n' }, 'token: '],
    ['no token', { server: 'https://biz.example' }, 'has neither kubeconfig nor server and token'],
    ['an invalid server URL', { server: 'biz', token: 's3cret' }, 'server: '],
    [
      'a token over plain HTTP',
      { server: 'http://biz.example:8080', token: 's3cret' },
      'server: http://biz.example would send the token',
    ],
    [
      'a kubeconfig with a token over plain HTTP',
      {
        kubeconfig: kubeconfig({ token: 's3cret' }).replace(
          'https://biz.example',
          'http://biz.example',
        ),
      },
      'server: http://biz.example would send the token',
    ],
    [
      'an invalid namespace',
      { kubeconfig: 'x', namespace: 'A B' },
      'namespace: is not a namespace name',
    ],
    ['a kubeconfig with invalid YAML', { kubeconfig: 'a: [s3cret' }, 'kubeconfig'],
    ['an exec plugin', { kubeconfig: kubeconfig({ exec: { command: 's3cret' } }) }, 'exec'],
    ['local file paths', { kubeconfig: kubeconfig({ tokenFile: '/etc/shadow' }) }, 'tokenFile'],
  ])(
    'readRegistration refuses %s, naming the key without its value',
    async (_what, data, message) => {
      const reading = readRegistration(secret(data));
      await expect(reading).rejects.toThrow(message.replace('tokenFile', '/etc/shadow'));
      await expect(reading).rejects.not.toThrow('s3cret');
    },
  );
});
