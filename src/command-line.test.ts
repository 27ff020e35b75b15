import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

/** Path to the users' command: `bin/multinic` in this checkout. */
const multinic = join(import.meta.dirname, '../bin/multinic');

const folder = mkdtempSync(join(tmpdir(), 'command-line-'));
const tokens = join(folder, 'tokens.yaml');
writeFileSync(tokens, '[]');
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the command outside a Pod and without a kubeconfig in the environment. */
async function run(words: readonly string[], further: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env['PATH'], HOME: '/nowhere', ...further };
  const child = spawn(multinic, words, { env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (err += piece.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, out, err };
}

type Row = readonly [words: readonly string[], message: string];

const parts = ['operator', 'viola', 'controller', 'lifecycle'];
/** Further required settings. */
const needed: Readonly<Record<string, readonly string[]>> = {
  viola: ['--tokens-file', tokens, '--listen', '127.0.0.1:0'],
  controller: ['--agent-image', 'localhost/multinic-agent:0.1.0'],
};

/** Rows for a part outside a Pod, without a kubeconfig and with a missing kubeconfig. */
function withoutAccess(part: string): Row[] {
  const words = [part, ...(needed[part] ?? [])];
  const begin = `multinic ${part} cannot run: `;
  return [
    [
      words,
      `${begin}no API server configured: this process has no kubeconfig and runs outside a Pod (KUBERNETES_SERVICE_HOST is not set)\nNext: `,
    ],
    [
      [...words, '--kubeconfig', '/nowhere/k'],
      `${begin}the kubeconfig /nowhere/k does not exist\nNext: `,
    ],
  ];
}

it.each([
  [['--help'], /^usage: multinic PART\|COMMAND[\s\S]*register-cluster/],
  [['help'], /^usage: multinic PART\|COMMAND/],
  [['--version'], /^multinic \d+\.\d+\.\d+\S*\ncommit /],
  [['agent', '--help'], /^usage: multinic agent --request FILE/],
  [['operator', '--help'], /^Usage: multinic operator/],
  [['register-cluster', '--help'], /^Usage: multinic register-cluster/],
  [['migrate', 'biz-config', 'plan', '--help'], /^Usage: multinic migrate biz-config plan/],
])('multinic %j prints its help to standard output and ends with status 0', async (words, help) => {
  expect(await run(words)).toEqual({
    status: 0,
    out: expect.stringMatching(help) as string,
    err: '',
  });
});

it.each<Row>([
  [
    ['regster-cluster'],
    'multinic: unknown command `regster-cluster`; did you mean `register-cluster`?',
  ],
  [['oprator'], 'multinic: unknown command `oprator`; did you mean `operator`?'],
  [['--hlep'], 'multinic: unknown option `--hlep`; did you mean `--help`?'],
  [['xyzzy'], 'multinic: unknown command `xyzzy`\n'],
  [['agent', '--reqest', 'x'], 'unknown option `--reqest`; did you mean `--request`?'],
  [
    ['viola', '--token-file', 'x'],
    'multinic viola: unknown option `--token-file`; did you mean `--tokens-file`?',
  ],
  [
    ['migrate', 'biz-confg'],
    'multinic migrate: unknown command `biz-confg`; did you mean `biz-config`?',
  ],
  [
    ['migrate', 'biz-config', 'plan', 'x', '--contxt', 'y'],
    'multinic migrate biz-config plan: unknown option `--contxt`; did you mean `--context`?',
  ],
  [
    ['register-cluster', 'a', '--business-kubeconfig', '/nowhere/k'],
    'the kubeconfig /nowhere/k does not exist\nNext: ',
  ],
  [
    ['viola', '--tokens-file', '/nowhere/tokens'],
    'multinic viola cannot run: token file /nowhere/tokens does not exist',
  ],
  [
    ['viola', '--tokens-file', tokens, '--listen', ':0'],
    'multinic viola cannot run: --listen :0 is not loopback: give --tls-cert and --tls-key, or ',
  ],
  ...parts.flatMap(withoutAccess),
])('multinic %j names what is wrong and ends with status 2', async (words, message) => {
  const { status, out, err } = await run(words);
  expect(err).toContain(message);
  expect(out + err).not.toMatch(/^ {4}at /m);
  expect(out + err).not.toContain('"stack"');
  expect(status).toBe(2);
});

const proxy = 'http://127.0.0.1:9';

it.each([
  { NODE_OPTIONS: '--require /nowhere/module.js' },
  { NODE_OPTIONS: '--inspect=127.0.0.1:0' },
  { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, HTTPS_PROXY: 'no url' },
  { NODE_EXTRA_CA_CERTS: '/nowhere/ca.crt' },
  { LANG: 'C', LC_ALL: 'C' },
])('multinic version ends with status 0 and no error when the shell sets %j', async (further) => {
  const { status, err } = await run(['version'], further);
  expect({ status, err }).toEqual({ status: 0, err: '' });
});

it('multinic nodes connects to a loopback address without the proxy of the environment', async () => {
  const further = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, http_proxy: proxy };
  const { status, err } = await run(['nodes', '--inventory', 'http://127.0.0.1:1'], further);
  expect(err).toContain('127.0.0.1:1');
  expect(err).not.toContain('127.0.0.1:9');
  expect(status).toBe(1);
});

it('multinic prints Korean in UTF-8 when the locale is C', async () => {
  const words = ['status', '--lang', 'ko', '--inventory', 'http://127.0.0.1:1'];
  const { out } = await run(words, { LANG: 'C', LC_ALL: 'C' });
  expect(out).toMatch(/[가-힣]/);
});
