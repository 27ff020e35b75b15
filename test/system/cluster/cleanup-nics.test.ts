import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiServer } from '../../../rig/apiserver/server.ts';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';
import { openstackConfigs } from '../../../src/operator/model/openstack-config.ts';
import { eventually } from '../../../src/operator/testing/eventually.ts';
import { OperatorFixture, ref } from '../../fixtures/operator.ts';
import { RemovalFleet } from '../../fixtures/removal-fleet.ts';

const root = join(import.meta.dirname, '../../..');

interface Ran {
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
}

/** A user's kubectl for an embedded API server. */
class Shell implements AsyncDisposable {
  readonly folder: string;
  readonly #proxy: Server;

  private constructor(folder: string, proxy: Server) {
    this.folder = folder;
    this.#proxy = proxy;
  }

  /** kubectl sends a token over TLS only: a proxy adds the token. */
  static async open(api: ApiServer): Promise<Shell> {
    const token = await api.access.token();
    const proxy = createServer((incoming, answer) => {
      const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
      const url = new URL(incoming.url ?? '', api.url);
      const sent = request(url, { method: incoming.method, headers }, (found) => {
        answer.writeHead(found.statusCode ?? 502, found.headers);
        found.pipe(answer);
      });
      sent.on('error', () => answer.destroy());
      incoming.pipe(sent);
    });
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const folder = await mkdtemp(join(tmpdir(), 'cleanup-'));
    const cluster = { name: 'it', cluster: { server: `http://127.0.0.1:${port}` } };
    const context = { name: 'it', context: { cluster: 'it', user: 'it' } };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [cluster],
      users: [{ name: 'it', user: {} }],
      contexts: [context],
      'current-context': 'it',
    };
    await writeFile(join(folder, 'kubeconfig'), JSON.stringify(config));
    // The part runs in this process: its Deployment does not exist.
    const kubectl = `#!/bin/bash\n[[ " $* " != *" wait "* ]] || exit 0\nexec ${await toolPath('kubectl')} "$@"\n`;
    await writeFile(join(folder, 'kubectl'), kubectl, { mode: 0o700 });
    return new Shell(folder, proxy);
  }

  async run(script: string, ...args: readonly string[]): Promise<Ran> {
    const helm = dirname(await toolPath('helm'));
    const PATH = [this.folder, helm, process.env['PATH']].join(':');
    const env = { ...process.env, PATH, KUBECONFIG: join(this.folder, 'kubeconfig') };
    return new Promise((resolve) => {
      const child = execFile(join(root, script), args, { env }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, output: `${stdout}${stderr}` }),
      );
      child.stdin?.end();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy.closeAllConnections();
    this.#proxy.close();
    await rm(this.folder, { recursive: true });
  }
}

describe('cleanup-operator.sh --nics remove', () => {
  let fixture: OperatorFixture;
  let operator: Awaited<ReturnType<OperatorFixture['start']>>;
  let shell: Shell;
  const servers: string[] = [];

  beforeEach(async () => {
    fixture = await OperatorFixture.open();
    const { world, cloud } = fixture;
    const { projectId, networkId } = world;
    servers.splice(0);
    for (let n = 1; n <= 6; n += 1) {
      const { serverId } = cloud.controls.createServer({ projectId, name: `node-${n}` });
      servers.push(serverId);
    }
    operator = await fixture.start();
    await fixture.createConfig(ref, servers, { portBaseline: 'All' });
    for (const serverId of servers) {
      for (let n = 0; n < 10; n += 1) cloud.controls.attach({ serverId, networkId });
    }
    await eventually(
      () => fixture.nics(),
      (nics) => nics.length === 60,
    );
    shell = await Shell.open(fixture.viola.api);
  });

  afterEach(async () => {
    await shell?.[Symbol.asyncDispose]();
    await operator?.stop();
    await fixture?.[Symbol.asyncDispose]();
  });

  it('cleanup-operator.sh deletes 60 NICs, and consents after the operator holds the deletion', async () => {
    const args = ['--nics', 'remove', '--yes', '--timeout', '90'];
    const { code, output } = await shell.run('cleanup-operator.sh', ...args);
    expect(code, output).toBe(0);
    expect(fixture.nics()).toEqual([]);
    expect(await fixture.viola.admin.find(openstackConfigs, ref)).toBeUndefined();
    const [deletion, consent] = ['+ kube delete', 'annotate'].map((text) => output.indexOf(text));
    expect(deletion).toBeGreaterThan(-1);
    expect(consent).toBeGreaterThan(deletion ?? 0);
    expect(output).toContain(
      'removals held (RemovalHeld) for 1 openstackconfigs.multinic.example.com in multinic-system',
    );
    expect(output.match(/multinic\.io\/allow-removals=/g)).toHaveLength(1);
  });

  it('cleanup-operator.sh continues with deletions that an earlier run did not finish', async () => {
    await operator.stop();
    const args = ['--nics', 'remove', '--yes', '--timeout'];
    const first = await shell.run('cleanup-operator.sh', ...args, '2');
    expect(first.code, first.output).toBe(1);
    expect(first.output).toContain('the script removed no other object');
    operator = await fixture.start();
    await eventually(
      async () => fixture.ready(),
      (ready) => ready === 'False RemovalHeld',
    );
    expect(fixture.nics()).toHaveLength(60);
    const next = await shell.run('cleanup-operator.sh', ...args, '90');
    expect(next.code, next.output).toBe(0);
    expect(fixture.nics()).toEqual([]);
  });

  it('cleanup-operator.sh does not consent to a deletion while only an edit is reported as held', async () => {
    const { admin } = fixture.viola;
    await admin.patch(openstackConfigs, ref, { spec: { vmNames: servers.slice(0, 1) } });
    await eventually(
      async () => fixture.ready(),
      (ready) => ready === 'False RemovalHeld',
    );
    await operator.stop();
    const args = ['--nics', 'remove', '--yes', '--timeout', '3'];
    const { code, output } = await shell.run('cleanup-operator.sh', ...args);
    expect(code, output).toBe(1);
    expect(output).not.toContain('consenting');
    const object = await admin.get(openstackConfigs, ref);
    expect(object.metadata.deletionTimestamp).toBeDefined();
    expect(object.metadata.annotations?.['multinic.io/allow-removals']).toBeUndefined();
    expect(fixture.nics()).toHaveLength(60);
  });
});

describe('cleanup-agent.sh --nics remove', () => {
  it('cleanup-agent.sh deletes 20 node configs, and consents after the controller holds them', async () => {
    await using fleet = await RemovalFleet.start(20);
    await using shell = await Shell.open(fleet.fixture.api);
    const argv = ['--nics', 'remove', '--yes', '--timeout', '90'];
    const script = shell.run('scripts/cleanup-agent.sh', ...argv);
    const ended = new AbortController();
    const end = () => ended.abort();
    void script.then(end, end);
    // The script writes consents with the real time: the controller's time must not run ahead.
    while (!ended.signal.aborted) await fleet.fixture.pass(1, 10);
    const { code, output } = await script;
    expect(code, output).toBe(0);
    expect(fleet.untouched()).toEqual([]);
    expect(output).toContain('removals held (RemovalHeld) for 20 multinicnodeconfigs.multinic.io');
  });
});
