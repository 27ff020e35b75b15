import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A way to a server on which can be seen what goes over which connection. */
export interface TappedConnections extends AsyncDisposable {
  readonly url: string;
  /** The paths that were asked for, by connection. */
  readonly paths: readonly (readonly string[])[];
}

/** A body ends without a line break, so that the next request may begin behind it. */
const requestLine = /(?:GET|POST|PUT|PATCH|DELETE) (\S+) HTTP\/1\.1\r\n/g;

/** Passes connections on to a plain HTTP server. */
export async function tapConnections(target: string): Promise<TappedConnections> {
  const { hostname, port } = new URL(target);
  const heard: string[] = [];
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const place = heard.push('') - 1;
    near.on('data', (bytes: Buffer) => (heard[place] += bytes.toString('latin1')));
    near.pipe(far).pipe(near);
    // Either end may go without a word; the other one then goes as well.
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    get paths() {
      return heard.map((text) => [...text.matchAll(requestLine)].map(([, path = '']) => path));
    },
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}
