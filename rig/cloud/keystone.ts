import * as z from 'zod';
import { bodyAs } from './body.ts';
import { domainId, type Identity, type Session } from './identity.ts';
import { newId } from './ids.ts';
import { Refusal } from './refusal.ts';
import type { Reply, Route, ServedRequest } from './route.ts';

/** Where the catalog says that the services are. */
export interface Endpoints {
  readonly identity: string;
  readonly network: string;
  readonly compute: string;
  readonly image: string;
}
const types = ['identity', 'network', 'compute', 'image'] as const;

const name = z.object({ name: z.string() });
const numbered = z.object({ id: z.string() });
const ref = z.union([numbered, name.extend({ domain: z.union([numbered, name]) })]);
const loginSchema = z.object({
  auth: z.object({
    identity: z.object({
      methods: z.tuple([z.literal('password')]),
      password: z.object({ user: z.object({ password: z.string() }).and(ref) }),
    }),
    scope: z.union([z.literal('unscoped'), z.object({ project: ref })]),
  }),
});
const credentialLoginSchema = z.object({
  auth: z.object({
    identity: z.object({
      methods: z.tuple([z.literal('application_credential')]),
      application_credential: z
        .object({ secret: z.string() })
        .and(z.union([numbered, name.extend({ user: ref })])),
    }),
  }),
});

const region = 'RegionOne';

/** Keystone v3: versions, tokens, and the accounts that a test makes for itself. */
export function keystoneRoutes(
  identity: Identity,
  endpoints: (origin: string) => Endpoints,
): Route[] {
  const service = 'keystone';

  function administrator({ headers }: ServedRequest): void {
    if (identity.sessionOf(headers['x-auth-token']).isAdmin) return;
    throw new Refusal(403, '', 'You are not authorized to perform the requested action.');
  }

  return [
    {
      service,
      method: 'GET',
      path: '/',
      handle: ({ origin }) => versions(endpoints(origin).identity),
    },
    {
      service,
      method: 'POST',
      path: '/v3/auth/tokens',
      handle: ({ body, origin }) => {
        const session = logIn(identity, body);
        if (session === undefined) {
          return { status: 201, headers: { 'x-subject-token': newId() }, body: { token: {} } };
        }
        return {
          status: 201,
          headers: { 'x-subject-token': session.token, vary: 'X-Auth-Token' },
          body: tokenBody(identity, session, endpoints(origin)),
        };
      },
    },
    {
      service,
      method: 'DELETE',
      path: '/v3/auth/tokens',
      handle: ({ headers }) => {
        identity.sessionOf(headers['x-auth-token']);
        identity.revoke(headers['x-subject-token'] ?? '');
        return { status: 204 };
      },
    },
    {
      service,
      method: 'GET',
      path: '/v3/roles',
      query: ['name'],
      handle: (request) => {
        administrator(request);
        const wanted = request.query.get('name');
        return {
          status: 200,
          body: { roles: identity.roles.filter((role) => role.name === wanted) },
        };
      },
    },
    {
      service,
      method: 'POST',
      path: '/v3/projects',
      handle: (request) => {
        administrator(request);
        const { project } = bodyAs(z.object({ project: name }), request.body, '');
        return { status: 201, body: { project: identity.createProject(project.name) } };
      },
    },
    {
      service,
      method: 'DELETE',
      path: '/v3/projects/{id}',
      handle: (request) => {
        administrator(request);
        identity.deleteProject(request.params['id'] ?? '');
        return { status: 204 };
      },
    },
    {
      service,
      method: 'POST',
      path: '/v3/users',
      handle: (request) => {
        administrator(request);
        const schema = z.object({ user: name.extend({ password: z.string() }) });
        const { user } = bodyAs(schema, request.body, '');
        const { id } = identity.createUser(user.name, user.password);
        return { status: 201, body: { user: { id, name: user.name } } };
      },
    },
    {
      service,
      method: 'POST',
      path: '/v3/users/{id}/application_credentials',
      handle: ({ body, headers }) => {
        const schema = z.object({ application_credential: name });
        const wanted = bodyAs(schema, body, '').application_credential;
        const session = identity.sessionOf(headers['x-auth-token']);
        const { secret, projectId, ...made } = identity.createCredential(session, wanted.name);
        const credential = { id: made.id, name: made.name, secret, project_id: projectId };
        return { status: 201, body: { application_credential: credential } };
      },
    },
    {
      service,
      method: 'DELETE',
      path: '/v3/users/{id}/application_credentials/{credential}',
      handle: ({ headers, params }) => {
        identity.sessionOf(headers['x-auth-token']);
        identity.deleteCredential(params['credential'] ?? '');
        return { status: 204 };
      },
    },
    {
      service,
      method: 'DELETE',
      path: '/v3/users/{id}',
      handle: (request) => {
        administrator(request);
        identity.deleteUser(request.params['id'] ?? '');
        return { status: 204 };
      },
    },
    {
      service,
      method: 'PUT',
      path: '/v3/projects/{project}/users/{user}/roles/{role}',
      handle: (request) => {
        administrator(request);
        const { project = '', user = '', role = '' } = request.params;
        identity.grant(project, user, role);
        return { status: 204 };
      },
    },
    {
      service,
      method: 'DELETE',
      path: '/v3/projects/{project}/users/{user}/roles/{role}',
      handle: (request) => {
        administrator(request);
        const { project = '', user = '', role = '' } = request.params;
        identity.ungrant(project, user, role);
        return { status: 204 };
      },
    },
  ];
}

/** Logs in by password or application credential; undefined for a login without a project. */
function logIn(identity: Identity, body: unknown): Session | undefined {
  const byCredential = credentialLoginSchema.safeParse(body);
  if (byCredential.success) {
    const { secret, ...credential } = byCredential.data.auth.identity.application_credential;
    return identity.logInWith({ credential, secret });
  }
  const { auth } = bodyAs(loginSchema, body, '');
  const { password, ...user } = auth.identity.password.user;
  if (auth.scope !== 'unscoped') {
    return identity.logIn({ user, password, project: auth.scope.project });
  }
  identity.checkPassword({ user, password });
  return undefined;
}

function tokenBody(identity: Identity, session: Session, endpoints: Endpoints): unknown {
  const domain = { id: domainId, name: identity.domainName };
  const { user, project } = session;
  return {
    token: {
      methods: ['password'],
      user: { domain, id: user.id, name: user.name, password_expires_at: null },
      expires_at: session.expiresAt.toISOString(),
      issued_at: session.issuedAt.toISOString(),
      project: { domain, id: project.id, name: project.name },
      is_domain: false,
      catalog: types.map((type) => ({
        type,
        name: type,
        id: newId(),
        endpoints: ['internal', 'public', 'admin'].map((kind) => ({
          id: newId(),
          interface: kind,
          region_id: region,
          region,
          url: endpoints[type],
        })),
      })),
    },
  };
}

function versions(base: string): Reply {
  const links = [{ rel: 'self', href: `${base}/` }];
  const values = [{ id: 'v3.14', status: 'stable', updated: '2020-04-07T00:00:00Z', links }];
  return { status: 300, headers: { location: `${base}/` }, body: { versions: { values } } };
}
