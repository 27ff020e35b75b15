import { textOf } from '../repo/tree.ts';

const fieldTests = 'test/system/openstack/fields';
const selection = `${fieldTests}/selection-tests.ts`;
const account = `${fieldTests}/account-tests.ts`;
const setting = `${fieldTests}/setting-tests.ts`;

/**
 * Each field below `spec` of an OpenstackConfig, and the file with the test that sees it work on real parts; the last word of
 * the field is in the title of that test.
 */
export const fields: Readonly<Record<string, string>> = {
  subnetIDs: selection,
  subnetID: selection,
  subnetName: selection,
  vmNames: selection,
  'vmSelector.metadata': selection,
  'vmSelector.tags': selection,
  'credentials.openstackProviderID': account,
  'credentials.k8sProviderID': account,
  'credentials.projectID': account,
  'credentials.authURL': account,
  'credentials.username': account,
  'credentials.password': account,
  'credentials.domainName': account,
  'credentials.networkEndpoint': account,
  'credentials.computeEndpoint': account,
  'credentials.secretRef': account,
  'settings.contrabassEndpoint': account,
  'settings.contrabassEncryptKey': account,
  'settings.contrabassTimeout': setting,
  'settings.contrabassInsecureTLS': account,
  'settings.violaEndpoint': account,
  'settings.openstackTimeout': setting,
  'settings.openstackInsecureTLS': account,
  'settings.openstackNeutronEndpoint': account,
  'settings.openstackNovaEndpoint': account,
  'settings.openstackEndpointInterface': setting,
  'settings.openstackEndpointRegion': setting,
  'settings.openstackNodeNameMetadataKey': setting,
  'settings.openstackPortAllowedStatuses': setting,
  'settings.downPortFastRetryMax': setting,
  'settings.pollFastInterval': setting,
  'settings.pollSlowInterval': setting,
  'settings.pollErrorInterval': setting,
  'settings.pollFastWindow': setting,
  'settings.portBaseline': setting,
  'settings.deletionPolicy': setting,
  'settings.maxInterfaces': setting,
  'settings.routing': setting,
  'settings.addressFamilies': setting,
  'settings.violaCompatibility': setting,
  'settings.mode': setting,
  'settings.existingConfiguration': 'test/chain/config.test.ts',
  'secrets.contrabassEncryptKeySecretRef': account,
};

/** The OpenstackConfig that document 002 shows, as YAML. */
export function sampleOf002(): string {
  const blocks = textOf('test/requirements/texts/002.txt').matchAll(/```yaml\n([\s\S]*?)```/g);
  const samples = [...blocks].map(([, text = '']) => text);
  const sample = samples.find((text) => /^kind: OpenstackConfig$/m.test(text));
  if (sample === undefined) throw new Error('document 002 shows no OpenstackConfig');
  return sample;
}
