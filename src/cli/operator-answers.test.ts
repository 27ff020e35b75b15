import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { cliMain } from './main-cli.ts';

/** Starts a server with a fixed answer; returns the URL. */
async function serve(status: number, text: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(text));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const page = '<!DOCTYPE html>\n<html>\u001b[31m Bad Gateway</html>';
const proxy = 'another server or a proxy answers at this address';

it.each([
  ['a page with status 200', 200, page, 'status 200 is no JSON', proxy],
  ['a page with status 404', 404, page, 'status 404 is no JSON', proxy],
  ['a page with status 403', 403, page, 'status 403 is no JSON', proxy],
  ['a page with status 502', 502, page, 'status 502 is no JSON', proxy],
  ['a cut-off list', 200, '{"items": [', 'status 200 is no JSON', proxy],
  ['an empty body', 503, '', 'status 503 is empty', proxy],
  [
    'JSON of another API',
    200,
    '{"kind":"Status"}',
    'not from the API of the operator',
    "operator's log",
  ],
  ['a 404 of an operator without the route', 404, '{"message":"x"}', 'older', 'upgrade'],
])('nodes ends with 1 and names cause and next step when the answer is %s', async (...row) => {
  const [, status, text, cause, next] = row;
  const url = await serve(status, text);
  const err: string[] = [];
  const error = vi.spyOn(console, 'error').mockImplementation((line) => void err.push(`${line}`));
  onTestFinished(() => error.mockRestore());
  expect(await cliMain('nodes', ['--inventory', url])).toBe(1);
  expect(err.join('\n')).toContain(cause);
  expect(err.join('\n')).toMatch(new RegExp(`\nNext: .*${next}`));
  expect(err.join('\n')).not.toContain('\u001b');
});

it.each([
  ['garbage', 'is not an http or https URL'],
  ['ftp://127.0.0.1', 'is not an http or https URL'],
  ['u:s3cret@127.0.0.1:1', 'is not an http or https URL'],
  ['https://u:s3cret@127.0.0.1:1', '--inventory https://127.0.0.1:1: '],
  ['http://127.0.0.1:1/?token=s3cret', 'operator (http://127.0.0.1:1)'],
])('nodes with --inventory %s names the problem, and no secret', async (url, text) => {
  const err: string[] = [];
  const error = vi.spyOn(console, 'error').mockImplementation((line) => void err.push(`${line}`));
  onTestFinished(() => error.mockRestore());
  expect(await cliMain('nodes', ['--inventory', url])).toBe(text.startsWith('operator') ? 1 : 2);
  expect(err.join('\n')).toContain(text);
  expect(err.join('\n')).toContain('\nNext: ');
  expect(err.join('\n')).not.toContain('s3cret');
});
