import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { complaintOf, run } from '../command.ts';
import { writeImageArchive } from './image-archive.ts';

let folder: string;
/** The archive, unpacked. */
let site: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-air-gap-'));
  site = await unpacked(await pack('first'));
});

afterEach(() => rm(folder, { recursive: true }));

async function put(path: string, text: string, mode = 0o644): Promise<string> {
  const at = join(folder, path);
  await mkdir(dirname(at), { recursive: true });
  await writeFile(at, text, { mode });
  return at;
}

/** An archive of a small repository; all that differs between two is when and by whom they were made. */
async function pack(
  name: string,
  prepare: (root: string) => Promise<unknown> = async () => undefined,
): Promise<string> {
  const images = await Promise.all(
    ['a-1-linux-amd64', 'b-1-linux-amd64', 'a-1-linux-arm64'].map((image) =>
      put(`${name}/built/${image}.tar`, image),
    ),
  );
  const root = join(folder, name, 'root');
  await put(`${name}/root/charts/some/Chart.yaml`, 'name: some\nversion: 0.1.0\n');
  await put(`${name}/root/charts/some/templates/a.yaml`, 'a: 1\n');
  for (const page of [
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
    'docs/guide.md',
    'deploy/crds/c.yaml',
    'deploy/rbac/r.yaml',
  ]) {
    await put(`${name}/root/${page}`, page);
  }
  for (const script of ['deploy-operator.sh', 'cleanup-operator.sh', 'scripts/a.sh']) {
    await put(`${name}/root/${script}`, script, 0o755);
  }
  const places = { out: join(folder, name, 'out'), work: join(folder, name, 'work') };
  await mkdir(places.work);
  await prepare(root);
  return writeImageArchive({ root, version: '1.2.3', images, ...places });
}

async function unpacked(archive: string): Promise<string> {
  const into = dirname(archive);
  await run(['tar', '-xzf', archive, '-C', into]);
  return join(into, 'multinic-1.2.3');
}

it('holds images, charts, also as helm packs them, CRDs, scripts, docs, and a checksum of each file', async () => {
  const listed = await run(['tar', '-tzf', join(dirname(site), 'multinic-1.2.3.tar.gz')]);
  const files = listed.split('\n').filter((path) => path && !path.endsWith('/'));
  expect(files.map((path) => path.replace('multinic-1.2.3/', '')).toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SHA256SUMS',
    'charts/some-0.1.0.tgz',
    'charts/some/Chart.yaml',
    'charts/some/templates/a.yaml',
    'cleanup-operator.sh',
    'deploy-operator.sh',
    'deploy/crds/c.yaml',
    'deploy/rbac/r.yaml',
    'docs/guide.md',
    'images/a-1-linux-amd64.tar',
    'images/a-1-linux-arm64.tar',
    'images/b-1-linux-amd64.tar',
    'load-images.sh',
    'scripts/a.sh',
  ]);
  const checked = await run(['sha256sum', '-c', 'SHA256SUMS'], { cwd: site });
  expect(checked.trim().split('\n')).toHaveLength(files.length - 1);
  const chart = await run(['tar', '-tzf', join(site, 'charts/some-0.1.0.tgz')]);
  expect(chart).toContain('some/Chart.yaml\n');
});

it('is the same, byte for byte, when it is made at another time', async () => {
  await put('second/root/docs/guide.md', 'docs/guide.md', 0o600);
  await utimes(join(folder, 'second/root/docs/guide.md'), 0, 0);
  const [first, second] = [join(dirname(site), 'multinic-1.2.3.tar.gz'), await pack('second')];
  expect((await readFile(first)).equals(await readFile(second))).toBe(true);
});

it('of a checkout holds what git tracks, and none of what somebody keeps beside it', async () => {
  const own = ['charts/some/values-of-a-site.yaml', 'docs/notes.md', 'scripts/token'];
  const checkout = await unpacked(
    await pack('checkout', async (root) => {
      await run(['git', '-C', root, 'init', '--quiet']);
      await run(['git', '-C', root, 'add', '.']);
      for (const path of own) await put(`checkout/root/${path}`, 'a secret');
    }),
  );
  expect(await readFile(join(checkout, 'SHA256SUMS'), 'utf8')).toBe(
    await readFile(join(site, 'SHA256SUMS'), 'utf8'),
  );
});

/** Makes it look like a machine of this kind. */
async function machine(name: string): Promise<void> {
  await put('bin/uname', `#!/bin/sh\necho ${name}\n`, 0o755);
}

async function load(...options: readonly string[]): Promise<string> {
  const env = { PATH: join(folder, 'bin') };
  return run([join(site, 'load-images.sh'), ...options], { env });
}

/** What it complains of. */
const said = async (...options: readonly string[]): Promise<string> =>
  load(...options).then(
    () => 'nothing',
    (error: unknown) => complaintOf(error),
  );

