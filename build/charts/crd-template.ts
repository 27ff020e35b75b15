import { stringify } from 'yaml';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import type { ChartCrd } from './charts.ts';

interface ObjectMeta {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * A CRD as a template: Helm upgrades templates but not files in `crds/`. The annotation prevents Helm from deleting the CRD with the
 * release.
 */
export function crdTemplate({ file, onlyIf }: ChartCrd): string {
  const definition = crdDefinitions()[file];
  if (!definition) throw new Error(`there is no CRD ${file}`);
  const metadata: ObjectMeta = definition.metadata;
  const annotations = { ...metadata.annotations, 'helm.sh/resource-policy': 'keep' };
  const marked = { ...definition, metadata: { ...metadata, annotations } };
  const yaml = stringify(marked, { aliasDuplicateObjects: false, lineWidth: 120 });
  if (yaml.includes('{{')) throw new Error(`Helm would read what is in ${file} as a template`);
  const condition =
    onlyIf === undefined ? '.Values.crds.install' : `and .Values.crds.install ${onlyIf}`;
  return `{{- if ${condition} }}\n${yaml}{{- end }}\n`;
}
