import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { complaintOf, run } from '../command.ts';
import { type ReleaseOptions, writeRelease, writeReleaseArchive } from './release.ts';

const chart = `name: some
version: 0.0.0-dev
appVersion: 0.0.0-dev
annotations:
  artifacthub.io/prerelease: "true"
`;
const pages = ['README.md', 'LICENSE', 'docs/guide.md'];
let folder: string;
/** The release as one file, unpacked. */
let site: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-release-'));
  site = await unpacked(await pack('first'));
});

afterEach(() => rm(folder, { recursive: true }));

async function put(path: string, text: string, mode = 0o644): Promise<string> {
  const at = join(folder, path);
  await mkdir(dirname(at), { recursive: true });
  await writeFile(at, text, { mode });
  return at;
}

/** A small checkout with images; two images differ in times and owners only. */
async function optionsAt(
  name: string,
  prepare: (root: string) => Promise<unknown> = async () => undefined,
): Promise<ReleaseOptions> {
  const images = await Promise.all(
    (['a-1-linux-amd64', 'b-1-linux-amd64', 'a-1-linux-arm64'] as const).map(async (image) => ({
      name: `registry.example.com:5000/team/${image.slice(0, 1)}:1.2.3`,
      architecture: image.endsWith('arm64') ? ('arm64' as const) : ('amd64' as const),
      digest: digest(image),
      file: await put(`${name}/built/${image}.tar`, image),
      sbom: `components of ${image}`,
    })),
  );
  const root = join(folder, name, 'root');
  await put(`${name}/root/charts/some/Chart.yaml`, chart);
  await put(`${name}/root/charts/some/values.yaml`, 'global:\n  imageDigests: []\n');
  await put(`${name}/root/charts/some/templates/a.yaml`, 'a: 1\n');
  await put(`${name}/root/CHANGELOG.md`, '# Changelog\n\n## 1.2.3\n\n- A change.\n');
  for (const page of [...pages, 'deploy/argocd/h.yaml', 'deploy/crds/c.yaml']) {
    await put(`${name}/root/${page}`, page);
  }
  for (const script of ['bin/multinic', 'deploy-operator.sh', 'scripts/a.sh']) {
    await put(`${name}/root/${script}`, script, 0o755);
  }
  await put(`${name}/command/lib/multinic/node`, 'node', 0o755);
  await put(`${name}/command/lib/multinic/main.mjs`, 'main');
  await put(`${name}/portable/lib/multinic/main.mjs`, 'main');
  const commands = [
    {
      platform: 'linux-amd64',
      folder: join(folder, name, 'command'),
      sbom: 'components of multinic',
    },
    {
      platform: 'any',
      folder: join(folder, name, 'portable'),
      sbom: 'components of the bundle',
    },
  ] as const;
  const work = join(folder, name, 'work');
  await mkdir(work);
  await prepare(root);
  return { root, version: '1.2.3', images, commands, work };
}

async function pack(...options: Parameters<typeof optionsAt>): Promise<string> {
  return writeReleaseArchive(join(folder, options[0], 'out'), await optionsAt(...options));
}

async function unpacked(archive: string): Promise<string> {
  const into = dirname(archive);
  await run(['tar', '-xzf', archive, '-C', into]);
  return join(into, 'multinic-release-1.2.3');
}

/** File names in a tar archive, without the top folder. */
async function filesIn(archive: string): Promise<readonly string[]> {
  const listed = await run(['tar', '-tzf', archive]);
  const files = listed.split('\n').filter((path) => path && !path.endsWith('/'));
  return files.map((path) => path.slice(path.indexOf('/') + 1)).toSorted();
}

const command = 'multinic-1.2.3-linux-amd64.tar.gz';
const portable = 'multinic-1.2.3-any.tar.gz';

