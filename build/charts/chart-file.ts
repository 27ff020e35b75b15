import { stringify } from 'yaml';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import type { Chart } from './charts.ts';

/** Chart.yaml; the chart's version is the version of the installed product. */
export function chartFile({ name, description, crds }: Chart, version: string): string {
  return stringify({
    apiVersion: 'v2',
    name,
    description,
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: '>=1.20.0-0',
    keywords: ['openstack', 'neutron', 'multi-nic', 'network', 'operator'],
    annotations: {
      'artifacthub.io/category': 'networking',
      'artifacthub.io/license': 'Apache-2.0',
      'artifacthub.io/operator': 'true',
      'artifacthub.io/operatorCapabilities': 'Seamless Upgrades',
      'artifacthub.io/prerelease': String(isPrerelease(version)),
      'artifacthub.io/crds': stringify(crds.map(({ file }) => shown(file))),
    },
  });
}

/** Whether a version comes before its release, or before 1.0.0. */
export function isPrerelease(version: string): boolean {
  return version.startsWith('0.') || version.includes('-');
}

function shown(file: string) {
  const { spec } = crdDefinitions()[file] as Crd;
  const version = spec.versions.find(({ storage }) => storage);
  return {
    kind: spec.names.kind,
    version: version?.name,
    name: `${spec.names.plural}.${spec.group}`,
    displayName: spec.names.kind,
    description: version?.schema.openAPIV3Schema.description ?? spec.names.kind,
  };
}

interface Crd {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly storage: boolean;
      readonly schema: { readonly openAPIV3Schema: { readonly description?: string } };
    }[];
  };
}
