import type { CloudIdentity } from '../../openstack/cloud-identity.ts';
import type { Clouds } from '../../openstack/clouds.ts';
import type { Provider, ProviderRequest } from '../../openstack/contrabass.ts';
import { RequestError } from '../../requests/request-error.ts';
import type { FakeCloud } from './fake-cloud.ts';

/** One cloud for all identities, except accounts of other projects, and a Contrabass with the cloud's account. */
export class FakeClouds implements Pick<Clouds, 'get' | 'provider'> {
  readonly identities: CloudIdentity[] = [];
  /** Clouds for accounts of further projects, by project. */
  readonly projects = new Map<string, FakeCloud>();
  readonly requests: ProviderRequest[] = [];
  provided: Provider | RequestError = {
    keystoneUrl: 'https://keystone.test',
    username: 'admin',
    password: 'secret-word',
    domainName: 'Default',
  };
  readonly #cloud: FakeCloud;

  constructor(cloud: FakeCloud) {
    this.#cloud = cloud;
  }

  get(identity: CloudIdentity): FakeCloud {
    this.identities.push(identity);
    const { auth } = identity;
    const project = auth.kind === 'password' && 'id' in auth.project ? auth.project.id : '';
    return this.projects.get(project) ?? this.#cloud;
  }

  async provider(request: ProviderRequest): Promise<Provider> {
    this.requests.push(request);
    if (this.provided instanceof RequestError) throw this.provided;
    return this.provided;
  }
}
