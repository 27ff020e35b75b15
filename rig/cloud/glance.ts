import type { Identity } from './identity.ts';
import type { Route } from './route.ts';

/** Glance v2: the one image that servers boot from. */
export function glanceRoutes(identity: Identity, image: { id: string; name: string }): Route[] {
  return [
    {
      service: 'glance',
      method: 'GET',
      path: '/v2/images',
      handle: ({ headers }) => {
        identity.sessionOf(headers['x-auth-token']);
        return { status: 200, body: { images: [{ ...image, status: 'active' }] } };
      },
    },
  ];
}
