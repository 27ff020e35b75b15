import { join } from 'node:path';
import { stringify } from 'yaml';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';
import { runScript } from '../../../rig/hosts/box/script.ts';

const root = join(import.meta.dirname, '../../..');

/** A chart with what is said to it; release and namespace are those of the guides. */
export interface Installation {
  readonly chart: 'multinic-operator' | 'multinic-agent';
  /** `values-….yaml` of the chart. */
  readonly size?: 'dev' | 'staging' | 'production';
  readonly values?: object;
}

/** Of the releases. */
export const namespaces = {
  'multinic-operator': 'multinic-operator-system',
  'multinic-agent': 'multinic-system',
} as const;

/** What Helm makes of a chart, without a cluster. */
export function render(installation: Installation, ...flags: readonly string[]): Promise<string> {
  return helm('template', installation, flags);
}

/** What a person reads after the installation. */
export async function notes(installation: Installation): Promise<string> {
  const said = await helm('install', installation, ['--dry-run=client']);
  return said.slice(said.indexOf('NOTES:'));
}

async function helm(
  verb: 'template' | 'install',
  { chart, size, values = {} }: Installation,
  flags: readonly string[],
): Promise<string> {
  const folder = join(root, 'charts', chart);
  const sized = size === undefined ? [] : ['--values', join(folder, `values-${size}.yaml`)];
  const place = [chart, folder, '--namespace', namespaces[chart]];
  return runScript(await toolPath('helm'), [verb, ...place, ...sized, '--values', '-', ...flags], {
    stdin: stringify(values),
  });
}
