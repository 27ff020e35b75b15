import { expect, it } from 'vitest';
import { secretKeys } from '../../src/process/log.ts';
import { filesBelow, textOf } from './tree.ts';

const folders = ['.ci', 'build', 'charts', 'deploy', 'docs', 'rig', 'scripts', 'src', 'test'];
/** Certificates of tests, for names that lead nowhere. */
const madeForTests = /^(src\/kube\/testing|src\/requests|test\/fixtures)\/[\w-]*certificates?\.ts$/;

const secrets: Readonly<Record<string, RegExp>> = {
  'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----\s*[A-Za-z0-9+/]{40}/,
  'a token of a cloud': /\b(AKIA[0-9A-Z]{16}|AIza[\w-]{35})\b/,
  'a token of a forge': /\b(gh[pousr]_\w{36}|glpat-[\w-]{20})\b/,
  'a token of a cluster': /\beyJ[\w-]{20,}\.eyJ[\w-]{20,}\./,
  'a password on a command line': /\bsshpass\s+-p|--password[= ]['"]?[\w!@#%^&*-]{8,}/,
  'trust in any host': /StrictHostKeyChecking[= ]no/,
};

function found(text: string): string[] {
  return Object.entries(secrets).flatMap(([what, form]) => (form.test(text) ? [what] : []));
}

it('[RW-79] no file has a secret of anybody', () => {
  const paths = folders.flatMap(filesBelow).filter((path) => !madeForTests.test(path));
  expect(paths.length).toBeGreaterThan(1_000);
  expect(paths.flatMap((path) => found(textOf(path)).map((what) => `${path}: ${what}`))).toEqual(
    [],
  );
});

/** In two pieces, or this file would be found. */
const joined = (...pieces: readonly string[]) => pieces.join('');

it.each([
  ['a private key', joined('-----BEGIN RSA ', `PRIVATE KEY-----\n${'M'.repeat(64)}`)],
  ['a token of a cloud', `AKIA${'A1'.repeat(8)}`],
  ['a token of a forge', `ghp_${'a1'.repeat(18)}`],
  ['a token of a cluster', `eyJ${'a'.repeat(30)}.eyJ${'b'.repeat(30)}.c`],
  ['a password on a command line', joined('sshpass', ' -p x')],
  ['trust in any host', joined('ssh -o StrictHostKeyChecking', '=no host')],
])('%s is found', (what, text) => {
  expect(found(text)).toEqual([what]);
});

/** A log call with a field that the logger redacts: the reader sees "[redacted]" instead of a name. */
const redactedField = new RegExp(
  `\\blog\\.(?:trace|debug|info|warn|error|fatal)\\(\\s*(?=\\{)[^}]*?[{,]\\s*(?:${secretKeys.join('|')})\\b\\s*[:,}]`,
);

it('[C11] log calls name Secrets by fields that the logger does not redact', () => {
  const sources = filesBelow('src').filter((path) => /(?<!\.test)\.ts$/.test(path));
  expect(sources.filter((path) => redactedField.test(textOf(path)))).toEqual([]);
});

it.each([
  ["log.warn({ secret: keyOf(secret), flaw }, 'x')", true],
  ["this.#log.info(\n      { name, token },\n      'x',\n    )", true],
  ["log.error({ name: secret, err }, 'x')", false],
  ["log.warn({ secretName: keyOf(secret) }, 'the token ends soon')", false],
])('[C11] %j redacts a field: %s', (call, isRedacted) => {
  expect(redactedField.test(call)).toBe(isRedacted);
});