it('a release contains images, charts, CRDs, the command line, SPDX documents, notes and checksums', async () => {
  const files = await filesIn(join(dirname(site), 'multinic-release-1.2.3.tar.gz'));
  expect(files).toEqual([
    'LICENSE',
    'RELEASE-NOTES.md',
    'SHA256SUMS',
    'VERSION',
    'argocd/h.yaml',
    'charts/some-1.2.3.tgz',
    'crds/c.yaml',
    'digests.txt',
    'images/a-1-linux-amd64.tar',
    'images/a-1-linux-arm64.tar',
    'images/b-1-linux-amd64.tar',
    'krew/multinic.yaml',
    'load-images.sh',
    portable,
    command,
    'sbom/a-1-linux-amd64.spdx.json',
    'sbom/a-1-linux-arm64.spdx.json',
    'sbom/b-1-linux-amd64.spdx.json',
    'sbom/multinic-1.2.3-any.spdx.json',
    'sbom/multinic-1.2.3-linux-amd64.spdx.json',
  ]);
  const checked = await run(['sha256sum', '-c', 'SHA256SUMS'], { cwd: site });
  expect(checked.trim().split('\n')).toHaveLength(files.length - 1);
  expect(await readFile(join(site, 'RELEASE-NOTES.md'), 'utf8')).toMatch(
    /^# MultiNIC 1\.2\.3\n[\s\S]*\n- A change\.\n$/,
  );
  expect(await filesIn(join(site, command))).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin/multinic',
    'charts/some/Chart.yaml',
    'charts/some/templates/a.yaml',
    'charts/some/values.yaml',
    'deploy-operator.sh',
    'deploy/argocd/h.yaml',
    'deploy/crds/c.yaml',
    'docs/guide.md',
    'lib/multinic/main.mjs',
    'lib/multinic/node',
    'scripts/a.sh',
  ]);
});

const digest = (image: string): string => `sha256:digest of ${image}`;

it('charts, digests.txt and VERSION of a release have its version and digests', async () => {
  for (const [archive, path] of [
    ['charts/some-1.2.3.tgz', 'some'],
    [command, 'multinic-1.2.3/charts/some'],
  ] as const) {
    const read = (file: string) => run(['tar', '-xOzf', join(site, archive), `${path}/${file}`]);
    expect(parse(await read('Chart.yaml'))).toEqual({
      name: 'some',
      version: '1.2.3',
      appVersion: '1.2.3',
      annotations: { 'artifacthub.io/prerelease': 'false' },
    });
    const digests = [
      `amd64/a:1.2.3@${digest('a-1-linux-amd64')}`,
      `amd64/b:1.2.3@${digest('b-1-linux-amd64')}`,
      `arm64/a:1.2.3@${digest('a-1-linux-arm64')}`,
    ];
    expect(parse(await read('values.yaml'))).toEqual({ global: { imageDigests: digests } });
  }
  expect((await readFile(join(site, 'digests.txt'), 'utf8')).split('\n')[0]).toBe(
    `${digest('a-1-linux-amd64')}  linux/amd64  registry.example.com:5000/team/a:1.2.3`,
  );
  expect(await readFile(join(site, 'VERSION'), 'utf8')).toBe('1.2.3\n');
});

it('the archive for any platform contains only the command line, with an own README', async () => {
  expect(await filesIn(join(site, portable))).toEqual([
    'LICENSE',
    'README.md',
    'bin/multinic',
    'lib/multinic/main.mjs',
  ]);
  const readme = await run(['tar', '-xOzf', join(site, portable), 'multinic-1.2.3/README.md']);
  expect(readme).toContain('# multinic, for any platform');
});

it('the krew manifest names each archive with the checksum', async () => {
  const options = { ...(await optionsAt('krew')), url: 'https://site.example/v1.2.3' };
  await writeRelease(join(folder, 'krew/out'), options);
  const text = await readFile(join(folder, 'krew/out/krew/multinic.yaml'), 'utf8');
  const { spec } = parse(text) as { spec: { version: string; platforms: object[] } };
  expect(spec.version).toBe('v1.2.3');
  const sums = await readFile(join(site, 'SHA256SUMS'), 'utf8');
  const sha256Of = (file: string) => new RegExp(`^(\\w+)  ${file}$`, 'm').exec(sums)?.[1];
  expect(spec.platforms).toMatchObject([
    {
      selector: { matchLabels: { os: 'linux', arch: 'amd64' } },
      uri: `https://site.example/v1.2.3/${command}`,
      sha256: sha256Of(command),
    },
    { selector: { matchLabels: { os: 'darwin' } }, sha256: sha256Of(portable) },
  ]);
});

it('a release is byte-identical when built at a different time', async () => {
  const options = await optionsAt('second');
  await put('second/root/docs/guide.md', 'docs/guide.md', 0o600);
  await utimes(join(folder, 'second/root/docs/guide.md'), 0, 0);
  const archive = await writeReleaseArchive(join(folder, 'second/out'), options);
  const first = join(dirname(site), 'multinic-release-1.2.3.tar.gz');
  expect((await readFile(first)).equals(await readFile(archive))).toBe(true);
});

