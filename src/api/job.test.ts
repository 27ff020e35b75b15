import { expect, test } from 'vitest';
import { hostMounts } from './job.ts';

test('the agent starts on a host of any family, to say which one that is', () => {
  const required = hostMounts.filter(({ type }) => type !== 'DirectoryOrCreate');
  expect(required.map(({ path }) => path)).toEqual(['/proc/sys/net', '/usr/lib']);
});

test('the agent can write to nothing of the host but what it changes', () => {
  const writable = hostMounts.filter(({ readOnly }) => !readOnly);
  expect(writable.map(({ path }) => path)).toEqual([
    '/etc/netplan',
    '/var/lib/multinic',
    '/proc/sys/net',
  ]);
});
