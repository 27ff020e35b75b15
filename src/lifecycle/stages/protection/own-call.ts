import { connect } from 'node:tls';

export interface OwnCall {
  /** Listen address; a wildcard address is called by loopback. */
  readonly host: string;
  readonly port: number;
  /** PEM bundle for verifying the server. */
  readonly ca: string;
  readonly serverName: string;
}

const request = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
const everywhere: ReadonlySet<string> = new Set(['', '0.0.0.0', '::']);

/** Returns true if the server answers within `ms`, verified as the API server does. */
export async function answersOwnCall(call: OwnCall, ms = 3_000): Promise<boolean> {
  const { port, ca, serverName: servername } = call;
  const host = everywhere.has(call.host) ? 'localhost' : call.host;
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ host, port, ca, servername });
    const end = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(ms, () => end(false));
    socket.on('error', () => end(false));
    socket.on('secureConnect', () => socket.write(request));
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
    });
    socket.on('close', () => end(answer.startsWith('HTTP/1.1 200 ')));
  });
}
