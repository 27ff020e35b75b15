import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { HttpServer } from './app.ts';
import { createHttpServer } from './server.ts';

const clock = createFakeClock(new Date());
const sockets: Socket[] = [];
let app: HttpServer;

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await app.close();
});

async function serve(work: () => Promise<string>): Promise<void> {
  const log = createLogger({ part: 'test', level: 'silent' });
  const health = createHealth();
  app = await createHttpServer({
    title: 'test',
    clock,
    log,
    health,
    about,
    registry: new Registry(),
  });
  app.post('/work', work);
  await app.listen({ host: '127.0.0.1', port: 0 });
}

/** Opens a connection and sends `text`. */
async function send(text: string): Promise<Socket> {
  const { port } = app.server.address() as { port: number };
  const connected = once(app.server, 'connection');
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  sockets.push(socket);
  await connected;
  if (text !== '') socket.write(text);
  return socket;
}

const head = 'POST /work HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';

describe('closing server', () => {
  it.each([
    ['sent nothing', ''],
    ['sent half a head', 'POST / HT'],
    ['sent half a body', `${head}Content-Length: 50\r\n\r\n[`],
  ])('a closing server drops callers after 2 s if they %s', async (_, text) => {
    await serve(async () => 'done');
    await send(text);
    const closed = app.close();
    await clock.advance(1_999);
    expect(sockets[0]?.destroyed).toBe(false);
    await clock.advance(1);
    await closed;
  });

  it('a closing server first sends responses for requests in work', async () => {
    const work = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    await serve(() => {
      begun.resolve();
      return work.promise;
    });
    await send('');
    const socket = await send(`${head}Content-Length: 2\r\n\r\n[]`);
    await begun.promise;
    let answer = '';
    socket.on('data', (text) => {
      answer += String(text);
    });
    const closed = app.close();
    await clock.advance(10_000);
    work.resolve('done');
    await closed;
    await expect.poll(() => answer).toContain('done');
  });
});
