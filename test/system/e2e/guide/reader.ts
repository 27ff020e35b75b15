import { execFile } from 'node:child_process';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { toolPath } from '../../../../rig/control-plane/control-plane.ts';
import type { Clusters } from '../../../fixtures/e2e/installation.ts';
import { commandsOf, examplesOf } from '../../../repo/guides.ts';
import { root } from '../../../repo/tree.ts';
import { run, type Shell } from './shell.ts';

const execute = promisify(execFile);

/** Tools from the guides, and a Debian without further packages. */
const packages =
  'apt bash coreutils curl dash dpkg findutils git gpgv grep gzip hostname make sed tar util-linux'.split(
    ' ',
  );
const programs = ['awk', 'node', 'npm'];
/** How this machine reaches registries and mirrors; a reader's machine has the like. */
const wayOut = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|DEBIAN_MIRROR|npm_config_registry|\w+_proxy)$/i;

/** A reader's decisions in the examples of a page. */
export interface Decisions {
  /** Variables with values unlike the example. */
  readonly exported?: Readonly<Record<string, string>>;
  /** Text in the example, and the replacement. */
  readonly words?: readonly (readonly [word: string, own: string])[];
  /** Input for interactive prompts of the example. */
  readonly typed?: string;
  /** Variables that the page requires without an example. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Working directory that the page states; default: the home folder, or the example's cd. */
  readonly folder?: string;
}

/** A reader with a fresh checkout, an empty home with two kubeconfigs, and the guides' tools; later with an unpacked release. */
export class Reader {
  #bare: Shell;
  #shell: Shell;

  constructor(bare: Shell) {
    this.#bare = bare;
    this.#shell = bare;
  }

  get checkout(): string {
    return this.#bare.cwd;
  }

  get home(): string {
    return this.#bare.env['HOME'] ?? '';
  }

  /** Adds a folder with programs, such as the release's: no other folder has `multinic`. */
  addPath(folder: string): void {
    const { env } = this.#bare;
    this.#bare = { ...this.#bare, env: { ...env, PATH: [env['PATH'], folder].join(delimiter) } };
  }

  /** Shell without exports from pages. */
  shell(env: Readonly<Record<string, string>>): Shell {
    return { ...this.#bare, env: { ...this.#bare.env, ...env } };
  }

  /**
   * Runs the examples above the first section of a page with this reader's decisions. Exports and working directory stay
   * until the next page is opened.
   */
  async open(path: string, decisions: Decisions = {}): Promise<void> {
    const { environment = {}, folder = this.home } = decisions;
    this.#shell = { ...this.shell(environment), cwd: folder };
    await this.decide(path, '', decisions);
  }

  /** Runs the examples of a section with this reader's decisions, in addition to those of the open page. */
  async decide(path: string, section: string, decisions: Decisions): Promise<void> {
    const examples = examplesOf(path).filter((block) => block.section === section);
    const script = decided(examples.map(({ text }) => text).join(''), decisions);
    const printing = `${script}\nprintf '\\0'; env -0`;
    const { stdout } = await run(this.#shell, printing, `${decisions.typed ?? ''}\n`);
    const env = exportedIn(stdout);
    this.#shell = { ...this.#bare, env, cwd: env['PWD'] ?? this.#shell.cwd };
  }

  /** Runs the commands below a heading verbatim, without lines that match `elsewhere`; resolves to the output. */
  async follow(path: string, section: string, elsewhere?: RegExp): Promise<string> {
    const blocks = commandsOf(path, section);
    if (blocks.length === 0) throw new Error(`${path} has nothing to run under "${section}"`);
    const lines = blocks.flatMap(({ text }) => text.split('\n'));
    const here = lines.filter((line) => !elsewhere?.test(line));
    const { output } = await run(this.#shell, here.join('\n'));
    return output;
  }
}

/** Parses the output of `env -0`; shell functions are left out. */
function exportedIn(printed: string): Record<string, string> {
  const pairs = [...printed.matchAll(/(?:^|\0)(\w+)=([^\0]*)/g)];
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]));
}

function decided(example: string, { exported = {}, words = [] }: Decisions): string {
  const own = Object.entries(exported).map(
    ([name, value]) =>
      [new RegExp(`^export ${name}=.*$`, 'm'), `export ${name}='${value}'`] as const,
  );
  return [...own, ...words].reduce((text, [from, to]) => {
    const changed = text.replaceAll(
      typeof from === 'string' ? from : new RegExp(from, 'gm'),
      () => to,
    );
    if (changed === text && from !== to) throw new Error(`the example has no ${String(from)}`);
    return changed;
  }, example);
}

/** A reader in a separate folder. */
export async function openReader(
  directory: string,
  { management, business }: Clusters,
): Promise<Reader> {
  const [checkout, home, bin] = ['checkout', 'home', 'bin'].map((name) => join(directory, name));
  if (!checkout || !home || !bin) throw new Error('no folders');
  await mkdir(join(home, '.kube'), { recursive: true });
  await copyFile(management.kubeconfig, join(home, '.kube/management.yaml'));
  await copyFile(business.kubeconfig, join(home, '.kube/business.yaml'));
  await execute('git', ['clone', '--quiet', root, checkout]);
  await mkdir(bin);
  const tools = [...(await programsOf(packages)), ...(await Promise.all(programs.map(found)))];
  tools.push(await toolPath('kubectl'), await toolPath('helm'));
  for (const tool of tools) await symlink(tool, join(bin, basename(tool)));
  const env = Object.entries(process.env).filter(([name]) => wayOut.test(name));
  return new Reader({
    cwd: checkout,
    env: {
      ...(Object.fromEntries(env) as Record<string, string>),
      HOME: home,
      PATH: bin,
    },
  });
}

/** Paths of all programs in these installed Debian packages. */
async function programsOf(names: readonly string[]): Promise<string[]> {
  const { stdout } = await execute('dpkg', ['-L', ...names]);
  return [...new Set(stdout.split('\n').filter((path) => /^(\/usr)?\/s?bin\/[^/]+$/.test(path)))];
}

/** A program on this machine, outside every checkout. */
async function found(name: string): Promise<string> {
  const path = (process.env['PATH'] ?? '').split(delimiter);
  const machine = path.filter((folder) => !folder.includes('node_modules')).join(delimiter);
  const { stdout } = await execute('/bin/sh', ['-c', `command -v ${name}`], {
    env: { PATH: machine },
  });
  return stdout.trim();
}