it('a release contains only files that git tracks in the checkout', async () => {
  const own = ['charts/some/values-of-a-site.yaml', 'docs/notes.md', 'scripts/token'];
  const archive = await pack('checkout', async (root) => {
    await run(['git', '-C', root, 'init', '--quiet']);
    await run(['git', '-C', root, 'add', '.']);
    for (const path of own) await put(`checkout/root/${path}`, 'a secret');
  });
  expect(await readFile(join(await unpacked(archive), 'SHA256SUMS'), 'utf8')).toBe(
    await readFile(join(site, 'SHA256SUMS'), 'utf8'),
  );
});

it('a release replaces an earlier release, and refuses a folder with other files', async () => {
  const options = await optionsAt('again');
  await put('first/out/multinic-release-1.2.3/of-an-earlier-one', '');
  await writeRelease(site, options);
  expect(await readdir(site)).not.toContain('of-an-earlier-one');
  await expect(writeRelease(options.root, options)).rejects.toThrow(
    `--out "${options.root}" holds files that are no release; give a folder that is empty`,
  );
});

/** Sets the machine name that uname prints. */
async function machine(name: string): Promise<void> {
  await put('bin/uname', `#!/bin/sh\necho ${name}\n`, 0o755);
}

async function load(...options: readonly string[]): Promise<string> {
  const env = { PATH: join(folder, 'bin') };
  return run([join(site, 'load-images.sh'), ...options], { env });
}

/** Resolves to the error output. */
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
  ])('load-images.sh loads with %s', async (tool, first) => {
    await has(tool);
    await load();
    expect(await called()).toEqual([first, first.replace('/a-', '/b-')]);
  });

  it("load-images.sh loads the images for the machine's architecture with the first available tool", async () => {
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

  it('load-images.sh pins images under their names', async () => {
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

  it('load-images.sh prints the usage from any working directory', async () => {
    const from = { cwd: dirname(site) };
    const usage = await run(['sh', '-c', './multinic-release-1.2.3/load-images.sh --help'], from);
    expect(usage).toContain('--dry-run     print the commands without running them');
    expect(usage).toMatch(/CONTAINERD_ADDRESS selects a containerd socket\.\n$/);
  });

  it('load-images.sh finds the images when started by a symbolic link', async () => {
    await has('ctr');
    const link = join(folder, 'bin/load-multinic');
    await symlink(join(site, 'load-images.sh'), link);
    const env = { PATH: join(folder, 'bin') };
    expect(await run([link, '--dry-run'], { env })).toContain('import images/a-1-linux-amd64.tar');
    expect(await run([link, '--help'], { env })).toContain('print the commands');
  });

  it('load-images.sh --dry-run prints the commands', async () => {
    await has('ctr');
    const told = await load('--dry-run');
    expect(told).toMatch(/^ctr --namespace k8s\.io images import images\/a-1-linux-amd64\.tar$/m);
    expect(await called()).toEqual([]);
  });

  it('load-images.sh ignores images from an earlier release in its folder', async () => {
    await has('ctr');
    await writeFile(join(site, 'images/a-0-linux-amd64.tar'), 'earlier');
    await load();
    expect((await called()).join(' ')).not.toContain('a-0');
  });

  it('load-images.sh loads no damaged image', async () => {
    await has('ctr');
    await writeFile(join(site, 'images/a-1-linux-amd64.tar'), 'other');
    expect(await said()).toContain('images/a-1-linux-amd64.tar is damaged');
    await writeFile(join(site, 'SHA256SUMS'), '');
    expect(await said()).toContain('this release has no images for amd64');
    await rm(join(site, 'SHA256SUMS'));
    expect(await said()).toContain('SHA256SUMS is missing');
    expect(await called()).toEqual([]);
  });

  it('load-images.sh names a missing tool or image, and the remedy', async () => {
    expect(await said()).toContain('none of ctr, nerdctl, podman and docker is installed');
    await has('ctr', 1);
    expect(await said()).toContain('ctr could not load images/a-1-linux-amd64.tar');
    expect(await said('--tool', 'crictl')).toContain('crictl is not installed');
    expect(await said('--faster')).toContain('unknown option --faster');
    await machine('riscv64');
    expect(await said()).toContain('MultiNIC has no images for riscv64');
    await machine('arm64');
    await rm(join(site, 'images/a-1-linux-arm64.tar'));
    expect(await said()).toContain('images/a-1-linux-arm64.tar is missing');
  });

  it("load-images.sh requires root, the owner of the kubelet's images", async () => {
    await has('ctr');
    await rm(join(folder, 'bin/id'));
    await put('bin/id', '#!/bin/sh\necho 1000\n', 0o755);
    expect(await said()).toContain('run it with sudo');
    expect(await said('--dry-run')).toBe('nothing');
  });
});
