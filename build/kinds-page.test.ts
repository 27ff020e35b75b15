import { expect, it } from 'vitest';
import { kindsPage } from './kinds-page.ts';

const rows = kindsPage().split('\n');

it.each([
  ['| `settings.pollFastInterval` | string (≤ 32) | `20s` |', 'a default in parentheses'],
  ['| `settings.openstackTimeout` | string (≤ 32) | `30s` |', 'a default with an upper bound'],
  ['| `settings.openstackEndpointInterface` | string (≤ 16) | `public` |', 'a default in a list'],
  ["| `controller.image` | string | `the chart's` |", 'a default in words'],
  ['| `settings.maxInterfaces` | integer (1 to 10) | `10` |', 'a range'],
  ['| `settings.addressFamilies` | list of `IPv4`, `IPv6` (≤ 2) | `IPv4` |', 'a list of an enum'],
  [
    '| `interfaces[].macAddress` | string (≤ 17), *required* |  |',
    'a required field of an element',
  ],
  ['| `vmSelector.metadata` | map of string |  |', 'a map'],
])('the reference has the row %s: %s', (start) => {
  expect(rows.some((row) => row.startsWith(start))).toBe(true);
});

it('the reference has a section per kind, with all API groups', () => {
  expect(rows.filter((row) => row.startsWith('## '))).toEqual([
    '## OpenstackConfig',
    '## MultiNicNodeConfig',
    '## MultiNicOperator',
    '## MultiNicBizConfig',
  ]);
  expect(rows).toContain('- API versions: `multinic.io/v1`, `multinic.okestro.io/v1`');
});
