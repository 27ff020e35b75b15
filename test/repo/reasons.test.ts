import { expect, it } from 'vitest';
import { openstackConfigReasons } from '../../src/api/reasons/openstackconfig.ts';
import { filesBelow, textOf } from './tree.ts';

const isTest = (path: string) => path.endsWith('.test.ts') || path.startsWith('test/');
const files = [...filesBelow('src'), ...filesBelow('test')].filter((path) => path.endsWith('.ts'));
const tests = files.filter(isTest).map(textOf).join('\n');
const sources = files
  .filter((path) => !isTest(path) && !path.startsWith('src/api/'))
  .map(textOf)
  .join('\n');

const raised = Object.keys(openstackConfigReasons).filter((name) => sources.includes(`'${name}'`));

it.each(raised)('a test names the reason %s of an OpenstackConfig', (name) => {
  expect(new RegExp(`\\b${name}\\b`).test(tests)).toBe(true);
});
