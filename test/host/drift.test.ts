import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { backends } from '../../src/agent/backends/backends.ts';
import { type Family, family as families } from '../../src/api/job.ts';
import { macOf, request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { createFamilyHost, filesOfOurs } from './family-host.ts';
import { stateOf } from './host-state.ts';

let host: NamespaceHost;
afterEach(() => host.down());

const wanted = [1, 2, 3, 4, 5].map((n) => nic(n - 1, macOf(n), `10.0.0.${n}/16`));
const nics = Object.fromEntries(wanted.map(({ mac, index }) => [`ens${index}`, mac]));
const requestFor = (family: Family, action: 'apply' | 'check', attempt = 0) =>
  request(wanted, { protocol: 3, family, action, attempt });

/** Edits a NIC's address file as users do: in place, world-readable. */
async function edit(
  family: Family,
  index: number,
  from: string | RegExp,
  to: string,
): Promise<void> {
  const path = join(host.root, backends[family].path(index));
  const text = await readFile(path, 'utf8');
  const edited = text.replace(from, to);
  expect(edited).not.toBe(text);
  await writeFile(path, edited);
  await chmod(path, 0o644);
}

test.each(families.options)(
  '[RW-12] manual changes to files and NICs are reported by a check and repaired by an apply: %s',
  async (family) => {
    host = await createFamilyHost('drift', family, nics);
    const configured = await runAgent(host, requestFor(family, 'apply'));
    expect(configured.result?.outcome, configured.stderr).toBe('ok');
    const [state, files] = [await stateOf(host), await filesOfOurs(host)];

    await rm(join(host.root, backends[family].path(0)));
    await edit(family, 1, /10\.0\.0\.2\b/, '10.0.0.99');
    await edit(family, 2, '1450', '1400');
    await edit(family, 3, new RegExp(macOf(4), 'i'), macOf(99));
    await host.ip('addr', 'add', '10.0.0.98/16', 'dev', 'multinic4');
    await host.ip('addr', 'del', '10.0.0.5/16', 'dev', 'multinic4');
    await host.ip('link', 'set', 'dev', 'multinic4', 'mtu', '1400');

    const check = await runAgent(host, requestFor(family, 'check'));
    expect(check.result?.nics).toMatchObject([
      { reason: 'Drifted', message: expect.stringMatching(/create .*multinic0/) as string },
      { reason: 'Drifted', message: expect.stringMatching(/replace .*multinic1/) as string },
      { reason: 'Drifted', message: expect.stringMatching(/replace .*multinic2/) as string },
      { reason: 'Drifted', message: expect.stringMatching(/replace .*multinic3/) as string },
      { reason: 'Drifted', message: expect.stringMatching(/mtu 1450; .* 10\.0\.0\.5/) as string },
    ]);
    const healed = await runAgent(host, requestFor(family, 'apply', 1));
    expect(healed.result?.outcome, healed.stderr).toBe('ok');
    expect(await filesOfOurs(host)).toEqual(files);
    expect(await stateOf(host)).toEqual(state);
    expect((await runAgent(host, requestFor(family, 'check'))).result?.outcome).toBe('ok');
  },
);
