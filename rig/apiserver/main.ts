import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { type ApiServer, startApiServer } from './server.ts';

const help = `Embedded Kubernetes API server (HTTPS, loopback) with Jobs, garbage collection and a scheduler, in memory.

  node rig/apiserver/main.ts [options]

  --port N              port to listen on (default: any free one)
  --crds DIR            CustomResourceDefinitions (*.yaml) to serve from the start
  --kubeconfig FILE     where to write the administrator's kubeconfig (mode 0600)
  --user NAME=FILE      a kubeconfig for another user, may be repeated; roles and bindings decide what it
                        may do; system:serviceaccount:NAMESPACE:NAME is a ServiceAccount
  --help                this text

Prints one JSON line with its URL when it is ready and serves until SIGTERM or Ctrl-C; then the kubeconfigs
it wrote are gone too.
Exit codes: 0 stopped, 2 wrong arguments or a port that is taken.
`;

interface Arguments {
  readonly port: number;
  readonly crds: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly users: readonly (readonly [user: string, file: string])[];
}

function readArguments(argv: readonly string[]): Arguments | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      port: { type: 'string', default: '0' },
      crds: { type: 'string' },
      kubeconfig: { type: 'string' },
      user: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const port = Number(values.port);
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw new Error(`--port must be a whole number from 0 to 65535, not "${values.port}"`);
  }
  const users = values.user.map((text) => {
    const [user = '', file = ''] = text.split('=');
    if (user && file) return [user, file] as const;
    throw new Error(`--user must be NAME=FILE, not "${text}"`);
  });
  return { port, crds: values.crds, kubeconfig: values.kubeconfig, users };
}

async function readDefinitions(directory: string): Promise<readonly object[]> {
  const names = (await readdir(directory)).filter((name) => /\.ya?ml$/.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  return texts.flatMap((text) =>
    parseAllDocuments(text).map((document) => document.toJS() as object),
  );
}

/** Writes the kubeconfigs that were asked for; says where. */
async function writeKubeconfigs(server: ApiServer, wanted: Arguments): Promise<readonly string[]> {
  const texts: [file: string, text: string][] = [];
  if (wanted.kubeconfig) texts.push([wanted.kubeconfig, await server.kubeconfig()]);
  for (const [user, file] of wanted.users) {
    texts.push([file, await server.kubeconfig(server.accessAs(user))]);
  }
  for (const [file, text] of texts) {
    // An older file may be readable for others: the mode counts only for a new one.
    await rm(file, { force: true });
    await writeFile(file, text, { mode: 0o600 });
  }
  return texts.map(([file]) => file);
}

async function main(): Promise<void> {
  const wanted = readArguments(process.argv.slice(2));
  if (wanted === 'help') {
    process.stdout.write(help);
    return;
  }
  const stop = new Promise((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  const crds = wanted.crds ? await readDefinitions(wanted.crds) : [];
  await using server = await startApiServer({ port: wanted.port, tls: true, crds });
  const files = await writeKubeconfigs(server, wanted);
  process.stdout.write(`${JSON.stringify({ ready: true, url: server.url })}\n`);
  await stop;
  await Promise.all(files.map((file) => rm(file, { force: true })));
}

try {
  await main();
} catch (error) {
  process.stderr.write(`apiserver: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
