import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from './bundler.ts';
import { checkoutBuild } from './identity.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bundle-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function bundled(source: string): Promise<unknown> {
  const entry = join(folder, 'entry.ts');
  await writeFile(entry, source);
  return bundle(join(folder, 'out'), entry);
}

describe('the bundle', () => {
  it('the bundler refuses a dynamic import of a package', async () => {
    const made = bundled("const { parse } = await import('yaml'); console.log(parse('a: 1'));");
    await expect(made).rejects.toThrow("import('yaml') has no names in a bundle");
  });

  it('the bundler refuses an import with a name known only at run time', async () => {
    const made = bundled('console.log(await import(process.argv[2] ?? ""));');
    await expect(made).rejects.toThrow('entry.ts:1: This "import" expression will not be bundled');
  });

  it('the bundler refuses a name of undici that the smaller replacement does not export', async () => {
    const undici = join(root, 'node_modules/undici/index.js');
    const made = bundled(`import { Agent } from '${undici}'; console.log(new Agent());`);
    await expect(made).rejects.toThrow('No matching export');
  });

  it('the bundler replaces an earlier bundle, and leaves images and releases beside the bundle', async () => {
    const out = join(folder, 'out');
    for (const part of ['images', 'release', 'static']) {
      await mkdir(join(out, part), { recursive: true });
    }
    for (const file of ['chunk-OLD.mjs', 'multinic-release-0.1.0.tar.gz', 'static/old.js']) {
      await writeFile(join(out, file), '');
    }
    await bundled("console.log('new');");
    const names = await readdir(out);
    expect(names).toEqual(
      expect.arrayContaining(['entry.mjs', 'images', 'multinic-release-0.1.0.tar.gz', 'release']),
    );
    expect(names).not.toContain('chunk-OLD.mjs');
    expect(await readdir(join(out, 'static'))).not.toContain('old.js');
  });

  it('the bundle serves the docs, loaded at the first request', async () => {
    await bundled(`
      import { createHttpServer } from '${root}/src/http/server.ts';
      import { createHealth } from '${root}/src/process/health.ts';
      import { createLogger } from '${root}/src/process/log.ts';
      import { createMetrics } from '${root}/src/process/metrics.ts';
      import { systemClock } from '${root}/src/time/clock.ts';
      const app = await createHttpServer({
        title: 'bundled',
        clock: systemClock,
        log: createLogger({ part: 'test', level: 'silent' }),
        health: createHealth(),
        registry: createMetrics({}).registry,
        about: { version: {}, settings: {} },
      });
      const urls = ['/openapi.json', '/openapi.yaml', '/docs/', '/docs/static/swagger-ui-bundle.js'];
      for (const url of urls) console.log(url, (await app.inject({ url })).statusCode);
    `);
    const { stdout } = await run(process.execPath, [join(folder, 'out/entry.mjs')]);
    expect(stdout.match(/ 200$/gm)).toHaveLength(4);
  });

  it('the bundle makes certificates with a module loaded on demand', async () => {
    await bundled(`
      const { issueAuthority } = await import('${root}/src/certificates/issue.ts');
      const validity = { from: new Date(), until: new Date(Date.now() + 1e9) };
      console.log(issueAuthority(validity).certificate);
    `);
    const { stdout } = await run(process.execPath, [join(folder, 'out/entry.mjs')]);
    expect(new X509Certificate(stdout).ca).toBe(true);
  });

  it('the bundle reports an invalid value with the same text as the sources', async () => {
    await bundled(`
      import { watchEventSchema } from '${root}/src/kube/client/wire.ts';
      console.log(watchEventSchema.safeParse({ type: 'BOOKMARK', object: 1 }).error?.issues[0]?.message);
    `);
    const { stdout } = await run(process.execPath, [join(folder, 'out/entry.mjs')]);
    expect(stdout).toBe('Invalid input: expected object, received number\n');
  });

  it('speaks HTTP on a CPU without SSE4.1, as virtual machines of the models qemu64 and kvm64 have', async () => {
    await bundled(`
      import { once } from 'node:events';
      import { createServer } from 'node:net';
      import { createKubeClient } from '${root}/src/kube/client/http-client.ts';
      import { systemClock as clock } from '${root}/src/time/clock.ts';
      const answer = 'HTTP/1.1 200 OK\\r\\nContent-Length: 22\\r\\n\\r\\n{"gitVersion":"v1.37"}';
      const server = createServer((socket) => socket.once('data', () => socket.end(answer)));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const client = createKubeClient({ server: 'http://127.0.0.1:' + server.address().port }, { clock });
      console.log((await client.version()).gitVersion);
      await client[Symbol.asyncDispose]();
      server.close();
    `);
    const entry = join(folder, 'out/entry.mjs');
    const { stdout } = await run(process.execPath, ['--no-enable-sse4-1', entry]);
    expect(stdout).toBe('v1.37\n');
  });

  it("the bundle does not load Node.js' own undici, although an import of node:http would", async () => {
    const { outputs } = await bundle(join(folder, 'product'));
    const imports = Object.values(outputs).flatMap((output) => output.imports);
    const statements = imports.filter(({ kind }) => kind === 'import-statement');
    expect(statements.filter(({ external }) => external)).toEqual([]);
  });

  it('the bundle loads no unused schema in a controller', async () => {
    const { outputs } = await bundle(join(folder, 'product'));
    const waiting = Object.keys(outputs).filter((path) =>
      outputs[path]?.entryPoint?.endsWith('src/controller/start.ts'),
    );
    const loaded = new Set(waiting);
    for (const path of loaded) {
      const imports =
        outputs[path]?.imports.filter(({ kind }) => kind === 'import-statement') ?? [];
      for (const imported of imports) loaded.add(imported.path);
    }
    const inputs = [...loaded].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
    expect(inputs).toContain('src/api/multinicnodeconfig.ts');
    expect(inputs).not.toContain('src/api/openstackconfig.ts');
  });

  it('the bundle knows version and commit', async () => {
    const out = join(folder, 'product');
    await bundle(out);
    const { stdout } = await run(process.execPath, [join(out, 'main.mjs'), 'version']);
    const { version, commit } = await checkoutBuild();
    const lines = [`multinic ${version}`, `commit ${commit}`];
    const rest = ['agent protocols 1, 2, 3, 4, 5, 6', `node ${process.version}`];
    expect(stdout).toBe(`${[...lines, ...rest].join('\n')}\n`);
  });

  it("the bundle has the files that user commands read from the operator's image", async () => {
    const out = join(folder, 'product');
    await bundle(out);
    const operator = createServer((_request, response) => response.end('{"items":[]}'));
    await once(operator.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = operator.address() as AddressInfo;
      const argv = ['nodes', '-o', 'json', '--inventory', `http://127.0.0.1:${port}`];
      const { stdout } = await run(process.execPath, [join(out, 'main.mjs'), ...argv]);
      expect(JSON.parse(stdout)).toMatchObject({ kind: 'NodeList', items: [], skipped: [] });
    } finally {
      operator.close();
    }
  });

  it('the bundle starts every part', async () => {
    const out = join(folder, 'product');
    await bundle(out);
    for (const part of ['operator', 'viola', 'controller']) {
      const { stdout } = await run(process.execPath, [join(out, 'main.mjs'), part, '--help']);
      expect(stdout).toContain(`Usage: multinic ${part}`);
    }
  });
});
