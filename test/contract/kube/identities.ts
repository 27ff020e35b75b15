import { describe, expect, test } from 'vitest';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import {
  configMaps,
  secrets,
  serviceAccounts,
  tokenRequestsOf,
} from '../../../src/kube/core-resources.ts';
import { isForbidden } from '../../../src/kube/errors.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { defineResource } from '../../../src/kube/resource.ts';
import { lifeOf } from '../../../src/viola/tokens/registered-token.ts';
import { eventually } from './eventually.ts';
import { refusalOf } from './refusal.ts';
import { widgets } from './widget.ts';
import type { KubeFixture } from './world.ts';

export function identitiesContract(world: () => KubeFixture): void {
  describe('identities', () => {
    test('I01 an unknown token is Unauthorized', async () => {
      const { connect, server } = world();
      const { clientCert: _, clientKey: __, ...open } = server.access;
      const client = connect({ ...open, token: () => Promise.resolve('wrong') });
      const error = await refusalOf(client.list(configMaps, { namespace: 'default' }));
      expect(error).toMatchObject({ status: 401, reason: 'Unauthorized' });
    });

    test('I02 an identity without rights is Forbidden, and the message names the identity', async () => {
      const { connect, server } = world();
      const client = connect(await server.accessAs('nobody'));
      const error = await refusalOf(client.list(configMaps, { namespace: 'default' }));
      expect(isForbidden(error)).toBe(true);
      expect(error.reason).toBe('Forbidden');
      expect(error.message).toContain('User "nobody" cannot list resource "configmaps"');
    });

    test('I06 a TokenRequest returns a token for the named account, with the expiration time', async () => {
      const { client, connect, namespace, server, name } = world();
      const inside = await namespace();
      const user = name('renewer');
      const account = { namespace: inside, name: 'mine' };
      await client.apply(serviceAccounts, { metadata: account }, { fieldManager: 'f' });
      const rule = { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] };
      await grant(client, inside, user, [{ ...rule, resourceNames: ['mine'] }]);
      const own = connect(await server.accessAs(user));
      const ask = (called: string, expirationSeconds: number) =>
        own.create(tokenRequestsOf(called), {
          metadata: { ...account, name: called },
          spec: { audiences: [], expirationSeconds },
        });
      const made = await eventually('the right to hold', async () =>
        ask('mine', 7200).catch((error: unknown) => {
          if (isForbidden(error)) return undefined;
          throw error;
        }),
      );
      const { token = '', expirationTimestamp } = made.status ?? {};
      const life = lifeOf(token);
      expect((life?.to ?? 0) - (life?.from ?? 0)).toBe(7_200_000);
      expect(new Date(String(expirationTimestamp)).getTime()).toBe(life?.to);
      const { clientCert: _, clientKey: __, ...open } = server.access;
      const renewed = connect({ ...open, token: () => Promise.resolve(token) });
      const error = await refusalOf(renewed.list(configMaps, { namespace: inside }));
      expect(error.message).toContain(`system:serviceaccount:${inside}:mine`);
      expect(isForbidden(await refusalOf(ask('other', 7200)))).toBe(true);
      expect(await refusalOf(ask('mine', 599))).toMatchObject({ status: 422, reason: 'Invalid' });
    });

    test('I05 a right to create a name allows to apply this name, but no other name and no create', async () => {
      const { client, connect, namespace, server, name } = world();
      const inside = await namespace();
      const user = name('keeper');
      await grant(client, inside, user, [
        {
          apiGroups: [''],
          resources: ['secrets'],
          resourceNames: ['mine'],
          verbs: ['create', 'patch'],
        },
      ]);
      const own = connect(await server.accessAs(user));
      const applied = (called: string) =>
        own.apply(
          secrets,
          { metadata: { namespace: inside, name: called } },
          { fieldManager: 'f' },
        );
      await eventually('the right to hold', async () =>
        applied('mine').catch((error: unknown) => {
          if (isForbidden(error)) return undefined;
          throw error;
        }),
      );
      expect(isForbidden(await refusalOf(applied('other')))).toBe(true);
      await client.delete(secrets, { namespace: inside, name: 'mine' });
      const metadata = { namespace: inside, name: 'mine' };
      expect(isForbidden(await refusalOf(own.create(secrets, { metadata })))).toBe(true);
    });

    test('I03 the client requests the token before every request', async () => {
      const { connect, server } = world();
      const tokens = ['first', 'second'];
      const { clientCert: _, clientKey: __, ...open } = server.access;
      const client = connect({ ...open, token: () => Promise.resolve(tokens.pop() ?? 'none') });
      await refusalOf(client.get(widgets, { namespace: 'default', name: 'one' }));
      await refusalOf(client.get(widgets, { namespace: 'default', name: 'one' }));
      expect(tokens).toEqual([]);
    });

    test('I04 a disposed client ends all watches and refuses calls', async () => {
      const { connect, client } = world();
      const { resourceVersion } = await client.list(widgets);
      const own = connect();
      const events = own.watch(widgets, { resourceVersion })[Symbol.asyncIterator]();
      const ended = expect(events.next()).rejects.toThrow();
      await own.version();
      await own[Symbol.asyncDispose]();
      await ended;
      await expect(own.version()).rejects.toThrow();
    });
  });
}

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true } as const;
const roles = defineResource<KubeObject & { readonly rules?: unknown }>({
  ...rbac,
  plural: 'roles',
  kind: 'Role',
});
const roleBindings = defineResource<
  KubeObject & { readonly roleRef?: unknown; readonly subjects?: unknown }
>({ ...rbac, plural: 'rolebindings', kind: 'RoleBinding' });

/** Grants a user rights in a namespace. */
async function grant(
  client: KubeClient,
  namespace: string,
  user: string,
  rules: readonly object[],
): Promise<void> {
  const metadata = { namespace, name: user };
  const { group: apiGroup } = rbac;
  await client.create(roles, { metadata, rules });
  await client.create(roleBindings, {
    metadata,
    roleRef: { apiGroup, kind: 'Role', name: user },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  });
}
