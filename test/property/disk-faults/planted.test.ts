import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Family } from '../../../src/api/job.ts';
import { entry, request } from '../../fixtures/agent-samples.ts';
import { AgentOnModel } from '../agent-on-model.ts';
import { makeFamily } from './family-hosts.ts';
import { families } from './scenes.ts';

let bed: AgentOnModel;
afterEach(() => bed[Symbol.dispose]());

const commits: Readonly<Record<Family, string>> = {
  netplan: 'etc/netplan/90-multinic0.yaml',
  networkd: 'etc/systemd/network/90-multinic0.network',
  keyfile: 'etc/NetworkManager/system-connections/90-multinic0.nmconnection',
  ifcfg: 'etc/sysconfig/network-scripts/ifcfg-multinic0',
};

function withBesides(path: string): string[] {
  const place = (suffix: string) => join(dirname(path), `.${basename(path)}.multinic-${suffix}`);
  return [path, place('new'), place('old')];
}

const own = [
  'state.json',
  'state.json.new',
  'state.json.old',
  'journal/0.json',
  'journal/0.json.new',
  'lock',
];
const sameEverywhere = [
  ...withBesides('etc/sysctl.d/90-multinic0.conf'),
  ...own.map((name) => join('var/lib/multinic', name)),
];
const cases: readonly (readonly [Family, string])[] = [
  ...families.flatMap((family) =>
    withBesides(commits[family]).map((path) => [family, path] as const),
  ),
  ...sameEverywhere.map((path) => ['netplan', path] as const),
];

async function hostOf(family: Family): Promise<string> {
  bed = await AgentOnModel.open();
  makeFamily(bed.box.root, family, 2);
  mkdirSync(join(bed.box.root, 'srv'));
  writeFileSync(join(bed.box.root, 'srv/theirs'), 'theirs\n');
  return bed.box.root;
}

const ask = (family: Family, attempt: number) =>
  bed.run(request([entry(1)], { protocol: 3, family, attempt }));

describe.each(['theirs', 'nothing'])('a link to %s of others', (target) => {
  test.each(cases)('is never written through: %s, %s', async (family, path) => {
    const root = await hostOf(family);
    const place = join(root, path);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(relative(dirname(place), join(root, 'srv', target)), place);
    const answer = await ask(family, 0);
    expect(['ok', 'failed', 'refused']).toContain(answer.outcome);
    expect(readdirSync(join(root, 'srv'))).toEqual(['theirs']);
    expect(readFileSync(join(root, 'srv/theirs'), 'utf8')).toBe('theirs\n');
    const isConfigured = bed.box.kernel.links.some(({ name }) => name === 'multinic0');
    expect(isConfigured).toBe(answer.outcome === 'ok');
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(place);
    expect(await ask(family, 1)).toMatchObject({ outcome: 'ok', nics: [{ name: 'multinic0' }] });
  });
});

describe('half a file', () => {
  test.each(cases.filter(([, path]) => /new$|old$/.test(path)))(
    'that a run left beside its place is in the way of no other: %s, %s',
    async (family, path) => {
      const root = await hostOf(family);
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), 'network:\n  vers');
      expect(await ask(family, 0)).toMatchObject({ outcome: 'ok' });
      expect(lstatSync(join(root, path), { throwIfNoEntry: false })).toBeUndefined();
    },
  );

  test.each([
    ['var/lib/multinic/state.json', '{"version": 3, "nics": [{"ma'],
    ['var/lib/multinic/state.json', '{"version": 99, "nics": []}'],
    ['var/lib/multinic/journal/0.json', '{"version": 2, "ste'],
    ['var/lib/multinic/journal/0.json', '{"version": 99}'],
  ])(
    'of its own, or one of a newer agent, keeps the agent from touching anything: %s, %s',
    async (path, text) => {
      const root = await hostOf('netplan');
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
      const before = bed.box.kernel;
      const answer = await ask('netplan', 0);
      expect(answer).toMatchObject({ outcome: 'refused', refusal: { reason: 'UnknownState' } });
      expect(answer.refusal?.message).toContain(`/${path}`);
      expect(bed.box.kernel).toEqual(before);
      expect(readFileSync(join(root, path), 'utf8')).toBe(text);
      expect(bed.effects).toEqual(['agent.result.write']);
    },
  );
});