describe('load-images.sh', () => {
  let calls: string;

  beforeEach(async () => {
    calls = await put('calls', '');
    await mkdir(join(folder, 'bin'));
    for (const program of ['sh', 'dirname', 'readlink', 'sed', 'grep', 'sha256sum', 'id']) {
      const path = (await run(['sh', '-c', `command -v ${program}`])).trim();
      await symlink(path, join(folder, 'bin', program));
    }
    await machine('x86_64');
  });

  async function has(tool: string, status = 0): Promise<void> {
    await put(`bin/${tool}`, `#!/bin/sh\necho ${tool} "$@" >>'${calls}'\nexit ${status}\n`, 0o755);
  }

  const called = async (): Promise<readonly string[]> =>
    (await readFile(calls, 'utf8')).trim().split('\n').filter(Boolean);

  it.each([
    ['ctr', 'ctr --namespace k8s.io images import images/a-1-linux-amd64.tar'],
    ['nerdctl', 'nerdctl --namespace k8s.io load --input images/a-1-linux-amd64.tar'],
    ['podman', 'podman load --input images/a-1-linux-amd64.tar'],
    ['docker', 'docker load --input images/a-1-linux-amd64.tar'],
  ])('loads with %s', async (tool, first) => {
    await has(tool);
    await load();
    expect(await called()).toEqual([first, first.replace('/a-', '/b-')]);
  });

  it('takes the images of the machine it runs on, and the first tool that is there', async () => {
    await machine('aarch64');
    await has('podman');
    await has('ctr');
    await load('--namespace', 'other');
    expect(await called()).toEqual([
      'ctr --namespace other images import images/a-1-linux-arm64.tar',
    ]);
    await load('--tool', 'podman');
    expect((await called()).at(-1)).toBe('podman load --input images/a-1-linux-arm64.tar');
  });

  it('pins images under the names that they have', async () => {
    const tar = (await run(['sh', '-c', 'command -v tar'])).trim();
    await symlink(tar, join(folder, 'bin/tar'));
    await machine('arm64');
    await has('ctr');
    const index = {
      manifests: [{ annotations: { 'io.containerd.image.name': 'site/a:1', b: '' } }],
    };
    await put('layout/index.json', JSON.stringify(index));
    const image = join(site, 'images/a-1-linux-arm64.tar');
    await run(['tar', '-C', join(folder, 'layout'), '-cf', image, './index.json']);
    const sum = (await run(['sha256sum', 'images/a-1-linux-arm64.tar'], { cwd: site })).trim();
    await writeFile(join(site, 'SHA256SUMS'), `${sum}\n`);
    await load('--pin');
    expect((await called()).at(-1)).toBe(
      'ctr --namespace k8s.io images label site/a:1 io.cri-containerd.pinned=pinned',
    );
    await has('podman');
    expect(await said('--pin', '--tool', 'podman')).toContain('podman cannot pin images');
  });

  it('says how it is used, wherever it is started from', async () => {
    const from = { cwd: dirname(site) };
    const told = await run(['sh', '-c', './multinic-1.2.3/load-images.sh --help'], from);
    expect(told).toContain('--dry-run     say what would be done');
    expect(told).toMatch(/CONTAINERD_ADDRESS names another containerd\.\n$/);
  });

  it('finds its images when it is started by a link', async () => {
    await has('ctr');
    const link = join(folder, 'bin/load-multinic');
    await symlink(join(site, 'load-images.sh'), link);
    const env = { PATH: join(folder, 'bin') };
    expect(await run([link, '--dry-run'], { env })).toContain('import images/a-1-linux-amd64.tar');
    expect(await run([link, '--help'], { env })).toContain('say what would be done');
  });

  it('says what it would do', async () => {
    await has('ctr');
    const told = await load('--dry-run');
    expect(told).toMatch(/^ctr --namespace k8s\.io images import images\/a-1-linux-amd64\.tar$/m);
    expect(await called()).toEqual([]);
  });

  it('loads nothing that is damaged', async () => {
    await has('ctr');
    await writeFile(join(site, 'images/a-1-linux-amd64.tar'), 'other');
    expect(await said()).toContain('images/a-1-linux-amd64.tar is damaged');
    await writeFile(join(site, 'SHA256SUMS'), '');
    expect(await said()).toContain('images/a-1-linux-amd64.tar is damaged');
    await rm(join(site, 'SHA256SUMS'));
    expect(await said()).toContain('there is no SHA256SUMS to check the images with');
    expect(await called()).toEqual([]);
  });

  it('says what is missing, and what to do', async () => {
    expect(await said()).toContain('there is neither ctr, nerdctl, podman nor docker');
    await has('ctr', 1);
    expect(await said()).toContain('ctr could not load images/a-1-linux-amd64.tar');
    expect(await said('--tool', 'crictl')).toContain('there is no crictl');
    expect(await said('--faster')).toContain('unknown option --faster');
    await machine('riscv64');
    expect(await said()).toContain('there are no images for riscv64');
    await machine('arm64');
    await rm(join(site, 'images/a-1-linux-arm64.tar'));
    expect(await said()).toContain('there are no images for arm64 in images/');
  });

  it('asks for root, whose images a kubelet uses', async () => {
    await has('ctr');
    await rm(join(folder, 'bin/id'));
    await put('bin/id', '#!/bin/sh\necho 1000\n', 0o755);
    expect(await said()).toContain('run it with sudo');
    expect(await said('--dry-run')).toBe('nothing');
  });
});
