import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { triggerConfigMap } from '../../src/api/trigger-config.ts';
import { triggerPath } from '../../src/api/trigger-http.ts';
import { verifySignature } from '../../src/operator/flow/triggers/server/signature.ts';
import { readPolicy } from '../../src/triggers/policy.ts';
import { goldenText } from './charts/golden.ts';
import { blocksOf } from './guides.ts';
import { textOf } from './tree.ts';

const shown = blocksOf(textOf('docs/guides/triggers.md'));

it('shows policies as they are read', () => {
  const samples = shown.filter(({ text }) => text.startsWith('# sample')).map(({ text }) => text);
  expect(samples.map((text) => readPolicy(text).mode)).toEqual([
    'scheduled',
    'scheduled',
    'manual',
  ]);
});

it('shows a call as it is signed', () => {
  const call = shown.find(({ text }) => text.includes('openssl'))?.text ?? '';
  // All but what sends it.
  const script = `${call.split('\ncurl')[0]}\nprintf '%s\\n' "$timestamp" "$path" "$body" "$signature"`;
  const env = { PATH: process.env['PATH'], KEY: '0123456789abcdef' };
  const said = execFileSync('bash', ['--norc', '-c', script], { env, encoding: 'utf8' });
  const [timestamp = '', path = '', body = '', hmac = ''] = said.split('\n');
  expect(path.startsWith(triggerPath)).toBe(true);
  verifySignature(
    { timestamp, hmac },
    ['0123456789abcdef'],
    { method: 'POST', path },
    Buffer.from(body),
  );
});

it('is what the chart writes', () => {
  const documents = parseAllDocuments(goldenText('operator-triggers'));
  const objects = documents.map((document) => document.toJS() as unknown);
  const maps = objects as { metadata?: { name: string }; data?: Record<string, string> }[];
  const written = maps.find((one) => one?.metadata?.name === triggerConfigMap.name);
  const text = written?.data?.[triggerConfigMap.key] ?? '';
  expect(parse(text)).toEqual({
    mode: 'scheduled',
    schedule: '0 3 * * *',
    timezone: 'Asia/Seoul',
    immediateOnCRChange: true,
  });
  expect(readPolicy(text)).toMatchObject({ mode: 'scheduled', onChange: true });
});
