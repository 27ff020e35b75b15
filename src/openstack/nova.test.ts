import { describe, expect, test } from 'vitest';
import { answerOf } from '../requests/fake-caller.ts';
import { createNova } from './nova.ts';
import { createFakeService } from './requests/fake-service.ts';

const signal = new AbortController().signal;

function wireServer(id: string) {
  return { id, name: `name-${id}`, status: 'ACTIVE', metadata: { role: 'worker' }, addresses: {} };
}

describe('list', () => {
  test('reads page by page, with more time than for one server', async () => {
    const next = 'http://inside/v2.1/servers/detail?limit=2&marker=b';
    const { client, caller } = createFakeService('nova', (_, index) =>
      index === 0
        ? answerOf(200, {
            servers: [wireServer('a'), wireServer('b')],
            servers_links: [{ rel: 'next', href: next }],
          })
        : answerOf(200, { servers: [wireServer('c')] }),
    );
    const servers = await createNova(client, { timeoutMs: 1_000, pageSize: 2 }).list(signal);
    expect([...servers.keys()]).toEqual(['a', 'b', 'c']);
    expect(servers.get('a')).toEqual({
      id: 'a',
      name: 'name-a',
      status: 'ACTIVE',
      metadata: { role: 'worker' },
    });
    expect(caller.sent.map((call) => call.url.search)).toEqual(['?limit=2', '?limit=2&marker=b']);
    expect(caller.sent[0]?.timeoutMs).toBe(3_000);
  });

  test('starts again when the marker was deleted, which Nova calls a bad request', async () => {
    const links = [{ rel: 'next', href: '?marker=a' }];
    const script = [
      answerOf(200, { servers: [wireServer('a')], servers_links: links }),
      answerOf(400, { badRequest: { code: 400, message: 'marker [a] not found' } }),
      answerOf(200, { servers: [wireServer('b')] }),
    ];
    const { client } = createFakeService('nova', (_, index) => script[index] ?? answerOf(500, {}));
    const servers = await createNova(client, { timeoutMs: 1_000 }).list(signal);
    expect([...servers.keys()]).toEqual(['b']);
  });
});

describe('interfaces', () => {
  test('are port ids and MACs in lower case', async () => {
    const { client } = createFakeService('nova', () =>
      answerOf(200, {
        interfaceAttachments: [{ port_id: 'p', mac_addr: 'FA:16:3E:00:00:01', net_id: 'n' }],
      }),
    );
    expect(await createNova(client, { timeoutMs: 1_000 }).interfaces('s', signal)).toEqual({
      kind: 'found',
      value: [{ portId: 'p', macAddress: 'fa:16:3e:00:00:01' }],
    });
  });

  test('without a list are an error, because a removal could rest on it', async () => {
    const { client } = createFakeService('nova', () => answerOf(200, {}));
    const nova = createNova(client, { timeoutMs: 1_000 });
    await expect(nova.interfaces('s', signal)).rejects.toMatchObject({ kind: 'badAnswer' });
  });
});
