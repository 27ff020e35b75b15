import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolPath } from '../../rig/control-plane/control-plane.ts';
import { bundleFolder } from '../../rig/parts/program.ts';
import { Shell } from './completion/shell.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const unpacked = join(root, 'rig/unpacked/unpacked');
let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-completion-'));
  await layOutRelease();
  const debian = (await run(unpacked, ['folder'])).stdout.trim();
  env = { HOME: folder, ZDOTDIR: folder, KUBECONFIG: '/dev/null', DEBIAN: debian, PATH: path() };
  await writeFile(join(folder, 'bashrc'), bashrc);
  await writeFile(join(folder, '.zshrc'), zshrc);
});

afterAll(() => rm(folder, { recursive: true }));

const path = () => `${folder}/bin:/usr/bin:/bin`;

/** Lays out the programs as in an unpacked release, with the Node.js of the tests, and kubectl beside them. */
async function layOutRelease(): Promise<void> {
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  await mkdir(join(folder, 'lib'));
  await cp(bundleFolder, join(folder, 'lib/multinic'), { recursive: true });
  await symlink(process.execPath, join(folder, 'lib/multinic/node'));
  await symlink(await toolPath('kubectl'), join(folder, 'bin/kubectl'));
}

const bashrc = `PS1='READY> '
bind 'set show-all-if-ambiguous on'
bind 'set enable-bracketed-paste off'
bind -x '"\\C-g": printf "LINE<%s>" "$READLINE_LINE"'
source "$DEBIAN/usr/share/bash-completion/bash_completion"
source <(multinic completion bash)
source <(kubectl completion bash)
`;

const zshrc = `PS1='READY> '
module_path=($DEBIAN/usr/lib/*/zsh/*(/))
fpath=($FUNCTIONS $DEBIAN/usr/share/zsh/functions/{Completion,Completion/Base,Completion/Unix})
autoload -Uz compinit
compinit -u -D
show-line() { print -rn "LINE<$BUFFER>" }
zle -N show-line
bindkey '^G' show-line
[[ -n $FUNCTIONS ]] || source <(multinic completion zsh)
source <(kubectl completion zsh)
`;

const commands = {
  bash: () => `bash --noprofile --rcfile '${folder}/bashrc' -i`,
  zsh: () => `'${env['DEBIAN']}/usr/bin/zsh' -d -i`,
} as const;

describe.each(['bash', 'zsh'] as const)('%s', (name) => {
  let shell: Shell;

  beforeAll(async () => {
    shell = await Shell.start(commands[name](), env);
  });

  afterAll(() => shell?.[Symbol.asyncDispose]());

  it.each([
    ['multinic sup', 'multinic support-bundle '],
    ['multinic why --out', 'multinic why --output '],
    ['multinic migrate b', 'multinic migrate biz-config '],
    ['multinic no-such-wo', 'multinic no-such-wo'],
    ['kubectl multinic sup', 'kubectl multinic support-bundle '],
    ['kubectl multinic why --out', 'kubectl multinic why --output '],
    ['kubectl multinic migrate b', 'kubectl multinic migrate biz-config '],
  ])('TAB after "%s" makes "%s"', async (typed, line) => {
    expect(await shell.complete(typed)).toMatchObject({ line });
  });

  it.each(['multinic s', 'kubectl multinic s'])('TAB after "%s" lists the words', async (typed) => {
    const { line, shown } = await shell.complete(typed);
    expect(line).toBe(typed);
    expect(shown).toMatch(/status\s+support-bundle\s+sync/);
  });
});

it('the first TAB of zsh completes when the script is a file in fpath', async () => {
  const functions = join(folder, 'functions');
  await mkdir(functions);
  const { stdout } = await run(join(folder, 'bin/multinic'), ['completion', 'zsh'], { env });
  await writeFile(join(functions, '_multinic'), stdout);
  await using shell = await Shell.start(commands.zsh(), { ...env, FUNCTIONS: functions });
  expect(await shell.complete('multinic sup')).toMatchObject({ line: 'multinic support-bundle ' });
});
