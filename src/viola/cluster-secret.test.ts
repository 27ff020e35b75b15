import { describe, expect, it } from 'vitest';
import type { Secret } from '../kube/core-resources.ts';
import { readRegistration } from './cluster-secret.ts';

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

describe('the Secret that registers a business cluster', () => {
  it('holds a kubeconfig', async () => {
    const registration = await readRegistration(secret({ kubeconfig: kubeconfig({ token: 't' }) }));
    expect(registration).toMatchObject({
      providerId: 'biz-1',
      namespace: 'multinic-system',
      access: { server: 'https://biz.example:6443' },
    });
  });

  it('or server, token, CA and a namespace of its own', async () => {
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

  it('may have been made of files, whose last line ends', async () => {
    const data = { server: 'https://biz.example:6443\n', token: 't\n', namespace: 'nics\r\n' };
    const { access, namespace } = await readRegistration(secret(data));
    expect([access.server, await access.token?.(), namespace]).toEqual([
      'https://biz.example:6443',
      't',
      'nics',
    ]);
  });

  it('may name plain HTTP to this machine itself', async () => {
    const data = { server: 'http://127.0.0.1:8080', token: 't' };
    expect((await readRegistration(secret(data))).access.server).toBe(data.server);
  });

  it.each([
    ['nothing', {}, 'has neither kubeconfig nor server and token'],
    ['a blank token', { server: 'https://biz.example', token: '\n' }, 'token: '],
    ['no token', { server: 'https://biz.example' }, 'has neither kubeconfig nor server and token'],
    ['a server that is no URL', { server: 'biz', token: 's3cret' }, 'server: '],
    [
      'a token that anybody on the way can read',
      { server: 'http://biz.example:8080', token: 's3cret' },
      'server: http://biz.example would show the token',
    ],
    [
      'a kubeconfig with such a token',
      {
        kubeconfig: kubeconfig({ token: 's3cret' }).replace(
          'https://biz.example',
          'http://biz.example',
        ),
      },
      'server: http://biz.example would show the token',
    ],
    [
      'a namespace that is none',
      { kubeconfig: 'x', namespace: 'A B' },
      'namespace: is not the name',
    ],
    ['a kubeconfig that is no YAML', { kubeconfig: 'a: [s3cret' }, 'kubeconfig'],
    ['a program to run', { kubeconfig: kubeconfig({ exec: { command: 's3cret' } }) }, 'exec'],
    [
      'files of this machine',
      { kubeconfig: kubeconfig({ tokenFile: '/etc/shadow' }) },
      'tokenFile',
    ],
  ])('with %s is refused, by key and without its value', async (_what, data, message) => {
    const reading = readRegistration(secret(data));
    await expect(reading).rejects.toThrow(message.replace('tokenFile', '/etc/shadow'));
    await expect(reading).rejects.not.toThrow('s3cret');
  });
});
