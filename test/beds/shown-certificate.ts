import { connect } from 'node:tls';
import { certificateLookMs } from '../../src/http/certificate.ts';
import { type Clock, systemClock } from '../../src/time/clock.ts';
import { violaCa } from './certificates.ts';

/** Name in the certificate that a server on this machine shows to a new connection. */
export async function shownCertificate(port: number): Promise<string | string[] | undefined> {
  const socket = connect({ port, host: '127.0.0.1', ca: violaCa });
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return subject.CN;
}

/**
 * The clock of the machine, but for the wait until certificates are looked at again. Not for answers: their limit is as
 * long.
 */
export const lookingOften: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === certificateLookMs ? 20 : ms, signal),
};
