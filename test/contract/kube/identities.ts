import { describe, expect, test } from 'vitest';
import { configMaps } from '../../../src/kube/core-resources.ts';
import { isForbidden } from '../../../src/kube/errors.ts';
import { refusalOf } from './refusal.ts';
import { widgets } from './widget.ts';
import type { World } from './world.ts';

export function identitiesContract(world: () => World): void {
  describe('identities', () => {
    test('I01 a token that nobody gave out is Unauthorized', async () => {
      const { connect, server } = world();
      const { clientCert: _, clientKey: __, ...open } = server.access;
      const client = connect({ ...open, token: () => Promise.resolve('wrong') });
      const error = await refusalOf(client.list(configMaps, { namespace: 'default' }));
      expect(error).toMatchObject({ status: 401, reason: 'Unauthorized' });
    });

    test('I02 an identity that nothing was granted to is Forbidden, and the message names it', async () => {
      const { connect, server } = world();
      const client = connect(await server.accessAs('nobody'));
      const error = await refusalOf(client.list(configMaps, { namespace: 'default' }));
      expect(isForbidden(error)).toBe(true);
      expect(error.reason).toBe('Forbidden');
      expect(error.message).toContain('User "nobody" cannot list resource "configmaps"');
    });

    test('I03 the token is asked for before every request', async () => {
      const { connect, server } = world();
      const tokens = ['first', 'second'];
      const { clientCert: _, clientKey: __, ...open } = server.access;
      const client = connect({ ...open, token: () => Promise.resolve(tokens.pop() ?? 'none') });
      await refusalOf(client.get(widgets, { namespace: 'default', name: 'one' }));
      await refusalOf(client.get(widgets, { namespace: 'default', name: 'one' }));
      expect(tokens).toEqual([]);
    });

    test('I04 a client that was disposed of ends its watches and takes no calls', async () => {
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
