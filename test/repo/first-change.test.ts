import { expect, it } from 'vitest';
import { koreanOf } from './guides.ts';
import { textOf } from './tree.ts';

const page = 'docs/first-change.md';

it.each([
  ['src/plan/port-verdict.test.ts', "['PortStatus',", 'PortStatus'],
  ['src/api/reasons/port.ts', '  PortStatus: row(', 'row('],
  ['src/plan/port-verdict.ts', 'function wrongStatus(', 'wrongStatus'],
])('the first change edits %s, which has %j', (file, code, name) => {
  expect(textOf(file)).toContain(code);
  for (const text of [textOf(page), textOf(koreanOf(page))]) {
    expect(text).toContain(file);
    expect(text).toContain(name);
  }
});
