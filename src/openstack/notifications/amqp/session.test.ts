import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { settled } from '../../../time/fake-clock.ts';
import { encode } from './methods.ts';
import { Session } from './session.ts';

it('nothing is said any more to a peer of which leave was taken', async () => {
  const errors: Error[] = [];
  const socket = new Socket();
  socket.on('error', (error) => errors.push(error)).end();
  new Session(socket, { onMessage: () => undefined, longestMessage: 0 }).tell(0, encode.close());
  await settled();
  expect(errors).toEqual([]);
});
