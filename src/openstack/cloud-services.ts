import type { Caller } from '../requests/caller.ts';
import type { Clock } from '../time/clock.ts';
import { createEndpoint, createRegion } from './catalog.ts';
import type { CatalogLimits, CloudIdentity } from './cloud-identity.ts';
import { neutronBase, novaBase } from './endpoint.ts';
import type { Keystone } from './keystone-session.ts';
import { createNeutron, type Neutron } from './neutron.ts';
import { createNova, type Nova, novaHeaders } from './nova.ts';
import { createServiceClient } from './requests/service-client.ts';

interface ServicesOptions {
  readonly keystone: Keystone;
  readonly caller: Caller;
  readonly clock: Clock;
  /** Returns why the policy denies a URL from the catalog; undefined: allowed. */
  readonly denied: (url: string, limits: CatalogLimits) => string | undefined;
  /** Called when a service moved to another endpoint; data cached from the old endpoint is invalid there. */
  readonly onMoved: () => void;
}

/** Creates the reads of Neutron and Nova, at the identity's URLs or at the endpoints of the token's catalog. */
export function createServices(
  identity: CloudIdentity,
  options: ServicesOptions,
): { readonly neutron: Neutron; readonly nova: Nova } {
  const { keystone, caller, clock } = options;
  const fromCatalog = [
    ...(identity.neutronUrl === undefined ? (['network'] as const) : []),
    ...(identity.novaUrl === undefined ? (['compute'] as const) : []),
  ];
  const regionOf = createRegion(fromCatalog, identity.interface);
  const endpointOf = (service: 'neutron' | 'nova') => {
    const type = service === 'neutron' ? 'network' : 'compute';
    const { interface: interfaceName, region } = identity;
    const denied = (url: string) => options.denied(url, identity);
    return createEndpoint(
      { service, type, interface: interfaceName, region },
      { denied, onMoved: options.onMoved, regionOf },
    );
  };
  const network = endpointOf('neutron');
  const compute = endpointOf('nova');
  const neutron = createNeutron(
    createServiceClient({
      service: 'neutron',
      keystone,
      caller,
      clock,
      base: (catalog) => neutronBase(identity.neutronUrl ?? network(catalog)),
    }),
  );
  const nova = createNova(
    createServiceClient({
      service: 'nova',
      keystone,
      caller,
      clock,
      base: (catalog) => novaBase(identity.novaUrl ?? compute(catalog)),
      headers: novaHeaders,
    }),
    { timeoutMs: identity.timeoutMs },
  );
  return { neutron, nova };
}
