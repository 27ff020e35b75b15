import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Places that the fake kubectl connects to. */
export interface KubectlTargets {
  /** API server behind `kubectl proxy`, by context; empty: the current context. */
  readonly servers: Readonly<Record<string, { readonly url: string; readonly token: string }>>;
  /** Port behind `kubectl port-forward`. */
  readonly operatorPort: number;
  /** Error of port-forward; undefined: none. */
  readonly forwardError?: string;
}

/** Writes a kubectl that serves `proxy` and `port-forward`; returns its path. */
export async function writeFakeKubectl(folder: string, targets: KubectlTargets): Promise<string> {
  const path = join(folder, 'kubectl');
  await writeFile(path, `#!${process.execPath}\n${source(targets)}`);
  await chmod(path, 0o700);
  return path;
}

function source(targets: KubectlTargets): string {
  return `
const http = require('node:http');
const targets = ${JSON.stringify(targets)};
const argv = process.argv.slice(2);
const at = argv.indexOf('--context');
const context = at === -1 ? '' : argv[at + 1];
const server = targets.servers[context];
if (!server) {
  console.error('error: context "' + context + '" does not exist');
  process.exit(1);
}
if (argv.includes('port-forward')) {
  if (targets.forwardError) {
    console.error(targets.forwardError);
    process.exit(1);
  }
  console.log('Forwarding from 127.0.0.1:' + targets.operatorPort + ' -> 18081');
  setInterval(() => {}, 1000);
} else {
  const socket = argv.find((word) => word.startsWith('--unix-socket=')).slice(14);
  const url = new URL(server.url);
  const proxy = http.createServer((incoming, answer) => {
    const headers = { ...incoming.headers, host: url.host, authorization: 'Bearer ' + server.token };
    const options = { host: url.hostname, port: url.port, path: incoming.url, method: incoming.method, headers };
    const outgoing = http.request(options, (found) => {
      answer.writeHead(found.statusCode, found.headers);
      found.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    incoming.pipe(outgoing);
  });
  proxy.listen(socket, () => console.log('Starting to serve on ' + socket));
}
`;
}
