import { domainScopedText } from '../../../openstack/cloud-identity.ts';
import type { SecretSource } from '../../model/resolve/credentials.ts';
import {
  type Account,
  type AccountDeps,
  type AccountRequest,
  nearest,
  refuseDenied,
} from './account.ts';
import { readCloudsYaml, type YamlCloud } from './clouds-yaml.ts';
import { CloudsYamlError } from './clouds-yaml-error.ts';
import { configError, readSecret, type SecretValues } from './secrets.ts';

const key = 'clouds.yaml';

/** Reads the account in the `clouds.yaml` of a Secret in the OpenstackConfig's namespace. Throws StepFailure. */
export async function accountOfSecret(
  source: SecretSource,
  { namespace, openstack }: AccountRequest,
  { client, settings }: AccountDeps,
  signal: AbortSignal,
): Promise<Account> {
  const where = `spec.credentials.secretRef: Secret ${namespace}/${source.name}`;
  const values = await readSecret(client, { namespace, name: source.name }, signal);
  if (values === undefined) throw configError(`${where} does not exist`);
  const text = values.get(key);
  if (text === undefined) throw configError(`${where} has no key "${key}"`);
  const cloud = cloudIn(text, source, where);
  const allowed = settings.allowedEndpoints;
  refuseDenied(`${where} has the Keystone URL`, cloud.keystoneUrl, allowed);
  refuseDenied(`${where} has the Neutron URL`, cloud.neutronUrl, allowed);
  refuseDenied(`${where} has the Nova URL`, cloud.novaUrl, allowed);
  return {
    keystoneUrl: cloud.keystoneUrl,
    auth: cloud.auth,
    neutronUrl: nearest(openstack.neutron, cloud.neutronUrl),
    novaUrl: nearest(openstack.nova, cloud.novaUrl),
    region: cloud.region,
    interface: cloud.interface,
    verify: cloud.verify === undefined ? undefined : verifyIn(cloud.verify, where),
    ca: authoritiesIn(values, cloud, where),
    allowed,
  };
}

function verifyIn(is: boolean, where: string) {
  return { is, by: `${where} sets verify: ${is}` };
}

function cloudIn(text: string, { projectId }: SecretSource, where: string): YamlCloud {
  try {
    return checkedProject(readCloudsYaml(text, projectId), projectId);
  } catch (error) {
    if (!(error instanceof CloudsYamlError)) throw error;
    throw configError(`${where}, ${key}: ${error.message}`);
  }
}

/** Refuses two different projects, and a project beside an application credential, which has its own. */
function checkedProject(cloud: YamlCloud, projectId: string | undefined): YamlCloud {
  if (projectId === undefined) return cloud;
  const { auth } = cloud;
  const own = auth.kind === 'password' ? auth.project : undefined;
  if (own && 'id' in own && own.id.toLowerCase() === projectId.toLowerCase()) return cloud;
  const has = own
    ? `sets project ${domainScopedText(own)} itself`
    : 'has an application credential, which has a project';
  throw new CloudsYamlError(`${has}; remove spec.credentials.projectID "${projectId}"`);
}

function authoritiesIn(
  values: SecretValues,
  { cacert }: YamlCloud,
  where: string,
): string | undefined {
  if (cacert === undefined) return undefined;
  const pem = values.get(cacert);
  if (pem === undefined) {
    throw configError(`${where}, ${key}: cacert "${cacert}" is not a key of the Secret`);
  }
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw configError(`${where}: key "${cacert}" has no PEM certificate`);
}
