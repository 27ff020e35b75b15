import { parse } from 'yaml';
import type { MultiNicBizConfig } from '../../src/api/multinicbizconfig.ts';
import { textOf } from '../repo/tree.ts';

/** The MultiNicBizConfig that document 003 shows, with its status, as YAML. */
export function bizConfigOf003(): string {
  const blocks = textOf('test/requirements/texts/003.txt').matchAll(/```yaml\n([\s\S]*?)```/g);
  const samples = [...blocks].map(([, text = '']) => text);
  const sample = samples.find((text) => /^kind: MultiNicBizConfig$/m.test(text));
  if (sample === undefined) throw new Error('document 003 shows no MultiNicBizConfig');
  return sample;
}

/** Files whose paths document 003 names. */
export const sampleFiles = [
  'test/sample-multinicclusterconfig.yaml',
  'test/sample-multinicclusterconfig-dev.yaml',
] as const;

export function sampleIn(path: string): MultiNicBizConfig {
  return parse(textOf(path)) as MultiNicBizConfig;
}
